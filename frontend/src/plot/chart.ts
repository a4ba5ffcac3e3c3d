// One chart on a canvas, outside Preact, at the pace that the machine can keep.

import type { Palette } from "../colours";
import { shortNumber, withUnit } from "../format";
import type { History } from "../history";
import { pixelRatio } from "../picture/picture";
import { type Curve, shownValue, valuesOf } from "./curve";
import { type Drawn, drawnNow, type Moved, moved, type Seam, seamOf } from "./drawn";
import {
  allLogarithmic,
  type Box,
  commonPeriod,
  dot,
  frameOf,
  type Look,
  type Plotted,
  paintAxes,
  paintCurves,
  projection,
  shadeFrom,
} from "./paint";
import { extremes, powerRange, type Range, roundRange, timeRange } from "./range";
import type { Section } from "./section";

/** A curve with the words that its readout needs. */
export interface Labelled extends Curve {
  readonly symbols: { readonly x: string; readonly y: string };
  readonly units: { readonly x: string; readonly y: string };
}

export interface ChartSpec {
  readonly curves: readonly Labelled[];
  /** Zero for the whole run. */
  readonly seconds: number;
  /** Seconds of motion that count as one of the clock. */
  readonly unit: number;
  /** One for each curve, where only these points are shown. */
  readonly sections: readonly Section[] | null;
}

/** Log axes show no more than this many powers of ten, down from the largest value. */
const DECADES = 16;
const NUMBERS = 12.5;
/** Pixels of the page's type on a screen of ordinary size. */
const USUAL_TYPE = 16;
/** Curves whose values are written out under the pointer. */
const READ = 6;

export class Chart {
  readonly #canvas = document.createElement("canvas");
  readonly #pen = this.#canvas.getContext("2d")!;
  readonly #readout = document.createElement("div");
  /** The curves as `#drawn` describes them, and axes that stand still, on a canvas of the same size. */
  readonly #past = document.createElement("canvas");
  readonly #pastPen = this.#past.getContext("2d")!;
  #drawn: Drawn | null = null;
  #spec: ChartSpec = { curves: [], seconds: 1, unit: 1, sections: null };
  #size = { width: 0, height: 0, ratio: 1, type: 1 };
  #now = 0;
  /** The time after which the motion is one of many possible ones, shaded over the time; null where there is none. */
  known: number | null = null;
  #pointer: readonly [number, number] | null = null;

  constructor(
    private readonly root: HTMLElement,
    private readonly history: History,
    private palette: Palette,
    /** Of the numbers, in pixels where the page's type has its usual size. */
    private readonly fontSize = NUMBERS,
  ) {
    this.#canvas.setAttribute("aria-hidden", "true");
    this.#readout.className = "readout";
    this.#readout.hidden = true;
    root.append(this.#canvas, this.#readout);
    root.addEventListener("pointermove", this.#point);
    root.addEventListener("pointerdown", this.#point);
    root.addEventListener("pointerleave", this.#leave);
    this.resize();
  }

  /** How many rows the chart draws from. */
  get rows(): number {
    return this.history.length - this.#start;
  }

  /** How many points of a section it has. */
  get points(): number {
    return (this.#spec.sections ?? []).reduce((sum, section) => sum + section.times.length, 0);
  }

  show(spec: ChartSpec, palette: Palette): void {
    this.#spec = spec;
    this.palette = palette;
    this.#drawn = null;
    this.draw(this.#now);
  }

  resize(): void {
    const ratio = pixelRatio();
    const [width, height] = [Math.max(120, this.root.clientWidth), Math.max(80, this.root.clientHeight)];
    // Numbers follow the page's type, which is larger on a large screen and in a presentation.
    const type = parseFloat(getComputedStyle(document.documentElement).fontSize) / USUAL_TYPE || 1;
    this.#size = { width, height, ratio, type };
    this.#canvas.width = this.#past.width = Math.round(width * ratio);
    this.#canvas.height = this.#past.height = Math.round(height * ratio);
    this.#drawn = null;
    this.draw(this.#now);
  }

  /** Draw the seconds before `now`. */
  draw(now: number): void {
    this.#now = now;
    for (const section of this.#spec.sections ?? []) section.follow(this.history);
    const { width, height, ratio, type } = this.#size;
    const look: Look = { palette: this.palette, size: this.fontSize * type };
    const box = this.#frame(width, height, look);
    const time = this.#overTime ? this.#timeRange() : null;
    const { pixels, ranges } = this.#followPast(box, look, time);
    const plotted = { ...this.#drawn!.plotted, ranges, start: this.#start };
    const seam = this.#seam(plotted, box);
    this.#pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.#pen.clearRect(0, 0, width, height);
    if (time && this.known !== null) shadeFrom(this.#pen, this.known, plotted, box, look);
    if (time) paintAxes(this.#pen, plotted, box, look); // other axes stand still
    this.#showPast(box, pixels, seam.x);
    paintCurves(this.#pen, this.history, { ...plotted, start: seam.row }, box, "new", seam.x);
    this.#read(plotted, box);
  }

  /** Where the curves of the past are to be shown, after what is too old or does not fit any more has been drawn again. */
  #followPast(box: Box, look: Look, time: Range | null): Moved {
    const found = this.#drawn && moved(this.history, this.#drawn, time, box.width * this.#size.ratio);
    if (!found) return this.#drawPast(box, look);
    if (!found.old) return found;
    const [low, high] = this.#range("y", this.#start);
    const fits = time && low === found.ranges.y[0] && high === found.ranges.y[1];
    return fits ? this.#extendPast(box, found) : this.#drawPast(box, look);
  }

  #drawPast(box: Box, look: Look): Moved {
    const { width, height, ratio } = this.#size;
    const plotted = this.plotted();
    this.#drawn = drawnNow(this.history, plotted);
    this.#pastPen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.#pastPen.clearRect(0, 0, width, height);
    if (!this.#overTime) paintAxes(this.#pastPen, plotted, box, look);
    paintCurves(this.#pastPen, this.history, plotted, box, "past");
    return { pixels: 0, ranges: plotted.ranges, old: false };
  }

  /** Move the curves over time of the past to where they are now, and add the rows that are new. */
  #extendPast(box: Box, { pixels, ranges }: Moved): Moved {
    const [pen, { width, height, ratio }] = [this.#pastPen, this.#size];
    const plotted = { ...this.#drawn!.plotted, ranges, start: this.#start };
    const seam = this.#seam(plotted, box);
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.globalCompositeOperation = "copy";
    pen.drawImage(this.#past, -pixels, 0);
    pen.globalCompositeOperation = "source-over";
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(seam.x, 0, width - seam.x, height);
    paintCurves(pen, this.history, { ...plotted, start: seam.row }, box, "new", seam.x);
    this.#drawn = drawnNow(this.history, plotted);
    return { pixels: 0, ranges, old: false };
  }

  #seam(plotted: Plotted, box: Box): Seam {
    const { rows } = this.#drawn!;
    if (this.#overTime) return seamOf(this.history, rows, plotted, box, this.#size.ratio);
    return { x: box.left, row: Math.max(plotted.start, rows - 1) };
  }

  /** Show the curves of the past, so many pixels of the canvas to the left of where they were; over time up to the seam. */
  #showPast({ left, top, height }: Box, pixels: number, seam: number): void {
    this.#pen.save();
    if (this.#overTime) {
      this.#pen.beginPath();
      this.#pen.rect(left, top, seam - left, height);
      this.#pen.clip();
    }
    this.#pen.setTransform(1, 0, 0, 1, 0, 0);
    this.#pen.drawImage(this.#past, -pixels, 0);
    this.#pen.restore();
  }

  /** What the chart shows, for drawing it elsewhere. */
  plotted(): Plotted & { readonly curves: readonly Labelled[] } {
    const start = this.#start;
    const ranges = { x: this.#range("x", start), y: this.#range("y", start) };
    return { curves: this.#spec.curves, sections: this.#spec.sections, ranges, start };
  }

  get square(): boolean {
    return this.#spec.curves[0]?.x.column !== "t";
  }

  dispose(): void {
    this.#canvas.remove();
    this.#readout.remove();
    this.root.removeEventListener("pointermove", this.#point);
    this.root.removeEventListener("pointerdown", this.#point);
    this.root.removeEventListener("pointerleave", this.#leave);
  }

  get #start(): number {
    return this.#spec.seconds > 0 ? this.history.first(this.#now - this.#spec.seconds) : 0;
  }

  #frame(width: number, height: number, look: Look): Box {
    return frameOf(width, height, this.square, look);
  }

  #range(axis: "x" | "y", start: number): Range {
    const variables = this.#spec.curves.map((curve) => curve[axis]);
    const period = commonPeriod(variables);
    if (period !== null) return [-period / 2, period / 2];
    if (variables[0]?.column === "t" && !this.#spec.sections) return this.#timeRange();
    const found = this.#spec.sections
      ? this.#spec.sections.map((section) => extremes(section[axis], 0))
      : variables.map((variable) => extremes(valuesOf(this.history, variable), start, (v) => shownValue(v, variable)));
    const [low, high] = [Math.min(...found.map(([l]) => l)), Math.max(...found.map(([, h]) => h))];
    return allLogarithmic(variables) ? powerRange(low, high, DECADES) : roundRange(low, high);
  }

  get #overTime(): boolean {
    return this.#spec.curves[0]?.x.column === "t" && !this.#spec.sections;
  }

  #timeRange(): Range {
    return timeRange(this.history.times[0] ?? this.#now, this.#now, this.#spec.seconds, this.#spec.unit);
  }

  readonly #point = (event: PointerEvent): void => {
    const box = this.root.getBoundingClientRect();
    this.#pointer = [event.clientX - box.left, event.clientY - box.top];
    this.draw(this.#now);
  };

  readonly #leave = (): void => {
    this.#pointer = null;
    this.draw(this.#now);
  };

  /** Write out the values nearest to the pointer, and mark them. */
  #read(plotted: Plotted, box: Box): void {
    const found = this.#pointer && this.#nearest(plotted, box, this.#pointer);
    this.#readout.hidden = !found;
    if (!found) return;
    const to = projection(box, plotted.ranges);
    const parts: string[] = found.time === null ? [] : [`t = ${withUnit(shortNumber(found.time), "s")}`];
    for (const { curve, x, y } of found.values) {
      this.#pen.fillStyle = curve.colour;
      dot(this.#pen, to.x(x), to.y(y), 3.5);
      const written = (axis: "x" | "y", value: number): string => {
        const number = curve[axis].logarithmic ? 10 ** value : value;
        return `${curve.symbols[axis]} = ${withUnit(shortNumber(number), curve.units[axis])}`;
      };
      if (curve.x.column !== "t") parts.push(written("x", x));
      parts.push(written("y", y));
    }
    this.#readout.textContent = parts.join("\n");
    // On the other side of the frame, where it hides nothing that the pointer is at.
    this.#readout.classList.toggle("right", this.#pointer![0] < box.left + box.width / 2);
  }

  #nearest(plotted: Plotted, box: Box, [px, py]: readonly [number, number]): Found | null {
    const to = projection(box, plotted.ranges);
    if (this.#overTime) return this.#atTime(plotted.ranges.x, box, px);
    let best: Found | null = null;
    let near = Infinity;
    this.#spec.curves.forEach((curve, c) => {
      const section = this.#spec.sections?.[c];
      const [xs, ys] = section ? [section.x, section.y] : [valuesOf(this.history, curve.x), valuesOf(this.history, curve.y)];
      const times = section ? section.times : this.history.times;
      for (let i = section ? 0 : plotted.start; i < xs.length; i++) {
        const [x, y] = section ? [xs[i]!, ys[i]!] : [shownValue(xs[i]!, curve.x), shownValue(ys[i]!, curve.y)];
        const away = Math.hypot(to.x(x) - px, to.y(y) - py);
        if (away < near) [near, best] = [away, { time: times[i]!, values: [{ curve, x, y }] }];
      }
    });
    return best;
  }

  #atTime(range: Range, box: Box, px: number): Found | null {
    const time = range[0] + ((px - box.left) / box.width) * (range[1] - range[0]);
    const times = this.history.times;
    let row = this.history.first(time);
    if (row > 0 && (row === times.length || time - times[row - 1]! < times[row]! - time)) row--;
    if (times[row] === undefined) return null;
    const values = this.#spec.curves.slice(0, READ).flatMap((curve) => {
      const y = shownValue(valuesOf(this.history, curve.y)[row]!, curve.y);
      return Number.isFinite(y) ? [{ curve, x: times[row]!, y }] : [];
    });
    return { time: times[row]!, values };
  }
}

interface Found {
  readonly time: number | null;
  readonly values: readonly { readonly curve: Labelled; readonly x: number; readonly y: number }[];
}
