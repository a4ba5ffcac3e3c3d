// One chart: uPlot lays out axes and grid, the curves are drawn here. Outside Preact, at the pace that the machine can keep.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Palette } from "../colours";
import type { History } from "../history";
import { type Curve, follow, shownValue, type Variable, valuesOf } from "./curve";
import { extremes, powerRange, type Range, roundRange, splits, tickText, turnSplits, turnText } from "./range";

export interface ChartSpec {
  readonly curves: readonly Curve[];
  readonly seconds: number;
}

const FONT = '12.5px "Source Serif 4", Georgia, serif';
const LINE = 2;
const HEAD = 4;
/** Age bands of a curve that is not over time: it fades, so that one sees which way it went. */
const BANDS = 8;
/** Log axes show no more than this many powers of ten, down from the largest value. */
const DECADES = 16;
const LONGEST_LABEL = 46;

export class Chart {
  #spec: ChartSpec = { curves: [], seconds: 1 };
  #palette: Palette;
  #plot: uPlot;
  #now = 0;
  #ranges: { x: Range; y: Range } = { x: [0, 1], y: [0, 1] };

  constructor(
    private readonly root: HTMLElement,
    private readonly history: History,
    palette: Palette,
  ) {
    this.#palette = palette;
    this.#plot = this.#build();
  }

  /** How many rows the chart draws from. */
  get rows(): number {
    return this.history.length - this.history.first(this.#now - this.#spec.seconds);
  }

  show(spec: ChartSpec, palette: Palette): void {
    this.#spec = spec;
    this.#palette = palette;
    this.#plot.destroy();
    this.#plot = this.#build();
    this.draw(this.#now);
  }

  resize(): void {
    this.#plot.setSize(this.#size());
  }

  /** Draw the seconds before `now`. */
  draw(now: number): void {
    this.#now = now;
    const start = this.history.first(now - this.#spec.seconds);
    this.#ranges = { x: this.#range("x", start), y: this.#range("y", start) };
    this.#plot.batch(() => {
      for (const axis of ["x", "y"] as const) {
        const [min, max] = this.#ranges[axis];
        this.#plot.setScale(axis, { min, max });
      }
    });
    this.#plot.redraw(false, true);
  }

  dispose(): void {
    this.#plot.destroy();
  }

  #size(): { width: number; height: number } {
    return { width: Math.max(120, this.root.clientWidth), height: Math.max(80, this.root.clientHeight) };
  }

  #range(axis: "x" | "y", start: number): Range {
    const variables = this.#spec.curves.map((curve) => curve[axis]);
    const period = commonPeriod(variables);
    if (period !== null) return [-period / 2, period / 2];
    if (variables[0]?.column === "t") {
      const end = Math.max(this.#now, this.#spec.seconds + Math.min(0, this.#now));
      return [end - this.#spec.seconds, end];
    }
    const found = variables.map((variable) => extremes(valuesOf(this.history, variable), start, (v) => shownValue(v, variable)));
    const [low, high] = [Math.min(...found.map(([l]) => l)), Math.max(...found.map(([, h]) => h))];
    return allLogarithmic(variables) ? powerRange(low, high, DECADES) : roundRange(low, high);
  }

  #build(): uPlot {
    const { faint, grid } = this.#palette;
    const axis = { stroke: faint, font: FONT, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1, size: 4 } };
    const along = (name: "x" | "y", room: number): Pick<uPlot.Axis, "splits" | "values"> => {
      const period = commonPeriod(this.#spec.curves.map((curve) => curve[name]));
      const turn = period !== null && Math.abs(period - 2 * Math.PI) < 1e-12;
      const logarithmic = allLogarithmic(this.#spec.curves.map((curve) => curve[name]));
      return {
        splits: (plot) => {
          const count = Math.max(2, (name === "x" ? plot.bbox.width : plot.bbox.height) / uPlot.pxRatio / room);
          if (turn) return turnSplits(period, count);
          return splits(this.#ranges[name], Math.min(count, 8)).filter((v) => !logarithmic || Number.isInteger(v));
        },
        values: (_, values) => (turn ? turnText(values) : logarithmic ? values.map(power) : tickText(values)),
      };
    };
    return new uPlot(
      {
        ...this.#size(),
        pxAlign: false,
        legend: { show: false },
        cursor: { show: false },
        padding: [8, 14, 0, 0],
        scales: { x: { time: false, range: () => [...this.#ranges.x] }, y: { range: () => [...this.#ranges.y] } },
        axes: [
          { ...axis, size: 24, gap: 2, ...along("x", 60) },
          { ...axis, size: LONGEST_LABEL, gap: 3, ...along("y", 34) },
        ],
        series: [{}, { show: false }],
        hooks: { draw: [(plot) => this.#curves(plot)] },
      },
      [
        [0, 1],
        [0, 1],
      ],
      this.root,
    );
  }

  #curves(plot: uPlot): void {
    const pen = plot.ctx;
    const { left, top, width, height } = plot.bbox;
    const [x, y] = [this.#ranges.x, this.#ranges.y];
    const to = {
      x: (value: number) => left + (width * (value - x[0])) / (x[1] - x[0]),
      y: (value: number) => top + height - (height * (value - y[0])) / (y[1] - y[0]),
    };
    const start = this.history.first(this.#now - this.#spec.seconds);
    pen.save();
    pen.beginPath();
    pen.rect(left, top, width, height);
    pen.clip();
    pen.lineJoin = "round";
    pen.lineWidth = LINE * uPlot.pxRatio;
    for (const curve of this.#spec.curves) {
      const fades = curve.x.column !== "t";
      const paths = Array.from({ length: fades ? BANDS : 1 }, () => new Path2D());
      const head = follow(this.history, curve, start, to, paths);
      pen.strokeStyle = pen.fillStyle = curve.colour;
      pen.setLineDash(curve.ghost ? [5 * uPlot.pxRatio, 4 * uPlot.pxRatio] : []);
      paths.forEach((path, i) => {
        pen.globalAlpha = (curve.ghost ? 0.75 : 1) * (fades ? 0.12 + (0.88 * (i + 1)) / BANDS : 1);
        pen.stroke(path);
      });
      pen.globalAlpha = 1;
      if (fades && head) {
        pen.beginPath();
        pen.arc(head[0], head[1], HEAD * uPlot.pxRatio, 0, 2 * Math.PI);
        pen.fill();
      }
    }
    pen.restore();
  }
}

function commonPeriod(variables: readonly Variable[]): number | null {
  const period = variables[0]?.period ?? null;
  return variables.every((variable) => variable.period === period) ? period : null;
}

function allLogarithmic(variables: readonly Variable[]): boolean {
  return variables.length > 0 && variables.every((variable) => variable.logarithmic);
}

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** 10⁻³ for −3. */
function power(exponent: number): string {
  const digits = [...String(Math.abs(exponent))].map((digit) => RAISED[Number(digit)]).join("");
  return `10${exponent < 0 ? "⁻" : ""}${digits}`;
}
