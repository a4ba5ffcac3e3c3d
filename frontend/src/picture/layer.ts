// All that changes from frame to frame as a single mesh, painted in the order in which it was added: thousands of shapes cost
// one call of the renderer. (WebGL's own lines are one pixel wide, so lines are bands.)

import { BufferAttribute, BufferGeometry, Color, DoubleSide, DynamicDrawUsage, Mesh, MeshBasicMaterial, ShapeUtils, Vector2 } from "three";
import { type Area, DASH, GAP, GHOST, type Mark, type Stroke, TRAIL_HALF_WIDTH, type Trail } from "./picture";
import { band, dashes, pieces } from "./tessellate";

/** Opacity of a trail at its head. */
const TRAIL_STRENGTH = 0.6;
/** A disc of r pixels has this times √r sides, within these bounds: then no side is 0.05 pixels off the circle. */
const SIDES = 10;
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

  /** Forget all shapes; `pixel` is the width of one in metres. */
  begin(pixel: number): void {
    this.#vertices = this.#indices = 0;
    this.#pixel = pixel;
  }

  /** A band that follows a path and grows thinner and fainter with age. */
  trail({ x, y, age, colour, ghost }: Trail): void {
    this.#colour.set(colour);
    const strength = TRAIL_STRENGTH * (ghost ? GHOST : 1);
    let joined = false;
    for (let i = 0; i < x.length; i++) {
      if (Number.isNaN(x[i])) {
        joined = false;
        continue;
      }
      // Across the path: perpendicular to the line between the neighbours.
      const a = joined ? i - 1 : i;
      const b = i + 1 < x.length && !Number.isNaN(x[i + 1]) ? i + 1 : i;
      const [dx, dy] = [x[b]! - x[a]!, y[b]! - y[a]!];
      const left = 1 - age[i]!;
      const length = Math.sqrt(dx * dx + dy * dy);
      const across = length > 0 ? (TRAIL_HALF_WIDTH * this.#pixel * left) / length : 0;
      const vertex = this.#vertices;
      this.#vertex(x[i]! - dy * across, y[i]! + dx * across, 1, strength * left);
      this.#vertex(x[i]! + dy * across, y[i]! - dx * across, 1, strength * left);
      if (joined) this.#quad(vertex - 2, vertex);
      joined = true;
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
    const [dx, dy] = [x1 - x0, y1 - y0];
    const across = width / 2 / (Math.sqrt(dx * dx + dy * dy) || 1);
    const vertex = this.#vertices;
    this.#vertex(x0 - dy * across, y0 + dx * across, 1, opacity);
    this.#vertex(x0 + dy * across, y0 - dx * across, 1, opacity);
    this.#vertex(x1 - dy * across, y1 + dx * across, 1, opacity);
    this.#vertex(x1 + dy * across, y1 - dx * across, 1, opacity);
    this.#quad(vertex, vertex + 2);
  }

  disc(x: number, y: number, radius: number, colour: string, opacity: number): void {
    this.#colour.set(colour);
    const ends = circle(radius / this.#pixel);
    const middle = this.#vertices;
    const sides = ends.length / 2;
    this.#vertex(x, y, 1, opacity);
    for (let i = 0; i < sides; i++) {
      this.#vertex(x + radius * ends[2 * i]!, y + radius * ends[2 * i + 1]!, 1, opacity);
      this.#triangle(middle, middle + 1 + i, middle + 1 + ((i + 1) % sides));
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

  #band(points: Float64Array, closed: boolean, half: number, opacity: number): void {
    const sides = band(points, closed, half);
    const count = points.length / 2;
    const first = this.#vertices;
    for (let i = 0; i < sides.length; i += 2) this.#vertex(sides[i]!, sides[i + 1]!, 1, opacity);
    for (let i = 0; i < count - 1 + Number(closed); i++) this.#quad(first + 2 * i, first + 2 * ((i + 1) % count));
  }

  #area({ points, faces, light, opacity }: Area): void {
    if (faces) {
      // Each triangle has corners of its own, since they differ in brightness.
      for (let i = 0; i + 2 < faces.length; i += 3) {
        const bright = light?.[i / 3] ?? 1;
        const first = this.#vertices;
        for (let k = 0; k < 3; k++) this.#vertex(points[2 * faces[i + k]!]!, points[2 * faces[i + k]! + 1]!, bright, opacity);
        this.#triangle(first, first + 1, first + 2);
      }
      return;
    }
    if (points.some(Number.isNaN)) return; // where a part is missing there is no inside
    const contour = Array.from({ length: points.length / 2 }, (_, i) => new Vector2(points[2 * i]!, points[2 * i + 1]!));
    const first = this.#vertices;
    for (const { x, y } of contour) this.#vertex(x, y, 1, opacity);
    for (const [a, b, c] of ShapeUtils.triangulateShape(contour, []) as [number, number, number][])
      this.#triangle(first + a, first + b, first + c);
  }

  #vertex(x: number, y: number, bright: number, opacity: number): void {
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
  }

  /** Between two ends of a band, each of which is a vertex and the next. */
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

/** Points of the unit circle, as many as a circle of so many pixels needs to look round. */
function circle(pixels: number): Float64Array {
  const sides = Math.min(MOST_SIDES, Math.max(FEWEST_SIDES, 4 * Math.ceil((SIDES * Math.sqrt(pixels || 0)) / 4)));
  const known = circles.get(sides);
  if (known) return known;
  const made = Float64Array.from({ length: 2 * sides }, (_, i) => {
    const turn = (2 * Math.PI * (i >> 1)) / sides;
    return i % 2 === 0 ? Math.cos(turn) : Math.sin(turn);
  });
  circles.set(sides, made);
  return made;
}

function grown<T extends Float32Array | Uint32Array>(array: T): T {
  const larger = new (array.constructor as new (length: number) => T)(2 * array.length);
  larger.set(array);
  return larger;
}
