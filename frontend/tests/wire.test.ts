import { describe, expect, it } from "vitest";
import { FrameFlag, readFrame } from "../src/wire";

/** A frame as Python's `struct` writes it: eight u32, three f64, then arrays of f64, all little-endian. */
function frame(counts: { q: number; energies: number; points: number; dimension: number; rows: number; width: number }): ArrayBuffer {
  const length = 2 * counts.q + counts.energies + counts.points * counts.dimension + counts.rows * counts.width;
  const view = new DataView(new ArrayBuffer(56 + 8 * length));
  const head = [77, FrameFlag.PLAYING | FrameFlag.HELD, counts.q, counts.energies, counts.points, counts.dimension, counts.rows, counts.width];
  head.forEach((value, i) => view.setUint32(4 * i, value, true));
  [1.5, -2e-13, 0.75].forEach((value, i) => view.setFloat64(32 + 8 * i, value, true));
  for (let i = 0; i < length; i++) view.setFloat64(56 + 8 * i, i, true);
  return view.buffer;
}

const COUNTS = { q: 2, energies: 3, points: 3, dimension: 2, rows: 2, width: 6 };

describe("readFrame", () => {
  it("finds every field and array", () => {
    const read = readFrame(frame(COUNTS));
    expect(read.sequence).toBe(77);
    expect(read.flags & FrameFlag.PLAYING).toBeTruthy();
    expect(read.flags & FrameFlag.BEHIND).toBeFalsy();
    expect([read.time, read.drift, read.rate]).toEqual([1.5, -2e-13, 0.75]);
    expect([...read.q]).toEqual([0, 1]);
    expect([...read.v]).toEqual([2, 3]);
    expect([...read.energy]).toEqual([4, 5, 6]);
    expect([...read.position]).toEqual([7, 8, 9, 10, 11, 12]);
    expect(read.sample.length).toBe(12);
    expect(read.sample[11]).toBe(24);
  });

  it("refuses a frame whose length is not what it announces", () => {
    const whole = frame(COUNTS);
    expect(() => readFrame(whole.slice(0, -8))).toThrow(RangeError);
    expect(() => readFrame(whole.slice(0, 40))).toThrow(/too short/);
  });
});
