// Painting a function of two coordinates and what moves over it, outside Preact.

import { effect } from "@preact/signals";
import type { RefObject } from "preact";
import { palette } from "../../colours";
import { toFloats } from "../../encode";
import type { Past } from "../../picture/camera";
import { CanvasPicture } from "../../picture/canvas";
import { LINE, Scale } from "../../picture/colourmap";
import { drawingOf, trailsOf } from "../../picture/drawing";
import { type FieldView, fieldView, type Ranges, toScreen } from "../../picture/fieldview";
import { type Contour, contours, paintHeatmap } from "../../picture/heatmap";
import type { Lens } from "../../picture/lens";
import type { Studio } from "../../studio";
import type { Field, Frame, LabView } from "../../wire";
import type { Handles } from "./Grips";
import { LabelLayer } from "./labels";

/** Opacity and width of a line of one value, and of the one where the function is zero. */
const [LEVEL, ZERO] = [
  { opacity: 0.26, width: 1 },
  { opacity: 0.8, width: 1.6 },
];

export class FieldPainter {
  readonly #picture: CanvasPicture;
  readonly #labels: LabelLayer;
  readonly #heat = document.createElement("canvas");
  readonly #behind = document.createElement("canvas");
  readonly #stops: (() => void)[];
  #contours: readonly Contour[] = [];
  #field: Field | null = null;
  #view: FieldView;

  /** `handles` are kept on their bodies; `arranged` is told each new view. */
  constructor(
    private readonly studio: Studio,
    private readonly stage: HTMLElement,
    private readonly which: number,
    private readonly lens: RefObject<Lens>,
    private readonly handles: Handles,
    private readonly arranged: (view: FieldView) => void,
  ) {
    const canvas = document.createElement("canvas");
    canvas.setAttribute("aria-hidden", "true");
    stage.prepend(canvas);
    this.#picture = new CanvasPicture(canvas);
    this.#picture.backdrop = (pen) => this.#paintBehind(pen);
    this.#labels = new LabelLayer(stage);
    this.#view = fieldView(1, 1, this.#ranges);
    stage.dataset.renderer = "canvas";
    const watcher = new ResizeObserver(() => this.arrange());
    watcher.observe(stage);
    this.#stops = [
      () => watcher.disconnect(),
      effect(() => this.#take()),
      effect(() => {
        void [studio.trailsShown.value, studio.trailSeconds.value, studio.trailsOfAll.value];
        studio.repaint();
      }),
      studio.onFrame((frame) => this.#paint(frame)),
    ];
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#labels.stop();
    this.#picture.canvas.remove();
  }

  /** Take over size, colours and lens as they are now. */
  arrange(): void {
    const { width, height } = this.stage.getBoundingClientRect();
    const [wide, high] = [Math.max(1, width), Math.max(1, height)];
    this.#view = fieldView(wide, high, this.#ranges, this.lens.current!);
    // What moves is painted in pixels: the picture's own view only turns y upwards.
    this.#picture.arrange({ width: wide, height: high, scale: 1, x: wide / 2, y: -high / 2 }, palette.value);
    this.#layBehind();
    this.arranged(this.#view);
    this.studio.repaint();
  }

  /** Before a field has come, the square that the lab foresees. */
  get #ranges(): Ranges {
    const extent = this.studio.controls.value?.extents[this.which] ?? 1;
    return this.#field ?? { x_low: -extent, x_high: extent, x_unit: "", y_low: -extent, y_high: extent, y_unit: "" };
  }

  #take(): void {
    const sent = this.studio.field.value;
    const field = sent?.picture === this.which && sent.rows > 1 && sent.columns > 1 ? sent : null;
    void [palette.value, this.studio.controls.value?.extents[this.which]];
    if (field !== this.#field) {
      this.#field = field;
      this.#contours = [];
      if (field) {
        const grid = { rows: field.rows, columns: field.columns, values: toFloats(field.values) };
        paintHeatmap(this.#heat, grid, new Scale(field.low, field.high, field.signed));
        this.#contours = contours(grid, field.low, field.high);
        this.stage.dataset.field = `${field.symbol} ${field.low} ${field.high}`;
      } else delete this.stage.dataset.field;
      this.stage.dataset.contours = String(this.#contours.length);
    }
    this.arrange();
  }

  /** The field and its lines on a canvas of their own: they change seldom. */
  #layBehind(): void {
    const { canvas } = this.#picture;
    Object.assign(this.#behind, { width: canvas.width, height: canvas.height });
    const pen = this.#behind.getContext("2d")!;
    const ratio = canvas.width / this.#view.width;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = palette.value.paper;
    pen.fillRect(0, 0, this.#view.width, this.#view.height);
    const { left, top, right, bottom } = this.#view;
    pen.save();
    pen.beginPath();
    pen.rect(left, top, right - left, bottom - top);
    pen.clip();
    if (this.#field) this.#layField(pen, this.#field);
    pen.restore();
    pen.strokeStyle = palette.value.faint;
    pen.lineWidth = 1;
    pen.strokeRect(left, top, right - left, bottom - top);
  }

  #layField(pen: CanvasRenderingContext2D, field: Field): void {
    const [x0, y0] = toScreen(this.#view, field.x_low, field.y_low);
    const [x1, y1] = toScreen(this.#view, field.x_high, field.y_high);
    pen.imageSmoothingQuality = "high";
    pen.drawImage(this.#heat, x0, y1, x1 - x0, y0 - y1);
    pen.strokeStyle = LINE;
    for (const { level, pieces } of this.#contours) {
      const { opacity, width } = level === 0 && field.signed ? ZERO : LEVEL;
      pen.globalAlpha = opacity;
      pen.lineWidth = width;
      pen.beginPath();
      for (let i = 0; i + 3 < pieces.length; i += 4) {
        pen.moveTo(x0 + pieces[i]! * (x1 - x0), y0 + pieces[i + 1]! * (y1 - y0));
        pen.lineTo(x0 + pieces[i + 2]! * (x1 - x0), y0 + pieces[i + 3]! * (y1 - y0));
      }
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  #paintBehind(pen: CanvasRenderingContext2D): void {
    pen.drawImage(this.#behind, 0, 0, this.#view.width, this.#view.height);
  }

  #paint(frame: Frame): void {
    const [lab, settings] = [this.studio.lab.value, this.studio.controls.value];
    if (!lab || !settings || lab.revision !== frame.revision) return;
    const { studio } = this;
    const seen = { ...frame, position: this.#onScreen(frame) };
    const wanted = { seconds: studio.trailSeconds.value * studio.timeUnit.value, all: studio.trailsOfAll.value };
    const past = this.#past(frame);
    const trails = studio.trailsShown.value ? trailsOf(seen, lab, past, this.which, palette.value, wanted) : [];
    const drawing = drawingOf(seen, this.#scaled(lab), settings, this.which, palette.value, trails, 1);
    const bobs = drawing.bobs.map((bob) => ({ ...bob, radius: bob.radius * this.#scale }));
    this.#picture.paint({ ...drawing, bobs });
    this.#labels.place(drawing.labels, { ...this.#view, scale: 1, x: this.#view.width / 2, y: -this.#view.height / 2 });
    this.stage.dataset.trails = String(trails.length);
    this.handles.forEach((handle, body) => {
      if (handle) this.#moveHandle(handle, frame, lab.anchors + body);
    });
  }

  /** Pixels for one unit of x. */
  get #scale(): number {
    const { left, right, x } = this.#view;
    return (right - left) / (x[1] - x[0]);
  }

  #scaled(lab: LabView): LabView {
    return { ...lab, shapes: lab.shapes.map((shape) => ({ ...shape, radius: shape.radius * this.#scale })) };
  }

  /** Points in pixels, y upwards. */
  #onScreen({ position, dimension }: Frame): Float64Array {
    const result = Float64Array.from(position);
    for (let i = 0; i + 1 < position.length; i += dimension) {
      const [x, y] = toScreen(this.#view, position[i]!, position[i + 1]!);
      result[i] = x;
      result[i + 1] = -y;
    }
    return result;
  }

  #past({ channels, dimension }: Frame): Past {
    const { history } = this.studio;
    return {
      times: history.times,
      first: (time) => history.first(time),
      column: (index) => {
        const across = (index - channels) % dimension === 0;
        return Array.from(history.column(index), (value) =>
          across ? toScreen(this.#view, value, 0)[0] : -toScreen(this.#view, 0, value)[1],
        );
      },
    };
  }

  #moveHandle(handle: HTMLButtonElement, { position, dimension }: Frame, point: number): void {
    const at = point * dimension;
    const [x, y] = toScreen(this.#view, position[at]!, position[at + 1]!);
    handle.style.transform = `translate(${x.toFixed(2)}px, ${y.toFixed(2)}px)`;
    handle.dataset.x = String(position[at]);
    handle.dataset.y = String(position[at + 1]);
  }
}
