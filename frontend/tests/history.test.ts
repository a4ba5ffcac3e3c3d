import { describe, expect, it } from "vitest";
import { History } from "../src/history";

/** Times and columns as they are, NaN included. */
const all = (history: History): number[][] => [
  [...history.times],
  ...Array.from({ length: history.width }, (_, i) => [...history.column(i)]),
];

describe("History", () => {
  it("keeps rows in the order of time and at least the last seconds", () => {
    const history = new History(2, 1);
    for (let i = 0; i <= 300; i++) {
      history.push(i / 8, [i, -i]);
      expect(history.times.at(-1)! - history.times[0]!).toBeLessThanOrEqual(1.25);
      if (i >= 8) expect(history.times.at(-1)! - history.times[0]!).toBeGreaterThanOrEqual(1);
    }
    expect(history.column(0).at(-1)).toBe(300);
    expect(history.column(1).at(-1)).toBe(-300);
    expect([...history.times].sort((a, b) => a - b)).toEqual(history.times);
  });

  it("finds the first row at a time or after it", () => {
    const history = new History(0, 10);
    for (const time of [0, 1, 2, 3]) history.push(time, []);
    expect([-1, 0, 0.5, 1, 3, 3.5].map((time) => history.first(time))).toEqual([0, 0, 1, 1, 3, 4]);
  });

  it("drops a future that was left by stepping back", () => {
    const history = new History(1, 10);
    for (const time of [0, 1, 2, 3]) history.push(time, [time]);
    history.push(1.5, [9]);
    expect(all(history)).toEqual([
      [0, 1, 1.5],
      [0, 1, 9],
    ]);
    history.push(1.5, [8]);
    expect(all(history)).toEqual([
      [0, 1, 1.5],
      [0, 1, 8],
    ]);
  });

  it("breaks the curve where the motion was changed by hand", () => {
    const history = new History(1, 10);
    history.push(0, [0]);
    history.push(1, [1]);
    history.interrupt();
    history.push(3, [7]);
    history.push(4, [8]);
    expect(all(history)).toEqual([
      [0, 1, 2, 3, 4],
      [0, 1, NaN, 7, 8],
    ]);
  });

  it("has no break before its first row, nor after a reset to the beginning", () => {
    const history = new History(1, 10);
    history.interrupt();
    history.push(2, [1]);
    history.interrupt();
    history.push(0, [5]);
    expect(all(history)).toEqual([[0], [5]]);
    history.clear(2);
    expect(all(history)).toEqual([[], [], []]);
  });

  it("takes old columns into a new order, and begins new ones without a past", () => {
    const history = new History(2, 10);
    history.push(0, [1, 10]);
    history.push(1, [2, 20]);
    history.rearrange([1, -1, 0, 0]);
    history.push(2, [30, 5, 3, 4]);
    expect(all(history)).toEqual([
      [0, 1, 2],
      [10, 20, 30],
      [NaN, NaN, 5],
      [1, 2, 3],
      [1, 2, 4],
    ]);
  });
});
