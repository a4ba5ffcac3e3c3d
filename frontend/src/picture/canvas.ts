// A picture of a plane on a 2-D canvas, for browsers without WebGL.

import type { Palette } from "../colours";
import {
  type Area,
  DASH,
  type Drawing,
  EDGE,
  GAP,
  GHOST,
  type Mark,
  type Picture,
  pixelRatio,
  ROD_HALF_WIDTH,
  type Rod,
  ringOf,
  SPRING_HALF_WIDTH,
  type Stroke,
  slimness,
  TRAIL_HALF_WIDTH,
} from "./picture";
import { strainColour, strainWidth } from "./strain";
import { pieces } from "./tessellate";
import { NO_VIEW, ticks, toPixels, type View } from "./view";

export class CanvasPicture implements Picture {
  readonly kind = "canvas";
  /** Paints what is behind everything, instead of paper and a grid. */
  backdrop: ((pen: CanvasRenderingContext2D) => void) | null = null;
  readonly #pen: CanvasRenderingContext2D;
  #view: View = NO_VIEW;
  #palette: Palette | null = null;
  #ruled: { readonly lines: readonly number[]; readonly colour: string } | null = null;

  constructor(readonly canvas: HTMLCanvasElement) {
    const pen = canvas.getContext("2d");
    if (!pen) throw new Error("This browser can draw neither with WebGL nor on a 2-D canvas.");
    this.#pen = pen;
  }

  arrange(view: View, palette: Palette): void {
    this.#view = view;
    this.#palette = palette;
    this.#ruled = null;
    this.canvas.width = Math.round(view.width * pixelRatio());
    this.canvas.height = Math.round(view.height * pixelRatio());
  }

  look(view: View): void {
    this.#view = view;
    this.#ruled = null;
  }

  rule(lines: readonly number[], colour: string): void {
    this.#ruled = { lines, colour };
  }

  paint(drawing: Drawing): void {
    const palette = this.#palette;
    if (!palette) return;
    const pen = this.#pen;
    pen.setTransform(pixelRatio(), 0, 0, pixelRatio(), 0, 0);
    pen.lineCap = "round";
    if (this.backdrop) this.backdrop(pen);
    else this.#paper(palette);
    this.#trails(drawing);
    for (const mark of drawing.marks) this.#mark(mark);
    for (const ghost of [true, false]) {
      pen.globalAlpha = ghost ? GHOST : 1;
      for (const rod of drawing.rods) if (rod.ghost === ghost) this.#rod(drawing, rod, palette);
      this.#bobs(drawing, ghost, palette);
    }
    pen.globalAlpha = 1;
  }

  dispose(): void {}

  #paper(palette: Palette): void {
    this.#pen.fillStyle = palette.paper;
    this.#pen.fillRect(0, 0, this.#view.width, this.#view.height);
    this.#pen.strokeStyle = this.#ruled?.colour ?? palette.grid;
    this.#pen.lineWidth = 1;
    this.#pen.beginPath();
    if (this.#ruled) this.#rule(this.#ruled.lines);
    else {
      const { x, y } = ticks(this.#view);
      for (const metre of x) this.#line(toPixels(this.#view, metre, 0)[0], 0, 0, this.#view.height);
      for (const metre of y) this.#line(0, toPixels(this.#view, 0, metre)[1], this.#view.width, 0);
    }
    this.#pen.stroke();
  }

  #rule(lines: readonly number[]): void {
    for (let i = 0; i + 3 < lines.length; i += 4) {
      this.#pen.moveTo(...toPixels(this.#view, lines[i]!, lines[i + 1]!));
      this.#pen.lineTo(...toPixels(this.#view, lines[i + 2]!, lines[i + 3]!));
    }
  }

  #line(x: number, y: number, dx: number, dy: number): void {
    this.#pen.moveTo(x, y);
    this.#pen.lineTo(x + dx, y + dy);
  }

  #trails({ trails }: Drawing): void {
    const pen = this.#pen;
    for (const trail of trails) {
      pen.strokeStyle = trail.colour;
      for (let i = 1; i < trail.x.length; i++) {
        const [x0, y0, x1, y1] = [trail.x[i - 1]!, trail.y[i - 1]!, trail.x[i]!, trail.y[i]!];
        if (Number.isNaN(x0) || Number.isNaN(x1)) continue;
        const left = 1 - trail.age[i]!;
        pen.globalAlpha = 0.6 * left * (trail.ghost ? GHOST : 1);
        pen.lineWidth = 2 * TRAIL_HALF_WIDTH * left;
        pen.beginPath();
        pen.moveTo(...toPixels(this.#view, x0, y0));
        pen.lineTo(...toPixels(this.#view, x1, y1));
        pen.stroke();
      }
    }
    pen.globalAlpha = 1;
  }

  #mark(mark: Mark): void {
    this.#pen.globalAlpha = mark.opacity;
    if (mark.kind === "stroke") this.#stroke(mark);
    else if (mark.kind === "area") this.#area(mark);
    else this.#disc(toPixels(this.#view, mark.x, mark.y), mark.radius * this.#view.scale, mark.colour);
  }

  #stroke({ points, closed, width, dashed, colour }: Stroke): void {
    const pen = this.#pen;
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.lineCap = dashed ? "butt" : "round";
    pen.lineJoin = "round";
    pen.setLineDash(dashed ? [DASH, GAP] : []);
    for (const piece of pieces(points, closed)) {
      this.#path(piece.points);
      if (piece.closed) pen.closePath();
      pen.stroke();
    }
    pen.setLineDash([]);
    pen.lineCap = "round";
  }

  #area({ points, faces, light, colour }: Area): void {
    if (!faces) {
      if (points.some(Number.isNaN)) return; // where a part is missing there is no inside
      this.#pen.fillStyle = colour;
      this.#path(points);
      this.#pen.fill();
      return;
    }
    for (let i = 0; i + 2 < faces.length; i += 3) {
      const corners = [0, 1, 2].flatMap((k) => [points[2 * faces[i + k]!]!, points[2 * faces[i + k]! + 1]!]);
      this.#pen.fillStyle = shaded(colour, light?.[i / 3] ?? 1);
      this.#path(Float64Array.from(corners));
      this.#pen.fill();
    }
  }

  #path(points: Float64Array): void {
    this.#pen.beginPath();
    for (let i = 0; i + 1 < points.length; i += 2) this.#pen.lineTo(...toPixels(this.#view, points[i]!, points[i + 1]!));
  }

  #at(drawing: Drawing, point: number): [number, number] {
    const i = point * drawing.dimension;
    return toPixels(this.#view, drawing.points[i]!, drawing.points[i + 1]!);
  }

  #rod(drawing: Drawing, { start, end, strain }: Rod, palette: Palette): void {
    const slim = slimness(drawing.bobs, this.#view.scale);
    const half = slim * (strain === null ? ROD_HALF_WIDTH : SPRING_HALF_WIDTH * strainWidth(strain));
    const stroke = (colour: string, width: number): void => {
      this.#pen.strokeStyle = colour;
      this.#pen.lineWidth = width;
      this.#pen.beginPath();
      this.#pen.moveTo(...this.#at(drawing, start));
      this.#pen.lineTo(...this.#at(drawing, end));
      this.#pen.stroke();
    };
    if (strain !== null) stroke(palette.rod, 2 * (half + slim * EDGE));
    stroke(strain === null ? palette.rod : strainColour(strain), 2 * half);
  }

  #bobs(drawing: Drawing, ghosts: boolean, palette: Palette): void {
    if (!ghosts) for (const anchor of drawing.anchors) this.#disc(this.#at(drawing, anchor), 2 * ROD_HALF_WIDTH, palette.rod);
    for (const { point, radius, colour, ghost } of drawing.bobs) {
      if (ghost !== ghosts) continue;
      const place = this.#at(drawing, point);
      const pixels = radius * this.#view.scale;
      if (!ghost) this.#disc(place, pixels + ringOf(pixels), palette.paper);
      this.#disc(place, pixels, colour);
    }
  }

  #disc([x, y]: [number, number], radius: number, colour: string): void {
    this.#pen.fillStyle = colour;
    this.#pen.beginPath();
    this.#pen.arc(x, y, radius, 0, 2 * Math.PI);
    this.#pen.fill();
  }
}

/** A colour of six hexadecimal digits, darker. */
function shaded(colour: string, bright: number): string {
  return `rgb(${[1, 3, 5].map((i) => Math.round(bright * parseInt(colour.slice(i, i + 2), 16))).join(", ")})`;
}
