// A Poincaré section: the points of a curve at the moments when a variable passes through a value, growing.

import { within } from "../format";
import type { History } from "../history";
import { shownValue, type Variable, valuesOf } from "./curve";

/** Steps of the search for the moment between two rows; each halves the interval at least. */
const HALVINGS = 40;

/**
 * Points (x, y) where `crossing` passes upwards through `at`, from the rows of a history as they come. Points stay when
 * their rows are forgotten, and go when time is taken back before them.
 *
 * Between rows numbers are those of the cubic through four of them; angles are taken from row to row without their turns.
 */
export class Section {
  readonly times: number[] = [];
  readonly x: number[] = [];
  readonly y: number[] = [];
  #last = -Infinity;
  #epoch = -1;

  constructor(
    private readonly crossing: Variable,
    private readonly at: number,
    private readonly along: { readonly x: Variable; readonly y: Variable },
  ) {}

  /** Take in the rows that are new. */
  follow(history: History): void {
    const end = history.times[history.length - 1] ?? -Infinity;
    if (history.epoch !== this.#epoch) this.#cut(-Infinity);
    else if (end < this.#last) this.#cut(end);
    this.#epoch = history.epoch;
    const values = valuesOf(history, this.crossing);
    const turn = this.crossing.period;
    const height = (i: number): number => (turn === null ? values[i]! - this.at : within(values[i]! - this.at, turn));
    for (let i = Math.max(1, history.first(this.#last) + 1); i < history.length; i++) {
      const [before, now] = [height(i - 1), height(i)];
      if (!(before < 0 && now >= 0) || (turn !== null && now - before > turn / 2)) continue;
      const part = root((u) => between(history.times, values, turn, i - 1, u) - values[i - 1]! + before, now === 0 ? 1 : 0);
      const time = history.times[i - 1]! + part * (history.times[i]! - history.times[i - 1]!);
      this.times.push(time);
      for (const axis of ["x", "y"] as const) {
        const variable = this.along[axis];
        const value = between(history.times, valuesOf(history, variable), variable.period, i - 1, part);
        this[axis].push(shownValue(value, variable));
      }
    }
    this.#last = end;
  }

  #cut(end: number): void {
    const kept = this.times.filter((time) => time <= end).length;
    for (const list of [this.times, this.x, this.y]) list.length = kept;
    this.#last = end;
  }
}

/** Where a function that is negative at 0 and not so at 1 vanishes; `start` is an end where it is known to. */
function root(height: (u: number) => number, start: 0 | 1): number {
  if (start === 1) return 1;
  let [low, high] = [0, 1];
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2;
    if (height(middle) < 0) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The number a part u of the way from row i to the next, by the polynomial through up to four rows. */
function between(times: readonly number[], values: readonly number[], turn: number | null, i: number, u: number): number {
  const rows = [i - 1, i, i + 1, i + 2].filter((row) => Number.isFinite(values[row]) && Number.isFinite(times[row]));
  const base = values[i]!;
  const near = (row: number): number => (turn === null ? values[row]! : base + within(values[row]! - base, turn));
  const time = times[i]! + u * (times[i + 1]! - times[i]!);
  let sum = 0;
  for (const row of rows) {
    let weight = near(row);
    for (const other of rows) if (other !== row) weight *= (time - times[other]!) / (times[row]! - times[other]!);
    sum += weight;
  }
  return sum;
}

const kept = new WeakMap<History, Map<string, readonly Section[]>>();

/** The sections under a name, made once for each history: a plot that is enlarged has the points that it had before. */
export function sectionsOf(history: History, name: string, make: () => readonly Section[]): readonly Section[] {
  const all = kept.get(history) ?? new Map<string, readonly Section[]>();
  kept.set(history, all);
  const found = all.get(name) ?? make();
  all.set(name, found);
  return found;
}
