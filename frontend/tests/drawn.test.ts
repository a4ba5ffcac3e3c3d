import { describe, expect, it } from "vitest";
import { History } from "../src/history";
import type { Curve } from "../src/plot/curve";
import { type Drawn, drawnNow, JOINT, moved, seamOf } from "../src/plot/drawn";
import { projection } from "../src/plot/paint";

const time = { column: "t", period: null, logarithmic: false } as const;
const value = { column: 0, period: null, logarithmic: false } as const;
const overTime: Curve = { x: time, y: value, colour: "", ghost: false };
const phase: Curve = { x: value, y: value, colour: "", ghost: false };

/** Rows at tenths of a second up to `end`, and how the last ten seconds of them were drawn. */
function drawn(end: number, curve: Curve): { history: History; before: Drawn } {
  const history = new History(1, 60);
  for (let i = 0; i <= 10 * end; i++) history.push(i / 10, [Math.sin(i)]);
  const start = history.first(end - 10);
  const ranges = { x: curve.x.column === "t" ? ([end - 10, end] as const) : ([-1, 1] as const), y: [-1, 1] as const };
  return { history, before: drawnNow(history, { curves: [curve], sections: null, ranges, start }) };
}

describe("curves that were drawn before", () => {
  it("move by whole pixels with time, and the axis with them", () => {
    const { history, before } = drawn(20, overTime);
    history.push(20.07, [0.5]);
    const now = moved(history, before, [10.07, 20.07], 200)!;
    expect(now.pixels).toBe(1); // 1.4 pixels
    expect(now.ranges.x).toEqual([10.05, 20.05]);
    expect(now.ranges.y).toEqual([-1, 1]);
    expect(now.old).toBe(false);
  });

  it("are too old when a part of the rows is new", () => {
    const { history, before } = drawn(20, overTime);
    for (let i = 1; i <= 8; i++) history.push(20 + i / 10, [0]);
    expect(moved(history, before, [10.8, 20.8], 200)!.old).toBe(false);
    history.push(20.9, [0]);
    expect(moved(history, before, [10.9, 20.9], 200)!.old).toBe(true);
  });

  it("do not stand for rows outside their range, another span, an earlier time or a past that was changed", () => {
    const { history, before } = drawn(20, overTime);
    expect(moved(history, before, [10, 20], 200)).toEqual({ pixels: 0, ranges: before.plotted.ranges, old: false });
    expect(moved(history, before, [10, 25], 200)).toBeNull();
    expect(moved(history, before, [9, 19], 200)).toBeNull();
    history.push(20.1, [1.01]);
    expect(moved(history, before, [10.1, 20.1], 200)).toBeNull();
    history.push(20, [0]); // a step back in time
    expect(moved(history, before, [10, 20], 200)).toBeNull();
  });

  it("of a phase plane stay where they are, within both of their ranges", () => {
    const { history, before } = drawn(20, phase);
    history.push(20.1, [0.3]);
    expect(moved(history, before, null, 200)!.pixels).toBe(0);
    history.push(20.2, [-1.5]);
    expect(moved(history, before, null, 200)).toBeNull();
  });

  it("end at the edge of a pixel, and lines go on from a row before it", () => {
    const { history, before } = drawn(20, overTime);
    const box = { left: 46.25, top: 8, width: 300, height: 100 };
    const { ranges } = before.plotted;
    const to = projection(box, ranges);
    for (const ratio of [1, 1.5, 2]) {
      const { x, row } = seamOf(history, before.rows - 7, before.plotted, box, ratio);
      expect((x * ratio) % 1).toBe(0);
      const end = to.x(history.times[before.rows - 8]!);
      expect(x).toBeLessThanOrEqual(end - JOINT);
      expect(x).toBeGreaterThan(end - JOINT - 1);
      expect(to.x(history.times[row]!)).toBeLessThanOrEqual(x - JOINT);
      expect(to.x(history.times[row + 1]!)).toBeGreaterThanOrEqual(x - JOINT);
    }
    const empty = seamOf(history, 1, before.plotted, box, 1);
    expect(empty.x).toBe(box.left); // never left of the frame
    expect(empty.row).toBe(before.plotted.start);
  });
});
