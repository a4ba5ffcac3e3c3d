// A curve through the recent past, as a list of strokes in pixels.

import { within } from "../format";
import type { History } from "../history";
import { Derived } from "./derived";

/** One variable of a plot: a column of the history, time, or a formula of them. */
export interface Variable {
  readonly column: number | "t" | Derived;
  /** A turn, for what comes back to itself. */
  readonly period: number | null;
  /** Whether powers of ten are shown: the decimal logarithm stands for the number. */
  readonly logarithmic: boolean;
}

export interface Curve {
  readonly x: Variable;
  readonly y: Variable;
  readonly colour: string;
  /** Of the second motion that runs beside the first. */
  readonly ghost: boolean;
}

export interface Projection {
  x(value: number): number;
  y(value: number): number;
}

/** Rows nearer than this to the last one that was drawn, in pixels, change nothing that one can see. */
const NEAR = 0.5;

interface Pen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
}

/**
 * Follow a curve from row `start` on, calling a pen of the right age. A curve that leaves its range through one side
 * and comes back through the other, as an angle does at half a turn, is two strokes. Of a curve against another variable
 * than time every `stride`-th row is drawn, and the last.
 */
export function follow(
  history: History,
  curve: Curve,
  start: number,
  to: Projection,
  pens: readonly Pen[],
  stride = 1,
): [number, number] | null {
  const [xs, ys] = [valuesOf(history, curve.x), valuesOf(history, curve.y)];
  const rows = history.length - start;
  const overTime = curve.x.column === "t";
  let last: { px: number; py: number } | null = null;
  /** The row before, drawn or not. */
  let [x0, y0] = [NaN, NaN];
  let band = -1;
  /** The column of pixels that is being drawn over time, and from where to where it is covered already. */
  let [column, top, bottom] = [NaN, Infinity, -Infinity];
  for (let i = start; i < history.length; i++) {
    const [x, y] = [shownValue(xs[i]!, curve.x), shownValue(ys[i]!, curve.y)];
    if (!Number.isFinite(x) || !Number.isFinite(y)) {
      last = null;
      continue;
    }
    const [px, py] = [to.x(x), to.y(y)];
    const here = Math.min(pens.length - 1, Math.floor(((i - start) * pens.length) / rows));
    const pen = pens[here]!;
    const jumped = last === null || turned(x0, x, curve.x.period) || turned(y0, y, curve.y.period);
    [x0, y0] = [x, y];
    if (jumped) pen.moveTo(px, py);
    else if (i < history.length - 1 && Math.hypot(px - last!.px, py - last!.py) < NEAR) continue;
    // Rows are left out by their number, so that the same ones are drawn with the next frame.
    else if (i < history.length - 1 && !overTime && i % stride !== 0) continue;
    else if (i < history.length - 1 && Math.floor(px) === column && overTime && py >= top && py <= bottom) continue;
    else {
      if (here !== band) pen.moveTo(last!.px, last!.py);
      pen.lineTo(px, py);
    }
    if (Math.floor(px) !== column || jumped) [column, top, bottom] = [Math.floor(px), py, py];
    else [top, bottom] = [Math.min(top, py), Math.max(bottom, py)];
    band = here;
    last = { px, py };
  }
  return last && [last.px, last.py];
}

export function valuesOf(history: History, variable: Variable): readonly number[] {
  const { column } = variable;
  if (column instanceof Derived) return column.values(history);
  return column === "t" ? history.times : history.column(column);
}

/** What an axis shows of a number: an angle without its whole turns, a logarithm where powers of ten are shown. */
export function shownValue(value: number, variable: Variable): number {
  return variable.logarithmic ? Math.log10(value) : within(value, variable.period);
}

/** Whether an angle went over the seam between two rows: no motion makes half a turn from one row to the next. */
function turned(before: number, now: number, period: number | null): boolean {
  return period !== null && Math.abs(now - before) > period / 2;
}
