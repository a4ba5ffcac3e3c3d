import { describe, expect, it } from "vitest";
import { FrameFlag, readFrame } from "../src/wire";

/** A frame as Python's `struct` writes it: twelve u32, six f64, then arrays of f64, all little-endian. */
function frame(counts: {
  q: number;
  energies: number;
  channels: number;
  points: number;
  dimension: number;
  rods: number;
  rows: number;
  width: number;
}): ArrayBuffer {
  const length =
    2 * counts.q + counts.energies + counts.channels + counts.rods + counts.points * counts.dimension + counts.rows * counts.width;
  const view = new DataView(new ArrayBuffer(96 + 8 * length));
  const head = [
    77,
    FrameFlag.PLAYING | FrameFlag.HELD,
    4,
    counts.q,
    counts.energies,
    counts.channels,
    counts.points,
    counts.dimension,
    counts.rods,
    1,
    counts.rows,
    counts.width,
  ];
  head.forEach((value, i) => view.setUint32(4 * i, value, true));
  [1.5, -2e-13, 0.75, 0.5, 9.5, 960].forEach((value, i) => view.setFloat64(48 + 8 * i, value, true));
  for (let i = 0; i < length; i++) view.setFloat64(96 + 8 * i, i, true);
  return view.buffer;
}

const COUNTS = { q: 2, energies: 3, channels: 4, points: 3, dimension: 2, rods: 2, rows: 2, width: 7 };

describe("readFrame", () => {
  it("finds every field and array", () => {
    const read = readFrame(frame(COUNTS));
    expect(read.sequence).toBe(77);
    expect(read.flags & FrameFlag.PLAYING).toBeTruthy();
    expect(read.flags & FrameFlag.BEHIND).toBeFalsy();
    expect(read.revision).toBe(4);
    expect([read.time, read.drift, read.rate]).toEqual([1.5, -2e-13, 0.75]);
    expect([read.oldest, read.newest, read.steps]).toEqual([0.5, 9.5, 960]);
    expect([...read.q]).toEqual([0, 1]);
    expect([...read.v]).toEqual([2, 3]);
    expect([...read.energy]).toEqual([4, 5, 6]);
    expect([...read.channel]).toEqual([7, 8, 9, 10]);
    expect([...read.position]).toEqual([11, 12, 13, 14, 15, 16]);
    expect([...read.strain]).toEqual([17, 18]);
    expect(read.sample.length).toBe(14);
    expect(read.sample[13]).toBe(32);
  });

  it("refuses a frame whose length is not what it announces", () => {
    const whole = frame(COUNTS);
    expect(() => readFrame(whole.slice(0, -8))).toThrow(RangeError);
    expect(() => readFrame(whole.slice(0, 40))).toThrow(/too short/);
  });
});
