import { describe, expect, it } from "vitest";
import { shown, strainColour, strainWidth } from "../src/picture/strain";

const parts = (colour: string): number[] => colour.match(/\d+/g)!.map(Number);

describe("strain", () => {
  it("is white at rest, red and thinner when stretched, blue and thicker when compressed", () => {
    expect(parts(strainColour(0))).toEqual([255, 255, 255]);
    expect(strainWidth(0)).toBe(1);
    for (const strain of [0.02, 0.1, 0.5, 3]) {
      const [red, , blue] = parts(strainColour(strain)) as [number, number, number];
      expect(red).toBeGreaterThan(blue);
      expect(strainWidth(strain)).toBeLessThan(1);
      const [less, , more] = parts(strainColour(-strain)) as [number, number, number];
      expect(more).toBeGreaterThan(less);
      expect(strainWidth(-strain)).toBeGreaterThan(1);
    }
  });

  it("grows steadily and never leaves its ends", () => {
    const strains = Array.from({ length: 81 }, (_, i) => (i - 40) / 20);
    const amounts = strains.map(shown);
    expect([...amounts].sort((a, b) => a - b)).toEqual(amounts);
    for (const strain of [...strains, -1, 1e9, NaN]) {
      expect(strainWidth(strain)).toBeGreaterThanOrEqual(0.5);
      expect(strainWidth(strain)).toBeLessThanOrEqual(1.5);
      for (const part of parts(strainColour(strain))) expect(part).toBeLessThanOrEqual(255);
    }
  });
});
