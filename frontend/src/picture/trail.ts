// The path of a body through its samples, rounded as the motion was.

import type { History } from "../history";
import type { Trail } from "./picture";

/** Pieces into which the path between two samples is cut. */
const PIECES = 4;

/**
 * The recorded places, joined by Catmull and Rom's cubic: samples are even in time, so its tangents are the velocities to
 * second order, and a fast turn between two samples looks like the curve it was. `duration` is the time a trail lasts.
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
      add(between(xs, i, u), between(ys, i, u), times[i]! + u * (next - times[i]!));
    }
  }
  return result;
}

/** The cubic through values i and i+1 with the slopes of their neighbours; where one is missing, the end's own chord. */
function between(values: readonly (number | null)[], i: number, u: number): number {
  const [b, c] = [values[i]!, values[i + 1]!];
  const a = values[i - 1] ?? 2 * b - c;
  const d = values[i + 2] ?? 2 * c - b;
  return b + 0.5 * u * (c - a + u * (2 * a - 5 * b + 4 * c - d + u * (3 * (b - c) + d - a)));
}
