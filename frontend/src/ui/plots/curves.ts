// From a plot's axes to curves that a chart can draw.

import { palette, variableColour } from "../../colours";
import type { History } from "../../history";
import { type Member, type PlotSpec, pairs } from "../../plot/axis";
import type { ChartSpec, Labelled } from "../../plot/chart";
import type { Variable } from "../../plot/curve";
import { Derived } from "../../plot/derived";
import { parse } from "../../plot/expression";
import { Section, sectionsOf } from "../../plot/section";
import { variablesOf } from "../../plot/variable";
import type { LabView } from "../../wire";

/** What a chart draws for a plot. The colours are set by `coloured`, since they change with the colour scheme. */
export function curvesOf(view: LabView, spec: PlotSpec, history: History, unit: number): ChartSpec {
  const variables = variablesOf(view);
  const shown = pairs(view, spec);
  const variable = (member: Member): Variable => {
    if (typeof member === "object") return { column: derived(view, member.formula), period: null, logarithmic: false };
    const known = member === "t" ? undefined : variables[member];
    return { column: member, period: known?.period ?? null, logarithmic: known?.logarithmic ?? false };
  };
  const symbol = (member: Member): string => {
    if (typeof member === "object") return member.formula;
    return member === "t" ? "t" : variables[member]!.symbol || variables[member]!.label;
  };
  const unitOf = (member: Member): string => (typeof member === "number" ? variables[member]!.unit : member === "t" ? "s" : "");
  const curves = shown.map(
    (pair): Labelled => ({
      x: variable(pair.x),
      y: variable(pair.y),
      colour: colourOf(view, pair),
      ghost: typeof pair.y === "number" && variables[pair.y]!.ghost,
      symbols: { x: symbol(pair.x), y: symbol(pair.y) },
      units: { x: unitOf(pair.x), y: unitOf(pair.y) },
    }),
  );
  const crossing = spec.section && pairs(view, { x: "t", y: spec.section.of })[0]?.y;
  if (!spec.section || crossing === undefined) return { curves, seconds: spec.seconds, unit, sections: null };
  const { at } = spec.section;
  const sections = sectionsOf(history, JSON.stringify([shown, crossing, at]), () =>
    curves.map((curve) => new Section(variable(crossing), at, curve)),
  );
  return { curves, seconds: spec.seconds, unit, sections };
}

function colourOf(view: LabView, { y }: { y: Member }): string {
  return typeof y === "number" ? variableColour(palette.value, view, y) : palette.value.ink;
}

/** The same in the colours of the present scheme. */
export function coloured(view: LabView, chart: ChartSpec): ChartSpec {
  const colour = (variable: Variable): string => colourOf(view, { y: typeof variable.column === "number" ? variable.column : "t" });
  return { ...chart, curves: chart.curves.map((curve) => ({ ...curve, colour: colour(curve.y) })) };
}

function derived(view: LabView, formula: string): Derived {
  const names = new Map<string, number | "t">(variablesOf(view).map(({ name }, i) => [name, i]));
  names.set("t", "t");
  const expression = parse(formula, new Set(names.keys()));
  return new Derived(
    expression,
    expression.names.map((name) => names.get(name)!),
  );
}
