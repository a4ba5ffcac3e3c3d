// All that changes from frame to frame as a single mesh, painted in the order in which it was added: thousands of shapes cost
// one call of the renderer. (WebGL's own lines are one pixel wide, so lines are bands.)
//
// Edges are smooth without the renderer's multisampling, which takes most of the time of a frame where WebGL is computed in
// software: along each runs a fringe, one pixel of the screen wide and half of it outside, in which the colour fades away. What
// is thinner than that pixel is as wide as it and fainter, so that in all there is as much colour as the shape has area.
// In software each triangle costs time too. So lines and discs have none for their fringe: each vertex knows its distance from
// the middle, and each pixel how much is covered there.

import { BufferAttribute, BufferGeometry, Color, DoubleSide, DynamicDrawUsage, Mesh, ShaderMaterial, ShapeUtils, Vector2 } from "three";
import { type Area, DASH, GAP, GHOST, type Mark, type Stroke, TRAIL_HALF_WIDTH, type Trail } from "./picture";
import { across, chained, dashes, pieces, rimOf, withEnds } from "./tessellate";

const VERTEX = `
attribute vec4 tint;
attribute vec2 edge;
varying vec4 colour;
varying vec2 away;
void main() {
  colour = tint;
  away = edge;
  gl_Position = projectionMatrix * viewMatrix * vec4(position.xy, 0.0, 1.0);
}`;
/** The part of a pixel at a distance from the middle of a band that the band covers; the half-width follows the distance. */
const FRAGMENT = `
varying vec4 colour;
varying vec2 away;
void main() {
  float covered = clamp(min(away.y + 0.5 - abs(away.x), 2.0 * away.y), 0.0, 1.0);
  gl_FragColor = vec4(colour.rgb, colour.a * covered);
  #include <colorspace_fragment>
}`;
/** Half-width, in pixels of the screen, of which the middle is covered wholly. */
const WIDE = 1;

/** Opacity of a trail at its head. */
const TRAIL_STRENGTH = 0.6;
/** A trail is straight while it is within so many pixels of the screen of its tangent; its chord is then a quarter of that off. */
const STRAIGHT = 0.5;
/** The longest part of a trail that fades evenly, in pixels. */
const LONGEST = 16;
/** A disc of r pixels of the screen has this times √r sides, within these bounds: none is 0.06 pixels off the circle. */
const SIDES = 8;
const [FEWEST_SIDES, MOST_SIDES] = [12, 128];

export class PaintLayer {
  readonly mesh: Mesh<BufferGeometry, ShaderMaterial>;
  readonly #colour = new Color();
  #places = new Float32Array(2 * 1024);
  #tints = new Float32Array(4 * 1024);
  #edges = new Float32Array(2 * 1024);
  #corners = new Uint32Array(3 * 2048);
  #vertices = 0;
  #indices = 0;
  /** The width of a pixel in metres: of the page, and of the screen. */
  #pixel = 1;
  #screen = 1;

  constructor() {
    const material = new ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      transparent: true,
      depthTest: false,
      depthWrite: false,
      side: DoubleSide,
    });
    this.mesh = new Mesh(new BufferGeometry(), material);
    this.mesh.frustumCulled = false; // its bounds change every frame, and it is nearly always in sight
    this.#allocate();
  }

  /** Forget all shapes; `pixel` is the width of one in metres, and `ratio` how many of the screen's are in it. */
  begin(pixel: number, ratio: number): void {
    this.#vertices = this.#indices = 0;
    this.#pixel = pixel;
    this.#screen = pixel / ratio;
  }

  /** A band that follows a path and grows thinner and fainter with age; places between which it is straight are left out. */
  trail({ x, y, age, colour, ghost }: Trail): void {
    this.#colour.set(colour);
    const strength = TRAIL_STRENGTH * (ghost ? GHOST : 1);
    const screen = this.#screen;
    const [straight, longest] = [STRAIGHT * screen, LONGEST * this.#pixel];
    let last = -1; // the last place that was not left out, while the path is unbroken
    let [u, v] = [0, 0]; // the path's direction there
    for (let i = 0; i < x.length; i++) {
      if (Number.isNaN(x[i])) {
        last = -1;
        continue;
      }
      const more = i + 1 < x.length && !Number.isNaN(x[i + 1]);
      if (last >= 0 && more && (u !== 0 || v !== 0)) {
        const [dx, dy] = [x[i + 1]! - x[last]!, y[i + 1]! - y[last]!];
        const along = dx * u + dy * v;
        if (along > -straight && along < longest && Math.abs(dx * v - dy * u) < straight) continue;
      }
      // The direction is that between the neighbours.
      const [before, after] = [last < 0 ? i : i - 1, more ? i + 1 : i];
      [u, v] = [x[after]! - x[before]!, y[after]! - y[before]!];
      const length = Math.sqrt(u * u + v * v) || 1;
      u /= length;
      v /= length;
      const left = 1 - age[i]!;
      const half = TRAIL_HALF_WIDTH * this.#pixel * left;
      if (last < 0) this.#row(x[i]! - screen * u, y[i]! - screen * v, -v, u, half, 0, false);
      this.#row(x[i]!, y[i]!, -v, u, half, strength * left, true);
      if (!more) this.#row(x[i]! + screen * u, y[i]! + screen * v, -v, u, half, 0, true);
      last = i;
    }
  }

  mark(mark: Mark): void {
    this.#colour.set(mark.colour);
    if (mark.kind === "stroke") this.#stroke(mark);
    else if (mark.kind === "area") this.#area(mark);
    else this.disc(mark.x, mark.y, mark.radius, mark.colour, mark.opacity);
  }

  /** A straight band. */
  bar(x0: number, y0: number, x1: number, y1: number, width: number, colour: string, opacity: number): void {
    this.#colour.set(colour);
    this.#band(Float64Array.of(x0, y0, x1, y1), false, width / 2, opacity);
  }

  /** Lines as wide as a pixel of the screen: two ends of two numbers each. */
  rule(lines: readonly number[], colour: string): void {
    this.#colour.set(colour);
    for (const { points, closed } of chained(lines)) this.#band(points, closed, this.#screen / 2, 1);
  }

  disc(x: number, y: number, radius: number, colour: string, opacity: number): void {
    this.#colour.set(colour);
    const pixels = radius / this.#screen;
    const ends = circle(pixels);
    const [middle, sides] = [this.#vertices, ends.length / 2];
    // A cone whose height falls from 1 to 0 within half a pixel on either side of this edge has the volume π r².
    const edge = Math.max(0.5, Math.sqrt(Math.max(0, pixels * pixels - 1 / 12)));
    const strength = opacity * Math.min(1, 3 * pixels * pixels);
    const reach = (edge + 0.5) * this.#screen;
    this.#vertex(x, y, 1, strength, 0, edge);
    for (let i = 0; i < sides; i++) {
      this.#vertex(x + reach * ends[2 * i]!, y + reach * ends[2 * i + 1]!, 1, strength, edge + 0.5, edge);
      this.#triangle(middle, middle + 1 + i, middle + 1 + ((i + 1) % sides));
    }
  }

  /** Hand the shapes over. Buffers of another size are other buffers to the renderer. */
  end(): void {
    const { geometry } = this.mesh;
    if (geometry.getAttribute("position").array !== this.#places || geometry.index?.array !== this.#corners) this.#allocate();
    else {
      upload(geometry.getAttribute("position") as BufferAttribute, 2 * this.#vertices);
      upload(geometry.getAttribute("tint") as BufferAttribute, 4 * this.#vertices);
      upload(geometry.getAttribute("edge") as BufferAttribute, 2 * this.#vertices);
      upload(geometry.index!, this.#indices);
    }
    this.mesh.geometry.setDrawRange(0, this.#indices);
    this.mesh.visible = this.#indices > 0;
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
  }

  #stroke({ points, closed, width, dashed, opacity }: Stroke): void {
    const half = (width * this.#pixel) / 2;
    for (const piece of pieces(points, closed)) {
      if (!dashed) this.#band(piece.points, piece.closed, half, opacity);
      else {
        for (const dash of dashes(piece.points, piece.closed, DASH * this.#pixel, GAP * this.#pixel))
          this.#band(dash, false, half, opacity);
      }
    }
  }

  #band(line: Float64Array, closed: boolean, half: number, opacity: number): void {
    const points = closed ? line : withEnds(line, this.#screen / 2);
    const normals = across(points, closed);
    const count = points.length / 2;
    for (let k = 0; k < count + Number(closed); k++) {
      const i = 2 * (k % count);
      const end = !closed && (k === 0 || k === count - 1);
      this.#row(points[i]!, points[i + 1]!, normals[i]!, normals[i + 1]!, half, end ? 0 : opacity, k > 0);
    }
  }

  /** Both sides of a band of this half-width at one of its places, with (nx, ny) across it. */
  #row(x: number, y: number, nx: number, ny: number, half: number, opacity: number, joined: boolean): void {
    const pixels = half / this.#screen;
    const reach = half + this.#screen / 2;
    const first = this.#vertex(x + nx * reach, y + ny * reach, 1, opacity, pixels + 0.5, pixels);
    this.#vertex(x - nx * reach, y - ny * reach, 1, opacity, -pixels - 0.5, pixels);
    if (!joined) return;
    this.#triangle(first - 2, first - 1, first);
    this.#triangle(first, first - 1, first + 1);
  }

  #area({ points, faces, light, opacity }: Area): void {
    if (!faces && points.some(Number.isNaN)) return; // where a part is missing there is no inside
    const triangles = faces ?? triangulated(points);
    const { edges, outward } = rimOf(points, triangles);
    const fringe = this.#screen / 2;
    const corner = (point: number, out: number, bright: number, strength: number): number => {
      const [x, y] = [points[2 * point]! + out * outward[2 * point]!, points[2 * point + 1]! + out * outward[2 * point + 1]!];
      return this.#vertex(x, y, bright, strength, 0, WIDE);
    };
    // Each triangle has corners of its own, since they differ in brightness, and its fringe lies under those in front of it.
    for (let i = 0; i + 2 < triangles.length; i += 3) {
      const bright = light?.[i / 3] ?? 1;
      const first = this.#vertices;
      for (let k = 0; k < 3; k++) corner(triangles[i + k]!, -fringe, bright, opacity);
      this.#triangle(first, first + 1, first + 2);
      for (let k = 0; k < 3; k++) {
        if (!edges[i + k]) continue;
        const next = (k + 1) % 3;
        const end = corner(triangles[i + k]!, fringe, bright, 0);
        corner(triangles[i + next]!, fringe, bright, 0);
        this.#triangle(first + k, end, first + next);
        this.#triangle(first + next, end, end + 1);
      }
    }
  }

  /** `away` is the distance from the middle of a band of half-width `half`, both in pixels of the screen. */
  #vertex(x: number, y: number, bright: number, opacity: number, away: number, half: number): number {
    const i = this.#vertices++;
    if (2 * i >= this.#places.length) {
      this.#places = grown(this.#places);
      this.#tints = grown(this.#tints);
      this.#edges = grown(this.#edges);
    }
    this.#places[2 * i] = x;
    this.#places[2 * i + 1] = y;
    this.#tints[4 * i] = this.#colour.r * bright;
    this.#tints[4 * i + 1] = this.#colour.g * bright;
    this.#tints[4 * i + 2] = this.#colour.b * bright;
    this.#tints[4 * i + 3] = opacity;
    this.#edges[2 * i] = away;
    this.#edges[2 * i + 1] = half;
    return i;
  }

  #triangle(a: number, b: number, c: number): void {
    if (this.#indices + 3 > this.#corners.length) this.#corners = grown(this.#corners);
    this.#corners[this.#indices++] = a;
    this.#corners[this.#indices++] = b;
    this.#corners[this.#indices++] = c;
  }

  #allocate(): void {
    this.mesh.geometry.dispose();
    const geometry = (this.mesh.geometry = new BufferGeometry());
    geometry.setAttribute("position", new BufferAttribute(this.#places, 2).setUsage(DynamicDrawUsage));
    geometry.setAttribute("tint", new BufferAttribute(this.#tints, 4).setUsage(DynamicDrawUsage));
    geometry.setAttribute("edge", new BufferAttribute(this.#edges, 2).setUsage(DynamicDrawUsage));
    geometry.setIndex(new BufferAttribute(this.#corners, 1).setUsage(DynamicDrawUsage));
  }
}

/** Hand over the first `count` numbers, which are all that a frame uses. */
function upload(attribute: BufferAttribute, count: number): void {
  attribute.clearUpdateRanges();
  attribute.addUpdateRange(0, count);
  attribute.needsUpdate = true;
}

const circles = new Map<number, Float64Array>();

/** The corners of a polygon with the area of the unit circle, as many as a circle of so many pixels needs to look round. */
function circle(pixels: number): Float64Array {
  const sides = Math.min(MOST_SIDES, Math.max(FEWEST_SIDES, 4 * Math.ceil((SIDES * Math.sqrt(pixels || 0)) / 4)));
  const known = circles.get(sides);
  if (known) return known;
  const angle = (2 * Math.PI) / sides;
  const radius = Math.sqrt(angle / Math.sin(angle));
  const made = Float64Array.from({ length: 2 * sides }, (_, i) => {
    const turn = angle * (i >> 1);
    return radius * (i % 2 === 0 ? Math.cos(turn) : Math.sin(turn));
  });
  circles.set(sides, made);
  return made;
}

/** Three corners for each triangle of a polygon. */
function triangulated(points: Float64Array): number[] {
  const contour = Array.from({ length: points.length / 2 }, (_, i) => new Vector2(points[2 * i]!, points[2 * i + 1]!));
  return (ShapeUtils.triangulateShape(contour, []) as number[][]).flat();
}

function grown<T extends Float32Array | Uint32Array>(array: T): T {
  const larger = new (array.constructor as new (length: number) => T)(2 * array.length);
  larger.set(array);
  return larger;
}
