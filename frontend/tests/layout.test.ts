import { describe, expect, it } from "vitest";
import { readLayout, writeLayout } from "../src/layout";

describe("a layout", () => {
  it("is read as it was written", () => {
    const plots = [
      { id: 0, x: "t", y: "=theta1^2", seconds: 40 },
      { id: 3, x: "theta1", y: "p1", seconds: 0, section: { of: "theta2", at: 0.5 } },
    ];
    const layout = { plots, sound: { pitch: "omega1", loudness: "kinetic" } };
    expect(readLayout(writeLayout(layout))).toEqual(layout);
    expect(readLayout("")).toEqual({});
    expect(readLayout(undefined)).toEqual({});
  });

  it("leaves out what makes no sense", () => {
    for (const text of ["{", "[]", "7", "null", '{"plots":7,"sound":{"pitch":1}}', '{"plots":"x"}']) expect(readLayout(text)).toEqual({});
    const odd = '{"plots":[{"x":"t"},{"x":"t","y":"a","seconds":-3,"id":"x","section":{"of":"b"}},5]}';
    expect(readLayout(odd)).toEqual({ plots: [{ id: 1, x: "t", y: "a", seconds: 0 }] });
    expect(readLayout(JSON.stringify({ plots: Array.from({ length: 99 }, () => ({ x: "t", y: "a" })) })).plots).toHaveLength(24);
  });
});
