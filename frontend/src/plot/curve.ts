// A curve through the recent past, as a list of strokes in pixels.

import { within } from "../format";
import type { History } from "../history";

/** One variable of a plot: a column of the history, or time. */
export interface Variable {
  readonly column: number | "t";
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
 * and comes back through the other, as an angle does at half a turn, is two strokes.
 */
export function follow(history: History, curve: Curve, start: number, to: Projection, pens: readonly Pen[]): [number, number] | null {
  const [xs, ys] = [valuesOf(history, curve.x), valuesOf(history, curve.y)];
  const rows = history.length - start;
  let last: { x: number; y: number; px: number; py: number } | null = null;
  let band = -1;
  for (let i = start; i < history.length; i++) {
    const [x, y] = [shownValue(xs[i]!, curve.x), shownValue(ys[i]!, curve.y)];
    if (!Number.isFinite(x) || !Number.isFinite(y)) {
      last = null;
      continue;
    }
    const [px, py] = [to.x(x), to.y(y)];
    const here = Math.min(pens.length - 1, Math.floor(((i - start) * pens.length) / rows));
    const pen = pens[here]!;
    const jumped = last === null || turned(last.x, x, curve.x.period) || turned(last.y, y, curve.y.period);
    if (jumped) pen.moveTo(px, py);
    else if (Math.hypot(px - last!.px, py - last!.py) < NEAR && i < history.length - 1) continue;
    else {
      if (here !== band) pen.moveTo(last!.px, last!.py);
      pen.lineTo(px, py);
    }
    band = here;
    last = { x, y, px, py };
  }
  return last && [last.px, last.py];
}

export function valuesOf(history: History, variable: Variable): readonly number[] {
  return variable.column === "t" ? history.times : history.column(variable.column);
}

/** What an axis shows of a number: an angle without its whole turns, a logarithm where powers of ten are shown. */
export function shownValue(value: number, variable: Variable): number {
  return variable.logarithmic ? Math.log10(value) : within(value, variable.period);
}

/** Whether an angle went over the seam between two rows: no motion makes half a turn from one row to the next. */
function turned(before: number, now: number, period: number | null): boolean {
  return period !== null && Math.abs(now - before) > period / 2;
}
