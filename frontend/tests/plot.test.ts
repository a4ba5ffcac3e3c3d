import { describe, expect, it } from "vitest";
import { History } from "../src/history";
import { axisGroups, pairs, specOf } from "../src/plot/axis";
import { type Curve, follow } from "../src/plot/curve";
import { extremes, powerRange, roundRange, splits, tickText, turnSplits, turnText } from "../src/plot/range";
import type { ChannelView, LabView, PlotView } from "../src/wire";

const channel = (name: string, symbol: string, group: string, unit: string): ChannelView => ({
  name,
  symbol,
  group,
  unit,
  label: name,
  period: null,
  colour: null,
  ghost: false,
  logarithmic: false,
  meter: null,
  highlight: false,
});

/** A lab of n angles and their rates, and two energies. */
function lab(n: number): LabView {
  const below = (i: number): string => [...String(i)].map((d) => String.fromCharCode(0x2080 + Number(d))).join("");
  const each = (letter: string, name: string, group: string): ChannelView[] =>
    Array.from({ length: n }, (_, i) => channel(`${name}${i + 1}`, letter + below(i + 1), group, "rad"));
  const channels = [
    channel("kinetic", "T", "Energy", "J"),
    channel("total", "E", "Energy", "J"),
    ...each("θ", "theta", "Angles"),
    ...each("ω", "omega", "Rates"),
  ];
  return { channels } as unknown as LabView;
}

const names = (view: LabView, plot: { x: string; y: string }): string[] =>
  pairs(view, plot).map(({ x, y }) => `${x === "t" ? "t" : view.channels[x]!.name} ${view.channels[y]!.name}`);

const plot = (x: string[], y: string[]): PlotView => ({ title: "", kind: "phase", x, y, seconds: 40 });
const count = (name: string, from: number, to: number): string[] => Array.from({ length: to - from + 1 }, (_, i) => `${name}${from + i}`);

describe("axes", () => {
  it("pair members in order, and a single one with all of the other axis", () => {
    const view = lab(3);
    expect(names(view, { x: "t", y: "all:Angles" })).toEqual(["t theta1", "t theta2", "t theta3"]);
    expect(names(view, { x: "all:Angles", y: "all:Rates" })).toEqual(["theta1 omega1", "theta2 omega2", "theta3 omega3"]);
    expect(names(view, { x: "all:Angles", y: "next:Angles" })).toEqual(["theta1 theta2", "theta2 theta3"]);
    expect(names(view, { x: "all:Angles", y: "total" })).toEqual(["theta1 total", "theta2 total", "theta3 total"]);
    expect(names(view, { x: "gone", y: "total" })).toEqual([]);
  });

  it("find what a lab's plot stands for, for any number of links", () => {
    for (const n of [3, 4, 10, 14]) {
      const view = lab(n);
      const last = Math.min(n, 10);
      const over = specOf(view, plot(["t"], count("theta", 1, last)), 0);
      expect(names(view, over)).toEqual(count("theta", 1, last).map((name) => `t ${name}`));
      const next = specOf(view, plot(count("theta", 1, last - 1), count("theta", 2, last)), 0);
      expect(names(view, next)).toEqual(count("theta", 1, Math.min(n - 1, 10)).map((name, i) => `${name} theta${i + 2}`));
    }
    expect(specOf(lab(2), plot(["theta1"], ["theta2"]), 7)).toEqual({ id: 7, x: "theta1", y: "theta2", seconds: 40 });
    expect(specOf(lab(2), plot(["t"], ["kinetic", "total"]), 0).y).toBe("all:Energy");
  });

  it("are listed under their groups, with units", () => {
    const [energy, angles] = axisGroups(lab(2));
    expect(energy!.options.map((option) => option.text)).toEqual(["Energy / J", "T / J", "E / J"]);
    expect(angles!.options.map((option) => option.text)).toEqual(["θᵢ / rad", "θᵢ₊₁ / rad", "θ₁ / rad", "θ₂ / rad"]);
  });
});

describe("ranges", () => {
  it("hold their numbers between round ends, and change in jumps", () => {
    for (const [low, high] of [
      [0, 1],
      [-3.7, 12],
      [16.5, 16.9],
      [-1e-7, 1e-7],
      [1e6, 1e6],
    ] as const) {
      const [bottom, top] = roundRange(low, high);
      expect(bottom).toBeLessThanOrEqual(low);
      expect(top).toBeGreaterThanOrEqual(high);
      expect(top - bottom).toBeLessThan(3 * Math.max(high - low, 1e-2 * Math.abs(high), 1e-8));
    }
    expect(roundRange(-3.71, 12)).toEqual(roundRange(-3.7, 12.01));
    expect(roundRange(Infinity, -Infinity)).toEqual([-1, 1]);
  });

  it("do not make round-off look like motion", () => {
    const [bottom, top] = roundRange(16.571, 16.571 + 1e-13);
    expect(top - bottom).toBeGreaterThan(1e-3);
    expect(new Set(tickText(splits([bottom, top], 6))).size).toBeGreaterThan(1);
    for (const size of [5.4, -540, 2e-7, 3e7]) {
      const texts = tickText(splits(roundRange(size, size + 1e-13 * Math.abs(size)), 6));
      expect(new Set(texts).size).toBe(texts.length);
    }
  });

  it("leave out what has no value", () => {
    expect(extremes([NaN, 5, -2, Infinity, 3], 1)).toEqual([-2, 5]);
    expect(extremes([9, 1, 2], 1)).toEqual([1, 2]);
    expect(powerRange(-3.2, 0.4, 16)).toEqual([-4, 1]);
    expect(powerRange(-300, 0.4, 16)).toEqual([-15, 1]);
  });

  it("have their numbers written as a textbook does", () => {
    expect(tickText(splits([-1, 1], 4))).toEqual(["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
    expect(tickText(splits([0, 40], 4))).toEqual(["0", "10", "20", "30", "40"]);
    expect(turnText(turnSplits(2 * Math.PI, 4))).toEqual(["−π", "−π/2", "0", "π/2", "π"]);
    expect(turnText(turnSplits(2 * Math.PI, 2))).toEqual(["−π", "0", "π"]);
    expect(tickText([1e-6, 2e-6])[0]).toBe("1.0e−6");
  });
});

describe("curves", () => {
  const angle = (values: number[]): History => {
    const history = new History(1, 100);
    values.forEach((value, i) => history.push(i, [value]));
    return history;
  };
  const pen = (): { strokes: number[][]; moveTo(x: number, y: number): void; lineTo(x: number, y: number): void } => ({
    strokes: [],
    moveTo(x, y) {
      this.strokes.push([x, y]);
    },
    lineTo(x, y) {
      this.strokes.at(-1)!.push(x, y);
    },
  });
  const curve: Curve = {
    x: { column: "t", period: null, logarithmic: false },
    y: { column: 0, period: 2 * Math.PI, logarithmic: false },
    colour: "",
    ghost: false,
  };
  const to = { x: (v: number) => 10 * v, y: (v: number) => 10 * v };

  it("are cut where an angle goes over half a turn, and nowhere else", () => {
    const one = pen();
    follow(angle([2, 3, 4, 5]), curve, 0, to, [one]); // 4 is 4 − 2π
    expect(one.strokes.map((stroke) => stroke.length / 2)).toEqual([2, 2]);
    expect(one.strokes[1]![1]).toBeCloseTo(10 * (4 - 2 * Math.PI), 9);
  });

  it("are cut where the motion was changed by hand, and end at the present", () => {
    const history = angle([0, 1]);
    history.interrupt();
    history.push(2, [0.5]);
    history.push(3, [0.6]);
    const one = pen();
    expect(follow(history, curve, 0, to, [one])).toEqual([30, 6]);
    expect(one.strokes).toEqual([
      [0, 0, 10, 10],
      [20, 5, 30, 6],
    ]);
  });

  it("hang together over bands of age", () => {
    const bands = [pen(), pen()];
    follow(angle([0, 1, 2, 1]), curve, 0, to, bands);
    expect(bands[0]!.strokes).toEqual([[0, 0, 10, 10]]);
    expect(bands[1]!.strokes).toEqual([[10, 10, 20, 20, 30, 10]]);
  });

  it("show the logarithm where powers of ten are shown, and leave out what has none", () => {
    const one = pen();
    follow(angle([1, 10, 0, 100]), { ...curve, y: { column: 0, period: null, logarithmic: true } }, 0, to, [one]);
    expect(one.strokes).toEqual([
      [0, 0, 10, 10],
      [30, 20],
    ]);
  });
});
