// The path of a body through its samples, rounded as the motion was.

import type { Past } from "./camera";
import type { Trail } from "./picture";

/** Pieces into which the path between two samples is cut. */
const PIECES = 4;

/**
 * The recorded places, joined by cubics whose slopes are those of the parabola through each sample and its neighbours: a
 * fast turn between two samples looks like the curve it was. `columns` are those of x and y in the history, `duration`
 * the time a trail lasts.
 */
export function trailOf(
  history: Past,
  columns: readonly [number, number],
  now: number,
  duration: number,
  pieces = PIECES,
): Pick<Trail, "x" | "y" | "age"> {
  const times = history.times;
  const [xs, ys] = [history.column(columns[0]), history.column(columns[1])];
  const result = { x: [] as number[], y: [] as number[], age: [] as number[] };
  const add = (x: number, y: number, time: number): void => {
    result.x.push(x);
    result.y.push(y);
    result.age.push(Math.min(1, Math.max(0, (now - time) / duration)));
  };
  const first = Math.max(0, history.first(now - duration) - 1);
  let [slopeX, slopeY] = [slope(times, xs, first), slope(times, ys, first)];
  for (let i = first; i < times.length; i++) {
    const [x, y, time] = [xs[i]!, ys[i]!, times[i]!];
    add(x, y, time);
    if (i + 1 >= times.length) break;
    const step = times[i + 1]! - time;
    const [outX, outY] = [step * slopeX, step * slopeY];
    [slopeX, slopeY] = [slope(times, xs, i + 1), slope(times, ys, i + 1)];
    if (Number.isNaN(x) || Number.isNaN(xs[i + 1])) continue;
    for (let piece = 1; piece < pieces; piece++) {
      const u = piece / pieces;
      add(hermite(x, xs[i + 1]!, outX, step * slopeX, u), hermite(y, ys[i + 1]!, outY, step * slopeY, u), time + u * step);
    }
  }
  return result;
}

/** Hermite's cubic from one value to the next, a fraction u of the way; the slopes are those for u. */
function hermite(from: number, to: number, out: number, into: number, u: number): number {
  return from + u * (out + u * (3 * (to - from) - 2 * out - into + u * (2 * (from - to) + out + into)));
}

/** Of the parabola through sample i and its neighbours, which need not be even in time; of the chord at an end. */
function slope(times: readonly number[], values: readonly number[], i: number): number {
  const [before, here, next] = [values[i - 1] ?? NaN, values[i]!, values[i + 1] ?? NaN];
  const [h, k] = [times[i]! - times[i - 1]!, times[i + 1]! - times[i]!];
  if (Number.isNaN(before)) return Number.isNaN(next) ? 0 : (next - here) / k;
  if (Number.isNaN(next)) return (here - before) / h;
  return ((k * (here - before)) / h + (h * (next - here)) / k) / (h + k);
}
