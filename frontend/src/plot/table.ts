// The numbers of a plot as CSV.

import type { History } from "../history";
import type { Labelled } from "./chart";
import { type Variable, valuesOf } from "./curve";
import type { Plotted } from "./paint";

/** Rows of time and the values on both axes, each variable once; of a section, its points curve by curve. */
export function plotTable(
  history: History,
  { curves, sections, start }: Omit<Plotted, "curves"> & { curves: readonly Labelled[] },
): string {
  if (sections) {
    const lines = sections.flatMap(({ times, x, y }, c) => times.map((time, i) => [c + 1, time, x[i], y[i]].join(",")));
    return `${["curve,t,x,y", ...lines].join("\r\n")}\r\n`;
  }
  const columns = new Map<string, Variable>();
  for (const curve of curves)
    for (const axis of ["x", "y"] as const) if (curve[axis].column !== "t") columns.set(title(curve, axis), curve[axis]);
  const values = [...columns.values()].map((variable) => valuesOf(history, variable));
  const lines: string[] = [];
  for (let row = start; row < history.length; row++) {
    const numbers = values.map((column) => column[row]!);
    // Where the motion was changed by hand there is a row without numbers.
    if (numbers.some(Number.isFinite)) lines.push([history.times[row], ...numbers].join(","));
  }
  return `${[["t / s", ...columns.keys()].map(quoted).join(","), ...lines].join("\r\n")}\r\n`;
}

function title(curve: Labelled, axis: "x" | "y"): string {
  const unit = curve.units[axis];
  return unit ? `${curve.symbols[axis]} / ${unit}` : curve.symbols[axis];
}

function quoted(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
