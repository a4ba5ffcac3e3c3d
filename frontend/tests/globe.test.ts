import { describe, expect, it } from "vitest";
import { toFloats } from "../src/encode";
import { type Colour, Scale } from "../src/picture/colourmap";
import { depthAt, normalsOf, reachOf } from "../src/picture/sheet";

const grey = ([r, g, b]: Colour): number => {
  const linear = [r, g, b].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  const y = 0.2126 * linear[0]! + 0.7152 * linear[1]! + 0.0722 * linear[2]!;
  return y > 0.008856 ? 116 * Math.cbrt(y) - 16 : 903.3 * y;
};

describe("scale", () => {
  it("grows lighter by even steps when all numbers have one sign", () => {
    const scale = new Scale(2, 10);
    expect(scale.diverging).toBe(false);
    const light = Array.from({ length: 17 }, (_, i) => grey(scale.colour(2 + i / 2)));
    const steps = light.slice(1).map((l, i) => l - light[i]!);
    for (const step of steps) {
      expect(step).toBeGreaterThan(2);
      expect(step).toBeLessThan(6.5);
    }
  });

  it("is palest at zero when numbers have both signs, blue below and red above", () => {
    const scale = new Scale(-1, 4);
    expect(scale.diverging).toBe(true);
    const pale = grey(scale.colour(0));
    for (const value of [-4, -2, -1, 1, 2, 4]) expect(grey(scale.colour(value))).toBeLessThan(pale - 5);
    const [r, , b] = scale.colour(-4);
    expect(b).toBeGreaterThan(r + 50);
    const [red, , blue] = scale.colour(4);
    expect(red).toBeGreaterThan(blue + 50);
    expect(Math.abs(grey(scale.colour(-3)) - grey(scale.colour(3)))).toBeLessThan(12);
  });

  it("keeps its end colours beyond its ends, and its bar runs over what is shown", () => {
    const scale = new Scale(1, 2);
    expect(scale.colour(5)).toEqual(scale.colour(2));
    expect(scale.colour(-5)).toEqual(scale.colour(1));
    const bar = new Scale(-1, 4).bar(6);
    expect(bar.length).toBe(6);
    expect(bar[1]).toBe(`rgb(${new Scale(-1, 4).colour(0).join(", ")})`);
  });
});

describe("packed numbers", () => {
  it("are read as they were packed", () => {
    const numbers = Float32Array.from([0, 1.5, -2.25, 3e7, NaN]);
    let binary = "";
    for (const byte of new Uint8Array(numbers.buffer)) binary += String.fromCharCode(byte);
    expect([...toFloats(btoa(binary))]).toEqual([...numbers]);
  });
});

describe("a sheet", () => {
  it("has normals across it and reaches as far as its farthest point", () => {
    const [rows, columns] = [5, 9];
    const points = new Float32Array(3 * rows * columns);
    for (let i = 0; i < rows; i++) {
      for (let j = 0; j < columns; j++) {
        const turn = (2 * Math.PI * j) / (columns - 1);
        points.set([2 * Math.cos(turn), 2 * Math.sin(turn), i / 4], 3 * (i * columns + j));
      }
    }
    const sheet = { rows, columns, points, values: new Float32Array(rows * columns) };
    expect(reachOf(sheet)).toBeCloseTo(Math.hypot(2, 1), 6);
    const normals = normalsOf(sheet);
    const at = 3 * (2 * columns + 2); // a quarter of a turn: the normal is along y
    expect(Math.abs(normals[at]!)).toBeLessThan(1e-6);
    expect(Math.abs(normals[at + 1]!)).toBeCloseTo(1, 6);
    expect(Math.abs(normals[at + 2]!)).toBeLessThan(1e-6);
  });

  it("tells how near it is at a place of the picture", () => {
    const depths = { size: 4, extent: 1, values: Float32Array.from({ length: 16 }, (_, i) => i) };
    expect(depthAt(depths, -0.9, 0.9)).toBe(0);
    expect(depthAt(depths, 0.9, -0.9)).toBe(15);
    expect(depthAt(depths, 1.5, 0)).toBe(-Infinity);
  });
});
