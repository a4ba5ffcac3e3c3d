import { describe, expect, it } from "vitest";
import { History } from "../src/history";
import { basisOf, boxOf, dot, projected, projectedPast, type Triple, turned } from "../src/picture/camera";

const CAMERAS = [
  { azimuth: 0, elevation: 0 },
  { azimuth: -1.1, elevation: 0.4 },
  { azimuth: 2.5, elevation: -1.2 },
];

describe("the camera", () => {
  it("looks along three orthogonal unit vectors, right-handed", () => {
    for (const camera of CAMERAS) {
      const { right, up, toward } = basisOf(camera);
      for (const [a, b] of [
        [right, up],
        [up, toward],
        [toward, right],
      ] as [Triple, Triple][]) {
        expect(dot(a, ...b)).toBeCloseTo(0, 14);
        expect(dot(a, ...a)).toBeCloseTo(1, 14);
      }
      const cross = [right[1] * up[2] - right[2] * up[1], right[2] * up[0] - right[0] * up[2], right[0] * up[1] - right[1] * up[0]];
      cross.forEach((part, i) => expect(part).toBeCloseTo(toward[i]!, 14));
    }
  });

  it("keeps distances: right, up and toward are a turn of space", () => {
    const points = Float64Array.from([1, 2, 3, -0.5, 0.25, 4]);
    const seen = projected(points, basisOf(CAMERAS[1]!));
    const length = (p: Float64Array): number => Math.hypot(p[0]! - p[3]!, p[1]! - p[4]!, p[2]! - p[5]!);
    expect(length(seen)).toBeCloseTo(length(points), 13);
  });

  it("shows z upwards", () => {
    const [, up] = projected(Float64Array.from([0, 0, 1]), basisOf(CAMERAS[1]!));
    expect(up).toBeGreaterThan(0.9);
  });

  it("never turns over", () => {
    expect(turned(CAMERAS[0]!, 0, 1e6).elevation).toBe(Math.PI / 2);
    expect(turned(CAMERAS[0]!, 0, -1e6).elevation).toBe(-Math.PI / 2);
    expect(turned(CAMERAS[0]!, 10, 0).azimuth).toBeLessThan(0);
  });
});

describe("a path in space", () => {
  it("is seen where its places are seen", () => {
    const history = new History(4, 60); // one channel, then x, y, z
    history.push(0, [9, 1, 2, 3]);
    history.push(1, [9, -1, 0.5, 2]);
    const basis = basisOf(CAMERAS[2]!);
    const past = projectedPast(history, 1, basis);
    const places = projected(Float64Array.from([1, 2, 3, -1, 0.5, 2]), basis);
    expect(past.column(1)).toEqual([places[0], places[3]]);
    expect(past.column(2)).toEqual([places[1], places[4]]);
    expect(past.first(0.5)).toBe(1);
  });
});

describe("the box", () => {
  it("stands behind: all its lines lie on far faces", () => {
    for (const camera of CAMERAS.slice(1)) {
      const { lines, labels } = boxOf(1.12, basisOf(camera));
      expect(lines.length % 4).toBe(0);
      expect(lines.length).toBeGreaterThan(4 * 3 * 4);
      for (const value of lines) expect(Math.abs(value)).toBeLessThanOrEqual(Math.sqrt(3) + 1e-12);
      expect(labels.filter(({ text }) => typeof text === "string").map(({ text }) => text)).toEqual(["x", "y", "z"]);
    }
  });

  it("ends at a round number where that leaves everything inside", () => {
    const largest = (extent: number): number => Math.max(...boxOf(extent, basisOf(CAMERAS[0]!)).lines);
    expect(largest(1.12)).toBeCloseTo(1, 12);
    expect(largest(1.4)).toBeCloseTo(1.4, 12);
  });
});
