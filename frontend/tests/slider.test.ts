import { describe, expect, it } from "vitest";
import { fromSlider, type Scale, sliderSteps, toSlider } from "../src/slider";

const SCALES: readonly Scale[] = [
  { low: 0, high: 30, step: 0.01, integer: false, logarithmic: false },
  { low: 0.1, high: 3, step: 0.1, integer: false, logarithmic: false },
  { low: 1, high: 10, step: 1, integer: true, logarithmic: false },
  { low: 10, high: 1000, step: 1, integer: false, logarithmic: true },
  { low: 1e-12, high: 0.5, step: 1e-12, integer: false, logarithmic: true },
];

describe("a slider", () => {
  it("leads from every place to a number and back to the place", () => {
    for (const scale of SCALES) {
      const steps = sliderSteps(scale);
      for (let place = 0; place <= steps; place += Math.ceil(steps / 40)) expect(toSlider(scale, fromSlider(scale, place))).toBe(place);
    }
  });

  it("has exactly its ends, and stands at them for what lies beyond", () => {
    for (const scale of SCALES) {
      const steps = sliderSteps(scale);
      expect([fromSlider(scale, 0), fromSlider(scale, steps)]).toEqual([scale.low, scale.high]);
      expect([toSlider(scale, scale.low - 1), toSlider(scale, scale.high + 90)]).toEqual([0, steps]);
    }
  });

  it("gives short numbers, and whole ones where only those make sense", () => {
    expect(fromSlider(SCALES[1]!, 2)).toBe(0.3);
    expect(fromSlider(SCALES[0]!, 981)).toBe(9.81);
    for (let place = 0; place <= 9; place++) expect(fromSlider(SCALES[2]!, place)).toBe(place + 1);
  });

  it("moves by factors where it is logarithmic", () => {
    expect(fromSlider(SCALES[3]!, 100)).toBe(100);
    expect(fromSlider(SCALES[3]!, 50)).toBeCloseTo(31.6, 6);
  });
});
