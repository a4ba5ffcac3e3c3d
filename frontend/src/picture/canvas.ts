// The picture in plain 2-D, for browsers without WebGL.

import type { Palette } from "../colours";
import { pixelRatio, RING, ROD_HALF_WIDTH, TRAIL_HALF_WIDTH, type Drawing, type Picture } from "./picture";
import { ticks, toPixels, type View } from "./view";

export class CanvasPicture implements Picture {
  readonly kind = "canvas";
  readonly #pen: CanvasRenderingContext2D;
  #view: View = { width: 1, height: 1, scale: 1 };
  #palette: Palette | null = null;

  constructor(private readonly canvas: HTMLCanvasElement) {
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

  paint(drawing: Drawing): void {
    const palette = this.#palette;
    if (!palette) return;
    const pen = this.#pen;
    pen.setTransform(pixelRatio(), 0, 0, pixelRatio(), 0, 0);
    pen.fillStyle = palette.paper;
    pen.fillRect(0, 0, this.#view.width, this.#view.height);
    pen.lineCap = "round";
    this.#grid(palette);
    this.#trail(drawing, palette);
    this.#bodies(drawing, palette);
  }

  dispose(): void {}

  #grid(palette: Palette): void {
    const { x, y } = ticks(this.#view);
    this.#pen.strokeStyle = palette.grid;
    this.#pen.lineWidth = 1;
    this.#pen.beginPath();
    for (const metre of x) this.#line(toPixels(this.#view, metre, 0)[0], 0, 0, this.#view.height);
    for (const metre of y) this.#line(0, toPixels(this.#view, 0, metre)[1], this.#view.width, 0);
    this.#pen.stroke();
  }

  #line(x: number, y: number, dx: number, dy: number): void {
    this.#pen.moveTo(x, y);
    this.#pen.lineTo(x + dx, y + dy);
  }

  #trail({ trail }: Drawing, palette: Palette): void {
    const pen = this.#pen;
    pen.strokeStyle = palette.bodies[trail.body % palette.bodies.length]!;
    for (let i = 1; i < trail.x.length; i++) {
      const [x0, y0, x1, y1] = [trail.x[i - 1], trail.y[i - 1], trail.x[i], trail.y[i]];
      if (x0 == null || y0 == null || x1 == null || y1 == null) continue;
      const left = 1 - trail.age[i]!;
      pen.globalAlpha = 0.6 * left;
      pen.lineWidth = 2 * TRAIL_HALF_WIDTH * left;
      pen.beginPath();
      pen.moveTo(...toPixels(this.#view, x0, y0));
      pen.lineTo(...toPixels(this.#view, x1, y1));
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  #bodies(drawing: Drawing, palette: Palette): void {
    const pen = this.#pen;
    const at = (i: number): [number, number] =>
      toPixels(this.#view, drawing.points[i * drawing.dimension]!, drawing.points[i * drawing.dimension + 1]!);
    pen.strokeStyle = palette.rod;
    pen.lineWidth = 2 * ROD_HALF_WIDTH;
    pen.beginPath();
    for (const rod of drawing.rods) {
      pen.moveTo(...at(rod.start));
      pen.lineTo(...at(rod.end));
    }
    pen.stroke();
    for (let i = 0; i < drawing.anchors; i++) this.#disc(at(i), 2 * ROD_HALF_WIDTH, palette.rod);
    drawing.radii.forEach((radius, body) => {
      const place = at(drawing.anchors + body);
      this.#disc(place, radius * this.#view.scale + RING, palette.paper);
      this.#disc(place, radius * this.#view.scale, palette.bodies[body % palette.bodies.length]!);
    });
  }

  #disc([x, y]: [number, number], radius: number, colour: string): void {
    this.#pen.fillStyle = colour;
    this.#pen.beginPath();
    this.#pen.arc(x, y, radius, 0, 2 * Math.PI);
    this.#pen.fill();
  }
}
