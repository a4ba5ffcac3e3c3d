import { describe, expect, it } from "vitest";
import { History } from "../src/history";
import { axisGroups, formulaError, type Member, pairs, specOf } from "../src/plot/axis";
import { type Curve, follow, valuesOf } from "../src/plot/curve";
import { Derived } from "../src/plot/derived";
import { parse } from "../src/plot/expression";
import { extremes, powerRange, roundRange, splits, tickText, timeRange, turnSplits, turnText } from "../src/plot/range";
import { Section } from "../src/plot/section";
import { Turns } from "../src/plot/turns";
import { variablesOf } from "../src/plot/variable";
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
  const bob = { label: "bob 1", trail: true, ghost: false, picture: 0, colour: 0 };
  return { channels, bodies: [bob], pictures: [{ kind: "plane" }] } as unknown as LabView;
}

const word = (view: LabView, member: Member): string =>
  typeof member === "number" ? variablesOf(view)[member]!.name : typeof member === "string" ? member : `=${member.formula}`;
const names = (view: LabView, plot: { x: string; y: string }): string[] =>
  pairs(view, plot).map(({ x, y }) => `${word(view, x)} ${word(view, y)}`);

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
    expect(names(view, { x: "bob1_x", y: "bob1_y" })).toEqual(["bob1_x bob1_y"]);
    expect(names(view, { x: "total", y: "= theta1 - theta2" })).toEqual(["total =theta1 - theta2"]);
    expect(names(view, { x: "total", y: "= theta9" })).toEqual([]);
    expect(formulaError(view, "theta9")).toMatchObject({ start: 0, end: 6, message: "There is no variable “theta9”." });
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

  it("of time grow with the run until they are full, then move along", () => {
    expect(timeRange(0, 0, 40, 1)).toEqual([0, 5]);
    expect(timeRange(0, 5.1, 40, 1)).toEqual([0, 10]);
    expect(timeRange(3, 31, 40, 1)).toEqual([3, 43]);
    expect(timeRange(0, 50, 40, 1)).toEqual([10, 50]);
    expect(timeRange(0, 70, 0, 1)).toEqual([0, 100]);
    expect(timeRange(0, 0.004, 0, 0.001)).toEqual([0, 0.005]);
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

  it("cover the same pixels over time with few strokes, however many rows there are", () => {
    const count = 4000;
    const history = new History(1, 1000);
    for (let i = 0; i < count; i++) history.push(i / 100, [Math.sin(1.7 * i)]);
    const plain = { ...curve, y: { ...curve.y, period: null } };
    const narrow = { x: (v: number) => v, y: (v: number) => 100 * v };
    const one = pen();
    follow(history, plain, 0, narrow, [one]);
    const points = one.strokes.flat();
    expect(points.length / 2).toBeLessThan(count / 8);
    for (let column = 0; column < 40; column++) {
      const all = Array.from({ length: 100 }, (_, i) => 100 * Math.sin(1.7 * (100 * column + i)));
      const drawn = points.filter((_, k) => k % 2 === 1 && Math.floor(points[k - 1]!) === column);
      // Rows within half a pixel of the one before are left out, over time or not.
      expect(Math.abs(Math.max(...drawn) - Math.max(...all))).toBeLessThan(0.5);
      expect(Math.abs(Math.min(...drawn) - Math.min(...all))).toBeLessThan(0.5);
    }
    expect(points.at(-1)).toBeCloseTo(100 * Math.sin(1.7 * (count - 1)), 9);
  });

  it("leave out rows of a scribble, but no seam and not the present", () => {
    const history = angle(Array.from({ length: 50 }, (_, i) => 0.5 * i));
    const phase: Curve = { ...curve, x: { column: 0, period: 2 * Math.PI, logarithmic: false } };
    const [all, some] = [pen(), pen()];
    follow(history, phase, 0, to, [all]);
    expect(follow(history, phase, 0, to, [some], 4)).toEqual(all.strokes.at(-1)!.slice(-2));
    expect(some.strokes.length).toBe(all.strokes.length);
    expect(some.strokes.flat().length).toBeLessThan(all.strokes.flat().length / 2);
    expect(some.strokes.map((stroke) => stroke.slice(0, 2))).toEqual(all.strokes.map((stroke) => stroke.slice(0, 2)));
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

describe("formulas over a history", () => {
  it("are computed once for each row, and anew when the past changes", () => {
    const history = new History(2, 100);
    let computed = 0;
    const expression = parse("a*b + t", new Set(["a", "b", "t"]));
    const value = (inputs: ArrayLike<number>): number => {
      computed++;
      return expression.value(inputs);
    };
    const counted = { ...expression, value };
    const column = new Derived(counted, [0, 1, "t"]);
    for (let i = 0; i < 4; i++) history.push(i, [i, 10]);
    expect(column.values(history)).toEqual([0, 11, 22, 33]);
    history.push(4, [4, 10]);
    expect(column.values(history).at(-1)).toBe(44);
    expect(computed).toBe(5);
    history.push(2, [7, 1]); // time was taken back
    expect(valuesOf(history, { column, period: null, logarithmic: false })).toEqual([0, 11, 9]);
  });
});

describe("sections", () => {
  const column = (index: number, period: number | null = null) => ({ column: index, period, logarithmic: false });

  it("have a point at each passage upwards, between rows, and none downwards", () => {
    const history = new History(2, 1000);
    const section = new Section(column(0), 0.25, { x: { ...column(0), column: "t" }, y: column(1) });
    for (let i = 0; i <= 1200; i++) {
      const t = i / 60;
      history.push(t, [Math.sin(t), Math.cos(t)]);
      if (i % 100 === 0) section.follow(history);
    }
    section.follow(history);
    const expected = [0, 1, 2, 3].map((k) => Math.asin(0.25) + 2 * Math.PI * k).filter((t) => t <= 20);
    expect(section.x.length).toBe(expected.length);
    section.x.forEach((t, i) => expect(Math.abs(t - expected[i]!)).toBeLessThan(1e-8));
    for (const y of section.y) expect(Math.abs(y - Math.sqrt(1 - 0.25 ** 2))).toBeLessThan(1e-8);
  });

  it("see an angle pass modulo its turns, but not its seam or a change by hand", () => {
    const history = new History(1, 1000);
    const turn = 2 * Math.PI;
    const section = new Section(column(0, turn), 1, { x: column(0, turn), y: column(0, turn) });
    for (let i = 0; i <= 100; i++) history.push(i, [0.2 * i]); // 20 rad: passes 1, 1 + 2π, 1 + 4π, 1 + 6π
    history.interrupt();
    history.push(101, [0]);
    history.interrupt();
    history.push(102, [1.5]);
    section.follow(history);
    expect(section.times.map((t) => Math.round(1e6 * t) / 1e6)).toEqual([5, 36.415927, 67.831853, 99.24778]);
    for (const value of section.x) expect(value).toBeCloseTo(1, 9);
  });

  it("forget what comes after a time that was gone back to, and all when the history is cleared", () => {
    const history = new History(1, 3);
    const section = new Section(column(0), 0, { x: column(0), y: column(0) });
    for (let i = 0; i <= 400; i++) {
      history.push(i / 10, [Math.sin(i / 10)]);
      section.follow(history);
    }
    expect(section.times.length).toBe(6); // though the history holds three seconds
    history.push(38.5, [0.5]);
    section.follow(history);
    expect(section.times.length).toBe(6);
    history.push(13, [0.5]);
    section.follow(history);
    expect(section.times.length).toBe(2);
    history.clear(1);
    history.push(14, [1]);
    section.follow(history);
    expect(section.times.length).toBe(0);
  });
});

describe("turns", () => {
  it("come to each of four charts in four frames, however slow they are", () => {
    const turns = new Turns();
    const charts = ["a", "b", "c", "d"].map((name) => ({ name }));
    for (const chart of charts) turns.join(chart);
    const drawnIn = (sequence: number, now: number): string =>
      charts
        .filter((chart) => turns.has(chart, sequence, now))
        .map((chart) => {
          turns.drew(chart, now);
          return chart.name;
        })
        .join("");
    drawnIn(0, 0);
    const fast = Array.from({ length: 8 }, (_, i) => drawnIn(i + 1, (i + 1) * 16.7));
    expect(fast.map((names) => names.length)).toEqual(Array(8).fill(1));
    expect(new Set(fast.slice(0, 4)).size).toBe(4);
    expect(fast.slice(4)).toEqual(fast.slice(0, 4));
    expect(drawnIn(20, 250).length).toBe(1);
    turns.leave(charts[0]!);
    expect(drawnIn(21, 266)).not.toContain("a");
  });
});
