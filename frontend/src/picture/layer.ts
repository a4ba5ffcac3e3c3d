// All that changes from frame to frame as a single mesh, painted in the order in which it was added: thousands of shapes cost
// one call of the renderer. (WebGL's own lines are one pixel wide, so lines are bands.)
//
// Edges are smooth without the renderer's multisampling, which takes most of the time of a frame where WebGL is computed in
// software: along each runs a fringe, one pixel of the screen wide and half of it outside, in which the colour fades away. What
// is thinner than that pixel is as wide as it and fainter, so that in all there is as much colour as the shape has area.

import { BufferAttribute, BufferGeometry, Color, DoubleSide, DynamicDrawUsage, Mesh, MeshBasicMaterial, ShapeUtils, Vector2 } from "three";
import { type Area, DASH, GAP, GHOST, type Mark, type Stroke, TRAIL_HALF_WIDTH, type Trail } from "./picture";
import { across, chained, dashes, pieces, rimOf, withEnds } from "./tessellate";

/** Opacity of a trail at its head. */
const TRAIL_STRENGTH = 0.6;
/** Places of a trail that are fewer pixels from the one before are left out. */
const CLOSE = 1;
/** A disc of r pixels of the screen has this times √r sides, within these bounds: none is 0.06 pixels off the circle. */
const SIDES = 8;
const [FEWEST_SIDES, MOST_SIDES] = [12, 128];

export class PaintLayer {
  readonly mesh: Mesh<BufferGeometry, MeshBasicMaterial>;
  readonly #colour = new Color();
  #places = new Float32Array(3 * 1024);
  #tints = new Float32Array(4 * 1024);
  #corners = new Uint32Array(3 * 2048);
  #vertices = 0;
  #indices = 0;
  /** The width of a pixel in metres. */
  #pixel = 1;
  /** Half the width of a fringe in metres. */
  #fringe = 0.5;

  constructor() {
    const material = new MeshBasicMaterial({
      vertexColors: true,
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
    this.#fringe = pixel / ratio / 2;
  }

  /** A band that follows a path and grows thinner and fainter with age. */
  trail({ x, y, age, colour, ghost }: Trail): void {
    this.#colour.set(colour);
    const strength = TRAIL_STRENGTH * (ghost ? GHOST : 1);
    const fringe = 2 * this.#fringe;
    let last = -1; // the place of the last row, while the path is unbroken
    for (let i = 0; i < x.length; i++) {
      if (Number.isNaN(x[i])) {
        last = -1;
        continue;
      }
      const more = i + 1 < x.length && !Number.isNaN(x[i + 1]);
      if (last >= 0 && more && Math.abs(x[i]! - x[last]!) + Math.abs(y[i]! - y[last]!) < CLOSE * this.#pixel) continue;
      // Across the path: perpendicular to the line between the neighbours.
      const [before, after] = [last < 0 ? i : i - 1, more ? i + 1 : i];
      const [dx, dy] = [x[after]! - x[before]!, y[after]! - y[before]!];
      const length = Math.sqrt(dx * dx + dy * dy) || Infinity;
      const [u, v] = [dx / length, dy / length];
      const left = 1 - age[i]!;
      const half = TRAIL_HALF_WIDTH * this.#pixel * left;
      if (last < 0) this.#row(x[i]! - fringe * u, y[i]! - fringe * v, -v, u, half, 0, false);
      this.#row(x[i]!, y[i]!, -v, u, half, strength * left, true);
      if (!more) this.#row(x[i]! + fringe * u, y[i]! + fringe * v, -v, u, half, 0, true);
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
    for (const { points, closed } of chained(lines)) this.#band(points, closed, this.#fringe, 1);
  }

  disc(x: number, y: number, radius: number, colour: string, opacity: number): void {
    this.#colour.set(colour);
    const fringe = this.#fringe;
    const ends = circle(radius / fringe / 2);
    const [middle, sides] = [this.#vertices, ends.length / 2];
    // A cone whose height falls from 1 to 0 between these radii, and 1 inside, has the volume π r².
    const edge = Math.max(fringe, Math.sqrt(Math.max(0, radius * radius - (fringe * fringe) / 3)));
    const [inner, outer] = [edge - fringe, edge + fringe];
    const strength = opacity * Math.min(1, (3 * radius * radius) / (4 * fringe * fringe));
    this.#vertex(x, y, 1, strength);
    for (let i = 0; i < sides; i++) {
      const [u, v] = [ends[2 * i]!, ends[2 * i + 1]!];
      const here = this.#vertex(x + inner * u, y + inner * v, 1, strength);
      this.#vertex(x + outer * u, y + outer * v, 1, 0);
      const next = i + 1 < sides ? here + 2 : middle + 1;
      this.#triangle(middle, here, next);
      this.#quad(here, next);
    }
  }

  /** Hand the shapes over. Buffers of another size are other buffers to the renderer. */
  end(): void {
    const { geometry } = this.mesh;
    if (geometry.getAttribute("position").array !== this.#places || geometry.index?.array !== this.#corners) this.#allocate();
    else {
      upload(geometry.getAttribute("position") as BufferAttribute, 3 * this.#vertices);
      upload(geometry.getAttribute("color") as BufferAttribute, 4 * this.#vertices);
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
    const points = closed ? line : withEnds(line, this.#fringe);
    const normals = across(points, closed);
    const count = points.length / 2;
    for (let k = 0; k < count + Number(closed); k++) {
      const i = 2 * (k % count);
      const end = !closed && (k === 0 || k === count - 1);
      this.#row(points[i]!, points[i + 1]!, normals[i]!, normals[i + 1]!, half, end ? 0 : opacity, k > 0);
    }
  }

  /** One place of a band of this half-width, and (nx, ny) across it: two vertices with colour between two without any. */
  #row(x: number, y: number, nx: number, ny: number, half: number, opacity: number, joined: boolean): void {
    const [inner, outer] = [Math.abs(half - this.#fringe), half + this.#fringe];
    const strength = opacity * Math.min(1, half / this.#fringe);
    const first = this.#vertex(x + nx * outer, y + ny * outer, 1, 0);
    this.#vertex(x + nx * inner, y + ny * inner, 1, strength);
    this.#vertex(x - nx * inner, y - ny * inner, 1, strength);
    this.#vertex(x - nx * outer, y - ny * outer, 1, 0);
    if (joined) for (let k = 0; k < 3; k++) this.#quad(first - 4 + k, first + k);
  }

  #area({ points, faces, light, opacity }: Area): void {
    if (!faces && points.some(Number.isNaN)) return; // where a part is missing there is no inside
    const triangles = faces ?? triangulated(points);
    const { edges, outward } = rimOf(points, triangles);
    const corner = (point: number, out: number, bright: number, strength: number): number => {
      const [x, y] = [points[2 * point]! + out * outward[2 * point]!, points[2 * point + 1]! + out * outward[2 * point + 1]!];
      return this.#vertex(x, y, bright, strength);
    };
    // Each triangle has corners of its own, since they differ in brightness, and its fringe lies under those in front of it.
    for (let i = 0; i + 2 < triangles.length; i += 3) {
      const bright = light?.[i / 3] ?? 1;
      const first = this.#vertices;
      for (let k = 0; k < 3; k++) corner(triangles[i + k]!, -this.#fringe, bright, opacity);
      this.#triangle(first, first + 1, first + 2);
      for (let k = 0; k < 3; k++) {
        if (!edges[i + k]) continue;
        const next = (k + 1) % 3;
        const end = corner(triangles[i + k]!, this.#fringe, bright, 0);
        corner(triangles[i + next]!, this.#fringe, bright, 0);
        this.#triangle(first + k, end, first + next);
        this.#triangle(first + next, end, end + 1);
      }
    }
  }

  #vertex(x: number, y: number, bright: number, opacity: number): number {
    const i = this.#vertices++;
    if (3 * i >= this.#places.length) {
      this.#places = grown(this.#places);
      this.#tints = grown(this.#tints);
    }
    this.#places[3 * i] = x;
    this.#places[3 * i + 1] = y;
    this.#tints[4 * i] = this.#colour.r * bright;
    this.#tints[4 * i + 1] = this.#colour.g * bright;
    this.#tints[4 * i + 2] = this.#colour.b * bright;
    this.#tints[4 * i + 3] = opacity;
    return i;
  }

  /** Between two edges, each from a vertex to the one after it. */
  #quad(a: number, b: number): void {
    this.#triangle(a, a + 1, b);
    this.#triangle(b, a + 1, b + 1);
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
    geometry.setAttribute("position", new BufferAttribute(this.#places, 3).setUsage(DynamicDrawUsage));
    geometry.setAttribute("color", new BufferAttribute(this.#tints, 4).setUsage(DynamicDrawUsage));
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
