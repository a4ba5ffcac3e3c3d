import { describe, expect, it } from "vitest";
import { type Sample, throwVelocity } from "../src/picture/hand";

/** A hand that goes along x at 2 m/s, reported every `step` milliseconds. */
const moving = (step: number, count = 12): Sample[] => Array.from({ length: count }, (_, i) => [0.002 * step * i, 0, 0, step * i]);

describe("a throw", () => {
  it("has the hand's velocity, at sixty frames a second and at ten", () => {
    for (const step of [4, 16, 100, 150]) {
      const samples = moving(step);
      expect(throwVelocity(samples, samples.at(-1)![3] + 0.9 * step)[0]).toBeCloseTo(2, 9);
    }
  });

  it("is none after a rest, and from a single place", () => {
    const samples = moving(16);
    expect(throwVelocity(samples, samples.at(-1)![3] + 120)).toEqual([0, 0, 0]);
    const slow = moving(100);
    expect(throwVelocity(slow, slow.at(-1)![3] + 400)).toEqual([0, 0, 0]);
    expect(throwVelocity(samples.slice(0, 1), 1)).toEqual([0, 0, 0]);
    expect(throwVelocity([...moving(16, 3), [0.064, 0, 0, 900]], 901)).toEqual([0, 0, 0]); // stood still, then let go
  });

  it("follows the last of a curved path, not all of it", () => {
    const turned: Sample[] = [...moving(16), ...Array.from({ length: 12 }, (_, i): Sample => [0.352, 0.032 * (i + 1), 0, 192 + 16 * i])];
    const [x, y] = throwVelocity(turned, turned.at(-1)![3] + 5);
    expect(Math.abs(x)).toBeLessThan(1e-9);
    expect(y).toBeCloseTo(2, 9);
  });
});
