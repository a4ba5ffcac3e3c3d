// A unit sphere or another surface with lines and points on it, that can be turned. What is behind it shows through, faded.

import type { Palette } from "../colours";
import { COARSE, FINE, type Field, paintBall } from "./ball";
import { type Basis, basisOf, type Camera, dot, type Triple } from "./camera";
import { LINE, type Scale } from "./colourmap";
import { DASH, GAP, pixelRatio, TRAIL_HALF_WIDTH } from "./picture";
import { type Depths, depthAt, normalsOf, paintSheet, reachOf, type Sheet } from "./sheet";
import { NO_VIEW, toMetres, toPixels, type View } from "./view";

/** A line on the sphere: x, y, z of each point. */
export interface Line {
  readonly points: Float32Array;
  readonly colour: string;
  readonly width: number;
  readonly opacity: number;
  /** Whether it is edged in paper, so that it stands off. */
  readonly edged: boolean;
  readonly dashed?: boolean;
}

/** A path with the age of each of its points, from 0, now, to 1, forgotten. */
export interface Wake {
  readonly points: readonly number[];
  readonly age: readonly number[];
  readonly colour: string;
  readonly opacity: number;
}

export interface Dot {
  readonly place: Triple;
  /** In metres. */
  readonly radius: number;
  readonly colour: string;
  readonly opacity: number;
  /** Drawn as a ring: a mark rather than a body. */
  readonly hollow: boolean;
}

export interface Globe {
  readonly lines: readonly Line[];
  readonly wakes: readonly Wake[];
  readonly dots: readonly Dot[];
}

/** How much of its colour is left of what lies behind the sphere. */
const BEHIND = 0.22;
const GRATICULE = 12;
const FINENESS = 72;
/** Milliseconds of rest after which the sphere is painted in full. */
const REST = 120;

export class GlobePicture {
  readonly canvas: HTMLCanvasElement;
  readonly #pen: CanvasRenderingContext2D;
  readonly #ball = document.createElement("canvas");
  #field: Field | null = null;
  #scale: Scale | null = null;
  /** Where the surface is no sphere: its points, its normals, how far it reaches, and what of it was seen last. */
  #sheet: { readonly sheet: Sheet; readonly normals: Float32Array; readonly reach: number; readonly lines: Float32Array[] } | null = null;
  #depths: Depths | null = null;
  #view: View = NO_VIEW;
  #palette: Palette | null = null;
  #basis: Basis = basisOf({ azimuth: 0, elevation: 0 });
  #stale = true;
  #detail = FINE;
  #resting: ReturnType<typeof setTimeout> | undefined;

  /** `again` is called when the picture would be better if it were painted once more. */
  constructor(
    root: HTMLElement,
    private readonly again: () => void,
  ) {
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("aria-hidden", "true");
    root.prepend(this.canvas);
    this.#pen = this.canvas.getContext("2d")!;
  }

  arrange(view: View, palette: Palette, camera: Camera): void {
    this.#view = view;
    this.#palette = palette;
    const basis = basisOf(camera);
    if (this.#field && basis.toward.some((part, i) => part !== this.#basis.toward[i])) this.#turning();
    this.#basis = basis;
    this.#stale = true;
    const [wide, high] = [Math.round(view.width * pixelRatio()), Math.round(view.height * pixelRatio())];
    if (this.canvas.width !== wide || this.canvas.height !== high) Object.assign(this.canvas, { width: wide, height: high });
  }

  /** Take other colours; without a field the sphere is bare, and with `points` it is another surface. */
  dress(field: Field | null, scale: Scale | null, points: Float32Array | null = null): void {
    this.#field = field;
    this.#scale = scale;
    this.#stale = true;
    this.#depths = null;
    const sheet = field && points && points.length >= 3 * field.values.length ? { ...field, points } : null;
    this.#sheet = sheet && { sheet, normals: normalsOf(sheet), reach: 1.02 * reachOf(sheet), lines: gridLines(sheet) };
  }

  /** The place of the surface under a pixel; null beside it, and for a sphere. */
  pick(x: number, y: number): Triple | null {
    const [u, v] = toMetres(this.#view, x, y);
    const depth = this.#depths ? depthAt(this.#depths, u, v) : -Infinity;
    if (depth === -Infinity) return null;
    const { right, up, toward } = this.#basis;
    return [0, 1, 2].map((i) => u * right[i]! + v * up[i]! + depth * toward[i]!) as unknown as Triple;
  }

  get basis(): Basis {
    return this.#basis;
  }

  paint(globe: Globe): void {
    const palette = this.#palette;
    if (!palette) return;
    const pen = this.#pen;
    pen.setTransform(pixelRatio(), 0, 0, pixelRatio(), 0, 0);
    pen.globalAlpha = 1;
    pen.fillStyle = palette.paper;
    pen.fillRect(0, 0, this.#view.width, this.#view.height);
    pen.lineCap = pen.lineJoin = "round";
    if (this.#sheet) this.#surface(palette);
    else {
      this.#sphere(palette);
      this.#graticule(palette);
    }
    for (const near of [false, true]) {
      for (const line of globe.lines) this.#line(line, near, palette);
      for (const wake of globe.wakes) this.#wake(wake, near, palette);
      for (const spot of globe.dots) this.#dot(spot, near, palette);
    }
    pen.globalAlpha = 1;
  }

  dispose(): void {
    clearTimeout(this.#resting);
    this.canvas.remove();
  }

  /** Paint coarsely for as long as it goes on. */
  #turning(): void {
    this.#detail = COARSE;
    clearTimeout(this.#resting);
    this.#resting = setTimeout(() => {
      this.#detail = FINE;
      this.#stale = true;
      this.again();
    }, REST);
  }

  #flat(x: number, y: number, z: number): [number, number] {
    const { right, up } = this.#basis;
    return toPixels(this.#view, dot(right, x, y, z), dot(up, x, y, z));
  }

  /** Whether a place is on the side that is seen: on a sphere the near half, else what nothing lies before. */
  #isNear(x: number, y: number, z: number): boolean {
    const { right, up, toward } = this.#basis;
    const depth = dot(toward, x, y, z);
    if (!this.#depths || !this.#sheet) return depth >= 0;
    // A point on the surface may lie a little below its triangles.
    return depth >= depthAt(this.#depths, dot(right, x, y, z), dot(up, x, y, z)) - 0.04 * this.#sheet.reach;
  }

  #surface(palette: Palette): void {
    const { sheet, normals, reach, lines } = this.#sheet!;
    const radius = reach * this.#view.scale;
    if (this.#stale) {
      const size = Math.max(2, Math.round(Math.min(this.#detail, 2 * radius * pixelRatio())));
      this.#depths = paintSheet(this.#ball, size, reach, sheet, normals, this.#scale!, this.#basis);
      this.#stale = false;
    }
    const [x, y] = toPixels(this.#view, 0, 0);
    this.#pen.imageSmoothingQuality = "high";
    this.#pen.drawImage(this.#ball, x - radius, y - radius, 2 * radius, 2 * radius);
    for (const points of lines) this.#line({ points, colour: LINE, width: 0.8, opacity: 0.2, edged: false }, true, palette);
  }

  #disc(): void {
    this.#pen.beginPath();
    this.#pen.arc(...toPixels(this.#view, 0, 0), this.#view.scale, 0, 2 * Math.PI);
  }

  #sphere(palette: Palette): void {
    const pen = this.#pen;
    const radius = this.#view.scale;
    if (this.#field && this.#scale) {
      if (this.#stale) paintBall(this.#ball, Math.min(this.#detail, 2 * radius * pixelRatio()), this.#field, this.#scale, this.#basis);
      this.#stale = false;
      pen.save();
      this.#disc();
      pen.clip();
      const [x, y] = toPixels(this.#view, 0, 0);
      pen.drawImage(this.#ball, x - radius, y - radius, 2 * radius, 2 * radius);
      pen.restore();
    }
    pen.strokeStyle = palette.faint;
    pen.lineWidth = 1;
    this.#disc();
    pen.stroke();
  }

  /** Meridians and parallels about the upright axis: the coordinates' own lines, and what shows that the sphere turns. */
  #graticule(palette: Palette): void {
    const bare = !this.#field;
    const line = (at: (u: number) => Triple): void => {
      const points = new Float32Array(3 * (FINENESS + 1));
      for (let i = 0; i <= FINENESS; i++) points.set(at(i / FINENESS), 3 * i);
      const style = { points, colour: bare ? palette.faint : LINE, width: 0.8, opacity: bare ? 0.5 : 0.2, edged: false };
      if (bare) this.#line(style, false, palette);
      this.#line(style, true, palette);
    };
    for (let k = 0; k < GRATICULE; k++) {
      const [turn, polar] = [(2 * Math.PI * k) / GRATICULE, (Math.PI * k) / (GRATICULE / 2)];
      line((u) => [Math.sin(Math.PI * u) * Math.cos(turn), Math.sin(Math.PI * u) * Math.sin(turn), Math.cos(Math.PI * u)]);
      if (k > 0 && k < GRATICULE / 2) {
        line((u) => [Math.sin(polar) * Math.cos(2 * Math.PI * u), Math.sin(polar) * Math.sin(2 * Math.PI * u), Math.cos(polar)]);
      }
    }
  }

  /** Pieces of the line on the near or the far side, each as one stroke. */
  #line({ points, colour, width, opacity, edged, dashed = false }: Line, near: boolean, palette: Palette): void {
    const pen = this.#pen;
    const trace = (): void => {
      pen.beginPath();
      let drawing = false;
      for (let i = 0; i + 2 < points.length; i += 3) {
        const [x, y] = this.#flat(points[i]!, points[i + 1]!, points[i + 2]!);
        if (this.#isNear(points[i]!, points[i + 1]!, points[i + 2]!) !== near) drawing = false;
        else if (drawing) pen.lineTo(x, y);
        else {
          pen.moveTo(x, y);
          drawing = true;
        }
      }
      pen.stroke();
    };
    pen.globalAlpha = opacity * (near ? 1 : BEHIND);
    if (edged && near) {
      pen.strokeStyle = palette.paper;
      pen.lineWidth = width + 3;
      trace();
    }
    pen.strokeStyle = colour;
    pen.lineWidth = near ? width : 0.7 * width;
    pen.setLineDash(dashed ? [DASH, GAP] : []);
    trace();
    pen.setLineDash([]);
  }

  #wake({ points, age, colour, opacity }: Wake, near: boolean, palette: Palette): void {
    const pen = this.#pen;
    pen.lineCap = "butt"; // round ends of pieces that are seen through would show as beads
    for (const [tint, more] of near
      ? ([
          [palette.paper, 2.5],
          [colour, 0],
        ] as const)
      : ([[colour, 0]] as const)) {
      pen.strokeStyle = tint;
      for (let i = 1; i < age.length; i++) {
        const [a, b] = [3 * (i - 1), 3 * i];
        if (Number.isNaN(points[a]) || Number.isNaN(points[b])) continue;
        const [x0, y0] = this.#flat(points[a]!, points[a + 1]!, points[a + 2]!);
        const [x1, y1] = this.#flat(points[b]!, points[b + 1]!, points[b + 2]!);
        if (this.#isNear(points[b]!, points[b + 1]!, points[b + 2]!) !== near) continue;
        const left = 1 - age[i]!;
        pen.globalAlpha = opacity * left * (near ? 1 : BEHIND);
        pen.lineWidth = (2 * TRAIL_HALF_WIDTH + 1) * left + more * left;
        pen.beginPath();
        pen.moveTo(x0, y0);
        pen.lineTo(x1, y1);
        pen.stroke();
      }
    }
    pen.lineCap = "round";
  }

  #dot({ place, radius, colour, opacity, hollow }: Dot, near: boolean, palette: Palette): void {
    const [x, y] = this.#flat(...place);
    if (this.#isNear(...place) !== near) return;
    const pen = this.#pen;
    pen.globalAlpha = opacity * (near ? 1 : 0.45);
    const size = radius * this.#view.scale;
    const disc = (r: number, fill: string): void => {
      pen.fillStyle = fill;
      pen.beginPath();
      pen.arc(x, y, r, 0, 2 * Math.PI);
      pen.fill();
    };
    disc(size + 2.5, palette.paper);
    disc(size, hollow ? palette.ink : colour);
    if (hollow) disc(size - 3, palette.paper);
  }
}

/** Some of the lines along which one of a sheet's two parameters is constant. */
function gridLines({ rows, columns, points }: Sheet): Float32Array[] {
  const line = (count: number, at: (i: number) => number): Float32Array =>
    Float32Array.from({ length: 3 * count }, (_, k) => points[3 * at(Math.floor(k / 3)) + (k % 3)]!);
  const some = (count: number): number[] => Array.from({ length: GRATICULE + 1 }, (_, i) => Math.round((i * (count - 1)) / GRATICULE));
  return [...some(rows).map((i) => line(columns, (j) => i * columns + j)), ...some(columns).map((j) => line(rows, (i) => i * columns + j))];
}
