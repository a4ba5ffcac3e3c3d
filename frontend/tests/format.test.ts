import { describe, expect, it } from "vitest";
import { bits, fixed, niceStep, scientific, symbolParts, within, withUnit } from "../src/format";

describe("numbers in print", () => {
  it("have a true minus sign, and none on zero", () => {
    expect(fixed(-1.25, 1)).toBe("\u22121.3");
    expect(fixed(-0.0001, 2)).toBe("0.00");
    expect(fixed(2, 3)).toBe("2.000");
  });

  it("are written in powers of ten", () => {
    expect(scientific(-1.26e-13)).toEqual({ mantissa: "\u22121.3", exponent: "\u221213" });
    expect(scientific(42)).toEqual({ mantissa: "4.2", exponent: "1" });
    expect(scientific(0)).toEqual({ mantissa: "0", exponent: null });
  });

  it("carry their unit after a narrow space", () => {
    expect(withUnit("1", "m")).toBe("1\u202fm");
    expect(withUnit("1", "")).toBe("1");
  });

  it("leave whole turns out of angles only", () => {
    expect(within(2 * Math.PI + 0.5, 2 * Math.PI)).toBeCloseTo(0.5, 12);
    expect(within(-Math.PI - 0.25, 2 * Math.PI)).toBeCloseTo(Math.PI - 0.25, 12);
    expect(within(100, null)).toBe(100);
  });
});

describe("symbols", () => {
  it("come apart into letter and index", () => {
    expect(symbolParts("θ₁₂")).toEqual({ letter: "θ", index: "12", prime: "" });
    expect(symbolParts("g")).toEqual({ letter: "g", index: "", prime: "" });
  });
});

describe("bits", () => {
  it("tell apart what looks the same", () => {
    expect(bits(1)).toBe("3ff0000000000000");
    expect(bits(0)).not.toBe(bits(-0));
    expect(bits(0.1 + 0.2)).not.toBe(bits(0.3));
    expect(bits(1, new Float64Array([1, 2]))).toBe("3ff0000000000000 3ff0000000000000 4000000000000000");
  });
});

describe("niceStep", () => {
  it.each([
    [10, 5, 2],
    [1, 5, 0.2],
    [4.4, 8, 0.5],
    [7, 7, 1],
    [90, 10, 10],
  ])("%d in about %d pieces: %d", (span, count, step) => {
    expect(niceStep(span, count)).toBeCloseTo(step, 12);
  });
});
