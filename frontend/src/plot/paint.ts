// A plot on any pen: a frame of axes with numbers, curves or points in it.

import type { Palette } from "../colours";
import type { History } from "../history";
import type { Pen } from "../picture/pen";
import { type Curve, follow, type Projection, type Variable } from "./curve";
import { type Range, splits, tickText, turnSplits, turnText } from "./range";
import type { Section } from "./section";

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface Plotted {
  readonly curves: readonly Curve[];
  /** One for each curve, where only the points of a section are shown. */
  readonly sections: readonly Section[] | null;
  readonly ranges: { readonly x: Range; readonly y: Range };
  /** The first row that is shown. */
  readonly start: number;
}

export interface Look {
  readonly palette: Palette;
  /** Height of the numbers in pixels. */
  readonly size: number;
  /** What is written along the axes; nothing where the page says it. */
  readonly names?: { readonly x: string; readonly y: string };
}

const FAMILY = '"Source Serif 4", Georgia, serif';
const LINE = 2;
const HEAD = 4;
const DOT = 1.7;
/** Of curves that are not over time, one row is drawn for so many pixels of the frame: more could not be told apart. */
const PIXELS = 4;
/** Age bands of a curve that is not over time: it fades, so that one sees which way it went. */
const BANDS = 8;

/** The place of the frame in a plot of this size. A square one is in the middle. */
export function frameOf(width: number, height: number, square: boolean, { size, names }: Look): Box {
  const [left, bottom] = [3.7 * size + (names ? 1.6 * size : 0), 2 * size + (names ? 1.6 * size : 0)];
  const [right, top] = [size, 0.7 * size];
  const [w, h] = [Math.max(10, width - left - right), Math.max(10, height - top - bottom)];
  if (!square) return { left, top, width: w, height: h };
  const side = Math.min(w, h);
  return { left: left + (w - side) / 2, top: top + (h - side) / 2, width: side, height: side };
}

export function projection({ left, top, width, height }: Box, { x, y }: Plotted["ranges"]): Projection {
  return {
    x: (value) => left + (width * (value - x[0])) / (x[1] - x[0]),
    y: (value) => top + height - (height * (value - y[0])) / (y[1] - y[0]),
  };
}

export function paint(pen: Pen, history: History, plotted: Plotted, box: Box, look: Look): void {
  paintAxes(pen, plotted, box, look);
  paintCurves(pen, history, plotted, box, "all");
}

/** Which part of the curves is painted: what they were, without the marks at their heads, the rows from `start` on, or all. */
export type Part = "past" | "new" | "all";

/** `from` is where the curves begin in the frame, in pixels; what lies before is not painted. */
export function paintCurves(pen: Pen, history: History, plotted: Plotted, box: Box, part: Part, from = box.left): void {
  const to = projection(box, plotted.ranges);
  pen.save();
  pen.beginPath();
  pen.rect(from, box.top, box.left + box.width - from, box.height);
  pen.clip();
  pen.lineJoin = "bevel"; // of thousands of short pieces; round joints would cost more than the lines
  const stride = part === "new" ? 1 : strideOf(plotted.curves.length * (history.length - plotted.start), box);
  plotted.curves.forEach((curve, i) => {
    const section = plotted.sections?.[i];
    if (section) dots(pen, curve, section, to, part);
    else line(pen, history, curve, plotted.start, to, stride, part);
  });
  pen.restore();
}

/** Round numbers along an axis and how they are written. */
export function numbersOf(variables: readonly Variable[], range: Range, room: number): { values: number[]; texts: string[] } {
  const period = commonPeriod(variables);
  if (period !== null && Math.abs(period - 2 * Math.PI) < 1e-12) {
    const values = turnSplits(period, Math.max(2, room));
    return { values, texts: turnText(values) };
  }
  const values = splits(range, Math.min(8, Math.max(2, room)));
  if (!allLogarithmic(variables)) return { values, texts: tickText(values) };
  const whole = values.filter(Number.isInteger);
  return { values: whole, texts: whole.map(power) };
}

/** Shade what is later than a time. */
export function shadeFrom(pen: Pen, time: number, { ranges }: Plotted, box: Box, { palette }: Look): void {
  const right = box.left + box.width;
  const from = Math.max(box.left, projection(box, ranges).x(time));
  if (!(from < right)) return;
  pen.fillStyle = palette.grid;
  pen.fillRect(from, box.top, right - from, box.height);
}

export function paintAxes(pen: Pen, { curves, ranges }: Plotted, box: Box, { palette, size, names }: Look): void {
  const { left, top, width, height } = box;
  const to = projection(box, ranges);
  const x = numbersOf(curves.map((curve) => curve.x), ranges.x, width / (4.8 * size)); // biome-ignore format: one line each
  const y = numbersOf(curves.map((curve) => curve.y), ranges.y, height / (2.7 * size)); // biome-ignore format: one line each
  pen.strokeStyle = palette.grid;
  pen.lineWidth = 1;
  pen.beginPath();
  for (const value of x.values) segment(pen, to.x(value), top, to.x(value), top + height + 4);
  for (const value of y.values) segment(pen, left - 4, to.y(value), left + width, to.y(value));
  pen.stroke();
  pen.fillStyle = palette.faint;
  pen.font = `${size}px ${FAMILY}`;
  pen.textAlign = "center";
  pen.textBaseline = "top";
  x.values.forEach((value, i) => pen.fillText(x.texts[i]!, to.x(value), top + height + 0.45 * size));
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  y.values.forEach((value, i) => pen.fillText(y.texts[i]!, left - 0.55 * size, to.y(value)));
  if (names) titles(pen, names, box, size, palette.ink);
}

function titles(pen: Pen, names: { x: string; y: string }, { left, top, width, height }: Box, size: number, ink: string): void {
  pen.fillStyle = ink;
  pen.font = `${1.1 * size}px ${FAMILY}`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillText(names.x, left + width / 2, top + height + 2.7 * size);
  pen.save();
  pen.translate(left - 4.4 * size, top + height / 2);
  pen.rotate(-Math.PI / 2);
  pen.fillText(names.y, 0, 0);
  pen.restore();
}

function segment(pen: Pen, x0: number, y0: number, x1: number, y1: number): void {
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
}

/** Which of so many rows are drawn in a frame of this size: every first, second, fourth… */
function strideOf(rows: number, { width, height }: Box): number {
  const most = (width * height) / PIXELS;
  return 2 ** Math.max(0, Math.ceil(Math.log2(rows / most)));
}

function line(pen: Pen, history: History, curve: Curve, start: number, to: Projection, stride: number, part: Part): void {
  const faded = curve.x.column !== "t";
  const fades = faded && part !== "new"; // what is new is of one age
  const bands = Array.from({ length: fades ? BANDS : 1 }, () => new Stroke());
  const head = follow(history, curve, start, to, bands, stride);
  pen.lineWidth = LINE;
  pen.strokeStyle = pen.fillStyle = curve.colour;
  pen.setLineDash(curve.ghost ? [5, 4] : []);
  bands.forEach((band, i) => {
    pen.globalAlpha = (curve.ghost ? 0.75 : 1) * (fades ? 0.12 + (0.88 * (i + 1)) / BANDS : 1);
    band.draw(pen);
  });
  pen.globalAlpha = 1;
  pen.setLineDash([]);
  if (faded && head && part !== "past") dot(pen, head[0], head[1], HEAD);
}

function dots(pen: Pen, curve: Curve, { x, y }: Section, to: Projection, part: Part): void {
  pen.fillStyle = curve.colour;
  if (part !== "new") x.forEach((value, i) => dot(pen, to.x(value), to.y(y[i]!), DOT));
  if (part !== "past" && x.length > 0) dot(pen, to.x(x[x.length - 1]!), to.y(y[x.length - 1]!), HEAD);
}

export function dot(pen: Pen, x: number, y: number, radius: number): void {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fill();
}

/** A stroke that is remembered until all are known. */
class Stroke {
  readonly #points: number[] = [];

  moveTo(x: number, y: number): void {
    this.#points.push(NaN, NaN, x, y);
  }

  lineTo(x: number, y: number): void {
    this.#points.push(x, y);
  }

  draw(pen: Pen): void {
    const points = this.#points;
    if (points.length === 0) return;
    pen.beginPath();
    for (let i = 0; i < points.length; i += 2) {
      if (!Number.isNaN(points[i]!)) pen.lineTo(points[i]!, points[i + 1]!);
      else {
        i += 2;
        pen.moveTo(points[i]!, points[i + 1]!);
      }
    }
    pen.stroke();
  }
}

export function commonPeriod(variables: readonly Variable[]): number | null {
  const period = variables[0]?.period ?? null;
  return variables.every((variable) => variable.period === period) ? period : null;
}

export function allLogarithmic(variables: readonly Variable[]): boolean {
  return variables.length > 0 && variables.every((variable) => variable.logarithmic);
}

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** 10⁻³ for −3. */
function power(exponent: number): string {
  const digits = [...String(Math.abs(exponent))].map((digit) => RAISED[Number(digit)]).join("");
  return `10${exponent < 0 ? "⁻" : ""}${digits}`;
}
