import { describe, expect, it } from "vitest";
import { frequency, Scale } from "../src/sound";

describe("a tone", () => {
  it("spans three octaves from the least to the greatest value so far", () => {
    const scale = new Scale();
    expect([5, 5, 10, 0, 2.5, 10, NaN].map((value) => scale.place(value))).toEqual([0.5, 0.5, 1, 0, 0.25, 1, 0.5]);
    expect([0, 1 / 3, 1].map(frequency)).toEqual([110, 220, 880]);
  });
});
