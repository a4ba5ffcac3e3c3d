import { describe, expect, it } from "vitest";
import { parseNumber } from "../src/number";
import { roundRange, splits, tickText } from "../src/plot/range";

describe("numbers as people type them", () => {
  it.each([
    ["2,5", 2.5],
    ["2.5", 2.5],
    ["9.81/6", 9.81 / 6],
    ["1e6", 1e6],
    ["−3", -3],
    [" 1 000 ", 1000],
    ["2π", 2 * Math.PI],
    ["pi/4", Math.PI / 4],
    ["2*(3+4)^2", 98],
    ["-2^2", -4],
    ["3 · 10^-2", 0.03],
    [".5", 0.5],
  ])("%s", (text, value) => expect(parseNumber(text)).toBeCloseTo(value, 14));

  it.each(["", "heavy", "1,000,000", "1.000,5", "2+", "(1", "1/0", "alert(1)", "1e999", "2 3 x"])("not %s", (text) =>
    expect(parseNumber(text)).toBeNull(),
  );
});

describe("axes of what is at rest", () => {
  it.each([
    [0, 0],
    [-1e-16, 3e-17],
  ])("read 0 from %d to %d", (low, high) => {
    const texts = tickText(splits(roundRange(low, high), 4));
    expect(texts).toContain("0.0");
    expect(texts.every((text) => !text.includes("e"))).toBe(true);
  });
});
