// The velocity of a hand when it lets go of a body.

import type { Triple } from "./camera";

/** A place of the hand in metres, and the clock in milliseconds. */
export type Sample = readonly [x: number, y: number, z: number, clock: number];

/** Milliseconds over which the velocity is measured. */
const OVER = 80;
/** On a slow machine places come seldom: up to this many milliseconds between two of them are one movement. */
const SLOWEST = 350;

/**
 * In metres a second, from the last places before the hand let go at `now`. A hand that rested first throws nothing:
 * one that reported no place for longer than `OVER`, and for more than twice the time between its last two places.
 */
export function throwVelocity(samples: readonly Sample[], now: number): Triple {
  const [before, last] = [samples.at(-2), samples.at(-1)];
  if (!before || !last) return [0, 0, 0];
  const patience = Math.min(SLOWEST, Math.max(OVER, 2.2 * (last[3] - before[3])));
  if (now - last[3] > patience) return [0, 0, 0];
  const first = samples.find((sample, i) => last[3] - sample[3] <= OVER && i < samples.length - 1) ?? before;
  const seconds = (last[3] - first[3]) / 1000;
  if (!(seconds > 0) || seconds > SLOWEST / 1000) return [0, 0, 0];
  return [(last[0] - first[0]) / seconds, (last[1] - first[1]) / seconds, (last[2] - first[2]) / seconds];
}
