// Axes: how far they reach and what is written along them.

import { fixed, niceStep } from "../format";

export type Range = readonly [number, number];

/** What is smaller stands still: its axis reads 0 between whole numbers, not powers of ten. */
const AT_REST = 1e-9;

/** The smallest range of round numbers about [low, high]: it changes in jumps, so that a plot does not breathe. */
export function roundRange(low: number, high: number): Range {
  if (!(low <= high) || Math.max(Math.abs(low), Math.abs(high)) < AT_REST) return [-1, 1];
  // Never so narrow that round-off looks like motion, or that numbers along the axis need many digits.
  const least = Math.max(1e-9, 1e-3 * Math.max(Math.abs(low), Math.abs(high)));
  const middle = (low + high) / 2;
  const half = Math.max((high - low) / 2, least);
  const step = niceStep(2 * half, 4);
  return [step * Math.floor((middle - 1.04 * half) / step), step * Math.ceil((middle + 1.04 * half) / step)];
}

/** Least and greatest number that is shown of `values[start…]`; an empty range, high below low, when there is none. */
export function extremes(values: readonly number[], start: number, shown: (value: number) => number = (value) => value): Range {
  let [low, high] = [Infinity, -Infinity];
  for (let i = start; i < values.length; i++) {
    const value = shown(values[i]!);
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

/** Round numbers in a range, about `count` of them. */
export function splits([low, high]: Range, count: number): number[] {
  const step = niceStep(high - low, count);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

/** Whole powers of ten about [low, high], both logarithms; at most `most` of them, down from the largest. */
export function powerRange(low: number, high: number, most: number): Range {
  if (!(low <= high)) return [-1, 0];
  const top = Math.max(Math.ceil(high), Math.floor(low) + 1);
  return [Math.max(Math.floor(low), top - most), top];
}

/** Quarters of a turn, or halves where there is little room. */
export function turnSplits(period: number, count: number): number[] {
  const parts = count >= 4 ? 4 : 2;
  return Array.from({ length: parts + 1 }, (_, i) => (i / parts - 0.5) * period);
}

/** With as many decimals as the steps between them need, in powers of ten when they are very small or large. */
export function tickText(values: readonly number[]): string[] {
  const step = values.length > 1 ? Math.abs(values[1]! - values[0]!) : Math.abs(values[0] ?? 1);
  const largest = Math.max(...values.map(Math.abs), 0);
  if (step > 0 && (largest >= 1e5 || (step < 1e-4 && largest < 1e-2))) {
    const digits = Math.max(0, Math.ceil(Math.log10(largest / step) - 1e-9));
    return values.map((value) => value.toExponential(Math.min(digits, 6)).replaceAll("-", "−").replace("+", ""));
  }
  const decimals = Math.max(0, -Math.floor(Math.log10(step || 1) + 1e-9));
  return values.map((value) => fixed(value, decimals));
}

/** −π, −π/2, 0, … */
export function turnText(values: readonly number[]): string[] {
  const names: Record<number, string> = { 0: "0", 1: "π", 2: "2π" };
  return values.map((value) => {
    const halves = Math.round((2 * value) / Math.PI);
    const size = Math.abs(halves);
    const text = size % 2 === 0 ? (names[size / 2] ?? `${size / 2}π`) : size === 1 ? "π/2" : `${size}π/2`;
    return halves < 0 ? `−${text}` : text;
  });
}

/** Seconds that a time axis shows at first, in units of the run. */
const SHORTEST = 5;

/**
 * The times that a plot shows: from the start of the run, growing with it in steps, until `seconds` are full;
 * then the last `seconds`. Zero seconds stand for all of the run.
 */
export function timeRange(first: number, now: number, seconds: number, unit: number): Range {
  const passed = Math.max(0, now - first);
  if (seconds > 0 && passed >= seconds) return [now - seconds, now];
  let shown = SHORTEST * unit;
  for (let i = 0; shown < passed; i++) shown *= i % 3 === 1 ? 2.5 : 2; // 5, 10, 25, 50, 100, …
  return [first, first + (seconds > 0 ? Math.min(seconds, shown) : shown)];
}
