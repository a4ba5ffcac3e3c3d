// The curves of a chart as they were drawn a moment ago. Until they are too old, a chart shows them once more, moved by whole
// pixels where time passes, and draws only the rows that came since.

import type { History } from "../history";
import { shownValue, valuesOf } from "./curve";
import { type Box, type Plotted, projection } from "./paint";
import type { Range } from "./range";

/** What was drawn, and of which rows. */
export interface Drawn {
  readonly plotted: Plotted;
  /** `History.edits` and `History.length` at the time. */
  readonly edits: number;
  readonly rows: number;
  /** How many points each section had. */
  readonly points: readonly number[];
}

/** What is shown of it: everything `pixels` further to the left. */
export interface Moved {
  readonly pixels: number;
  readonly ranges: Plotted["ranges"];
  /** Whether so many rows are new that they should belong to what is drawn. */
  readonly old: boolean;
}

/** The part of the rows that may be new: a curve that fades with age has eight shades. */
const NEW = 1 / 12;

export function drawnNow(history: History, plotted: Plotted): Drawn {
  return { plotted, edits: history.edits, rows: history.length, points: pointsOf(plotted) };
}

/**
 * How curves that were drawn earlier can stand for those of now, or null where they cannot. `time` are the times that are
 * shown, null for an axis that is not of time, and `width` the pixels of the canvas along it.
 */
export function moved(history: History, drawn: Drawn, time: Range | null, width: number): Moved | null {
  const { curves, ranges, start } = drawn.plotted;
  if (history.edits !== drawn.edits) return null;
  const old = history.length - drawn.rows > NEW * (drawn.rows - start);
  if (pointsOf(drawn.plotted).some((count, i) => count !== drawn.points[i])) return null;
  for (const curve of drawn.plotted.sections ? [] : curves) {
    for (const axis of time ? (["y"] as const) : (["x", "y"] as const)) {
      const [values, [low, high]] = [valuesOf(history, curve[axis]), ranges[axis]];
      for (let i = drawn.rows; i < history.length; i++) {
        const value = shownValue(values[i]!, curve[axis]);
        if (value < low || value > high) return null;
      }
    }
  }
  if (!time) return { pixels: 0, ranges, old };
  const span = ranges.x[1] - ranges.x[0];
  if (Math.abs(time[1] - time[0] - span) > 1e-9 * span || time[0] < ranges.x[0]) return null;
  const pixels = Math.round(((time[0] - ranges.x[0]) / span) * width);
  const left = ranges.x[0] + (pixels / width) * span;
  return { pixels, ranges: { x: [left, left + span], y: ranges.y }, old };
}

/** Where the past ends and what is new begins, in pixels, and the row from which the new part is drawn. */
export interface Seam {
  readonly x: number;
  readonly row: number;
}

/** Pixels by which a line is drawn anew where it goes on: more than its width. */
export const JOINT = 3;

/**
 * The seam of curves over time of which the first `rows` rows were drawn: the edge of a pixel of the canvas, which has `ratio`
 * of them to one of the page, a little before the end of the past, and a row so far before it that a line from there looks as
 * if there were no seam.
 */
export function seamOf(history: History, rows: number, { ranges, start }: Plotted, box: Box, ratio: number): Seam {
  const end = projection(box, ranges).x(history.times[Math.max(start, rows - 1)] ?? ranges.x[0]);
  const x = Math.max(box.left, Math.floor((end - JOINT) * ratio) / ratio);
  const second = (ranges.x[1] - ranges.x[0]) / box.width;
  return { x, row: Math.max(start, history.first(ranges.x[0] + (x - JOINT - box.left) * second) - 1) };
}

function pointsOf({ sections }: Plotted): number[] {
  return (sections ?? []).map((section) => section.times.length);
}
