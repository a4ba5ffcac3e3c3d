// The path of a body through its samples, rounded as the motion was.

import type { History } from "../history";
import type { Trail } from "./picture";

/** Pieces into which the path between two samples is cut. */
const PIECES = 4;

/**
 * The recorded places, joined by cubics whose slopes are those of the parabola through each sample and its neighbours: a
 * fast turn between two samples looks like the curve it was. `duration` is the time a trail lasts.
 */
export function trailOf(history: History, body: number, now: number, duration: number): Trail {
  const [times, xs = [], ys = []] = history.data;
  const result = { body, x: [] as (number | null)[], y: [] as (number | null)[], age: [] as number[] };
  const add = (x: number | null, y: number | null, time: number): void => {
    result.x.push(x);
    result.y.push(y);
    result.age.push(Math.min(1, Math.max(0, (now - time) / duration)));
  };
  for (let i = 0; i < times.length; i++) {
    const next = times[i + 1];
    add(xs[i] ?? null, ys[i] ?? null, times[i]!);
    if (xs[i] == null || next === undefined || xs[i + 1] == null) continue;
    for (let piece = 1; piece < PIECES; piece++) {
      const u = piece / PIECES;
      add(between(times, xs, i, u), between(times, ys, i, u), times[i]! + u * (next - times[i]!));
    }
  }
  return result;
}

/** Hermite's cubic from sample i to the next, a fraction u of the way. */
function between(times: readonly number[], values: readonly (number | null)[], i: number, u: number): number {
  const step = times[i + 1]! - times[i]!;
  const [b, c] = [values[i]!, values[i + 1]!];
  const [out, into] = [step * slope(times, values, i), step * slope(times, values, i + 1)];
  return b + u * (out + u * (3 * (c - b) - 2 * out - into + u * (2 * (b - c) + out + into)));
}

/** Of the parabola through sample i and its neighbours, which need not be even in time; of the chord at an end. */
function slope(times: readonly number[], values: readonly (number | null)[], i: number): number {
  const [before, here, next] = [values[i - 1], values[i]!, values[i + 1]];
  const [h, k] = [times[i]! - times[i - 1]!, times[i + 1]! - times[i]!];
  if (before == null) return next == null ? 0 : (next - here) / k;
  if (next == null) return (here - before) / h;
  return ((k * (here - before)) / h + (h * (next - here)) / k) / (h + k);
}
