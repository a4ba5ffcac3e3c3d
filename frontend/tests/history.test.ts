import { describe, expect, it } from "vitest";
import { History } from "../src/history";

describe("History", () => {
  it("keeps rows in the order of time and forgets the oldest", () => {
    const history = new History(2, 1);
    for (let i = 0; i <= 30; i++) history.push(i / 10, [i, -i]);
    const [times, first, second] = history.data;
    expect(times[0]).toBe(2);
    expect(times.at(-1)).toBe(3);
    expect(first?.at(-1)).toBe(30);
    expect(second?.at(-1)).toBe(-30);
    expect(history.length).toBe(11);
  });

  it("drops a future that was left by stepping back", () => {
    const history = new History(1, 10);
    for (const time of [0, 1, 2, 3]) history.push(time, [time]);
    history.push(1.5, [9]);
    expect(history.data).toEqual([[0, 1, 1.5], [0, 1, 9]]);
    history.push(1.5, [8]);
    expect(history.data).toEqual([[0, 1, 1.5], [0, 1, 8]]);
  });

  it("breaks the curve where the motion was changed by hand", () => {
    const history = new History(1, 10);
    history.push(0, [0]);
    history.push(1, [1]);
    history.interrupt();
    history.push(3, [7]);
    history.push(4, [8]);
    expect(history.data).toEqual([[0, 1, 2, 3, 4], [0, 1, null, 7, 8]]);
  });

  it("has no break before its first row, nor after a reset to the beginning", () => {
    const history = new History(1, 10);
    history.interrupt();
    history.push(2, [1]);
    history.interrupt();
    history.push(0, [5]);
    expect(history.data).toEqual([[0], [5]]);
    history.clear(2);
    expect(history.data).toEqual([[], [], []]);
  });
});
