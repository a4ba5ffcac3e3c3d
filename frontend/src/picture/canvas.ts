// A picture of a plane on a 2-D canvas, for browsers without WebGL.

import type { Palette } from "../colours";
import {
  type Drawing,
  EDGE,
  GHOST,
  type Picture,
  pixelRatio,
  RING,
  ROD_HALF_WIDTH,
  type Rod,
  SPRING_HALF_WIDTH,
  TRAIL_HALF_WIDTH,
} from "./picture";
import { strainColour, strainWidth } from "./strain";
import { ticks, toPixels, type View } from "./view";

export class CanvasPicture implements Picture {
  readonly kind = "canvas";
  readonly #pen: CanvasRenderingContext2D;
  #view: View = { width: 1, height: 1, scale: 1 };
  #palette: Palette | null = null;
  #lines: readonly number[] | null = null;

  constructor(readonly canvas: HTMLCanvasElement) {
    const pen = canvas.getContext("2d");
    if (!pen) throw new Error("This browser can draw neither with WebGL nor on a 2-D canvas.");
    this.#pen = pen;
  }

  arrange(view: View, palette: Palette): void {
    this.#view = view;
    this.#palette = palette;
    this.canvas.width = Math.round(view.width * pixelRatio());
    this.canvas.height = Math.round(view.height * pixelRatio());
  }

  rule(lines: readonly number[]): void {
    this.#lines = lines;
  }

  paint(drawing: Drawing): void {
    const palette = this.#palette;
    if (!palette) return;
    const pen = this.#pen;
    pen.setTransform(pixelRatio(), 0, 0, pixelRatio(), 0, 0);
    pen.fillStyle = palette.paper;
    pen.fillRect(0, 0, this.#view.width, this.#view.height);
    pen.lineCap = "round";
    this.#grid(palette);
    this.#trails(drawing);
    for (const ghost of [true, false]) {
      pen.globalAlpha = ghost ? GHOST : 1;
      for (const rod of drawing.rods) if (rod.ghost === ghost) this.#rod(drawing, rod, palette);
      this.#bobs(drawing, ghost, palette);
    }
    pen.globalAlpha = 1;
  }

  dispose(): void {}

  #grid(palette: Palette): void {
    this.#pen.strokeStyle = palette.grid;
    this.#pen.lineWidth = 1;
    this.#pen.beginPath();
    if (this.#lines) this.#ruled(this.#lines);
    else {
      const { x, y } = ticks(this.#view);
      for (const metre of x) this.#line(toPixels(this.#view, metre, 0)[0], 0, 0, this.#view.height);
      for (const metre of y) this.#line(0, toPixels(this.#view, 0, metre)[1], this.#view.width, 0);
    }
    this.#pen.stroke();
  }

  #ruled(lines: readonly number[]): void {
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

  #at(drawing: Drawing, point: number): [number, number] {
    const i = point * drawing.dimension;
    return toPixels(this.#view, drawing.points[i]!, drawing.points[i + 1]!);
  }

  #rod(drawing: Drawing, { start, end, strain }: Rod, palette: Palette): void {
    const half = strain === null ? ROD_HALF_WIDTH : SPRING_HALF_WIDTH * strainWidth(strain);
    const stroke = (colour: string, width: number): void => {
      this.#pen.strokeStyle = colour;
      this.#pen.lineWidth = width;
      this.#pen.beginPath();
      this.#pen.moveTo(...this.#at(drawing, start));
      this.#pen.lineTo(...this.#at(drawing, end));
      this.#pen.stroke();
    };
    if (strain !== null) stroke(palette.rod, 2 * (half + EDGE));
    stroke(strain === null ? palette.rod : strainColour(strain), 2 * half);
  }

  #bobs(drawing: Drawing, ghosts: boolean, palette: Palette): void {
    if (!ghosts) for (const anchor of drawing.anchors) this.#disc(this.#at(drawing, anchor), 2 * ROD_HALF_WIDTH, palette.rod);
    for (const { point, radius, colour, ghost } of drawing.bobs) {
      if (ghost !== ghosts) continue;
      const place = this.#at(drawing, point);
      if (!ghost) this.#disc(place, radius * this.#view.scale + RING, palette.paper);
      this.#disc(place, radius * this.#view.scale, colour);
    }
  }

  #disc([x, y]: [number, number], radius: number, colour: string): void {
    this.#pen.fillStyle = colour;
    this.#pen.beginPath();
    this.#pen.arc(x, y, radius, 0, 2 * Math.PI);
    this.#pen.fill();
  }
}
