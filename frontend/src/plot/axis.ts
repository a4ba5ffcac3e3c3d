// What can stand on an axis: time, one variable, all of a group or its first ones, each one's next neighbour, a formula.

import { symbolParts } from "../format";
import type { LabView, PlotView } from "../wire";
import { t, translated } from "../words";
import { ExpressionError, parse } from "./expression";
import { type Named, variablesOf } from "./variable";

/** "t", a variable's name, "all:GROUP", "next:GROUP", "first:COUNT:GROUP" or "=FORMULA". */
export type Axis = string;

/** Points only where a variable passes upwards through a value. */
export interface SectionSpec {
  readonly of: Axis;
  readonly at: number;
}

/** A plot on the page: the lab's own, or one whose axes the user has chosen. */
export interface PlotSpec {
  readonly id: number;
  readonly x: Axis;
  readonly y: Axis;
  /** How much of the recent motion it shows; 0 for all of it. */
  readonly seconds: number;
  readonly section?: SectionSpec;
}

/** A variable by its place in the lab's list, time, or a formula. */
export type Member = number | "t" | { readonly formula: string };

/** One variable against another. */
export interface Pair {
  readonly x: Member;
  readonly y: Member;
}

export interface AxisOption {
  readonly value: Axis;
  readonly text: string;
}

export interface AxisGroup {
  readonly label: string;
  readonly options: readonly AxisOption[];
}

export const TIME: AxisOption = { value: "t", text: "t / s" };

/** Variables of each group, in the lab's order; those of the group "" are always zero and left out. */
export function groupsOf(variables: readonly Named[]): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  variables.forEach(({ group }, i) => group && groups.set(group, [...(groups.get(group) ?? []), i]));
  return groups;
}

/** A group with more members than this can be shown in part. */
const MANY = 10;

/** All that an axis can show, under the headings of the groups. */
export function axisGroups(view: LabView): AxisGroup[] {
  const variables = variablesOf(view);
  return [...groupsOf(variables)].map(([group, members]) => {
    const shared = commonLetter(members.map((i) => variables[i]!));
    const indexed = (index: string): string => `${shared!.letter}${index}${shared!.prime}`;
    const unit = variables[members[0]!]!.unit;
    const several: AxisOption[] = [];
    if (members.length > 1) several.push({ value: `all:${group}`, text: quantity(shared ? indexed("ᵢ") : t(group), unit) });
    if (members.length > MANY && shared)
      several.push({ value: `first:${MANY}:${group}`, text: quantity(`${indexed("₁")}…${indexed("₁₀")}`, unit) });
    if (members.length > 1 && shared) several.push({ value: `next:${group}`, text: quantity(indexed("ᵢ₊₁"), unit) });
    const single = members
      .map((i) => variables[i]!)
      .map((c) => ({ value: c.name, text: quantity(c.symbol || translated(c.label), c.unit) }));
    return { label: group, options: [...several, ...single] };
  });
}

/** What all symbols share when they differ by their index only. */
function commonLetter(variables: readonly Named[]): { letter: string; prime: string } | null {
  const parts = variables.map((variable) => symbolParts(variable.symbol));
  const { letter, prime } = parts[0] ?? { letter: "", prime: "" };
  const alike = parts.every((part) => part.letter === letter && part.prime === prime && part.index !== "");
  return alike ? { letter, prime } : null;
}

export function quantity(symbol: string, unit: string): string {
  return unit ? `${symbol} / ${unit}` : symbol;
}

/** The formula of an axis, or null where it is no formula. */
export function formulaOf(axis: Axis): string | null {
  return axis.startsWith("=") ? axis.slice(1).trim() : null;
}

/** An axis as a formula to start from: the same variable, or the first of several. */
export function asFormula(view: LabView, axis: Axis): Axis {
  const [first] = membersOf(view, axis);
  if (typeof first === "object") return axis;
  return first === undefined || first === "t" ? "=t" : `=${variablesOf(view)[first]!.name}`;
}

/** Names that formulas may use, in the order of the lab's list; time comes first. */
export function formulaNames(view: LabView): string[] {
  return ["t", ...variablesOf(view).flatMap(({ name, group }) => (group ? [name] : []))];
}

/** What is wrong with a formula, or null. */
export function formulaError(view: LabView, formula: string): ExpressionError | null {
  try {
    parse(formula, new Set(formulaNames(view)));
    return null;
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
}

/** The members that an axis stands for. */
function membersOf(view: LabView, axis: Axis): Member[] {
  if (axis === "t") return ["t"];
  const formula = formulaOf(axis);
  if (formula !== null) return formulaError(view, formula) ? [] : [{ formula }];
  const variables = variablesOf(view);
  const groups = groupsOf(variables);
  if (axis.startsWith("all:")) return groups.get(axis.slice(4)) ?? [];
  const first = /^first:(\d+):(.*)$/.exec(axis);
  if (first) return (groups.get(first[2]!) ?? []).slice(0, Number(first[1]));
  if (axis.startsWith("next:")) return (groups.get(axis.slice(5)) ?? []).slice(1);
  const index = variables.findIndex((variable) => variable.name === axis);
  return index < 0 ? [] : [index];
}

/** The curves of a plot: member by member, where one axis has a single member it serves all of the other. */
export function pairs(view: LabView, spec: Pick<PlotSpec, "x" | "y">): Pair[] {
  const [xs, ys] = [membersOf(view, spec.x), membersOf(view, spec.y)];
  if (xs.length === 0 || ys.length === 0) return [];
  const count = xs.length === 1 ? ys.length : ys.length === 1 ? xs.length : Math.min(xs.length, ys.length);
  const at = (members: readonly Member[], i: number): Member => members[members.length === 1 ? 0 : i]!;
  return Array.from({ length: count }, (_, i) => ({ x: at(xs, i), y: at(ys, i) }));
}

/** What an axis is called in a sentence, and beside a number. */
export function axisName(view: LabView, axis: Axis): string {
  if (axis === "t") return "time";
  const formula = formulaOf(axis);
  if (formula !== null) return formula;
  const found = variablesOf(view).find((candidate) => candidate.name === axis);
  return found ? found.label : axis.replace(/^(all|next|first:\d+):/, "");
}

/** As `axisName`, with symbol and unit as an axis of a printed plot has them. */
export function axisTitle(view: LabView, axis: Axis): string {
  if (axis === "t") return TIME.text;
  const options = axisGroups(view).flatMap((group) => group.options);
  return options.find((option) => option.value === axis)?.text ?? axisName(view, axis);
}

/** The lab's plot in the words of axes. */
export function specOf(view: LabView, plot: PlotView, id: number): PlotSpec {
  return { id, x: axisOf(view, plot.x), y: axisOf(view, plot.y), seconds: plot.seconds };
}

/** The axis whose members have these names; of the whole group where no axis has just these. */
function axisOf(view: LabView, names: readonly string[]): Axis {
  if (names.length === 1) return names[0]!;
  const variables = variablesOf(view);
  const same = (members: readonly number[]): boolean =>
    members.length === names.length && members.every((member, i) => variables[member]!.name === names[i]);
  for (const [group, members] of groupsOf(variables)) {
    if (same(members)) return `all:${group}`;
    if (same(members.slice(1)) || (names.length < MANY && same(members.slice(1, MANY)))) return `next:${group}`;
    if (members.length > MANY && (same(members.slice(0, MANY)) || same(members.slice(0, MANY - 1)))) return `first:${MANY}:${group}`;
    if (members.some((member) => variables[member]!.name === names[0])) return members.length > 1 ? `all:${group}` : names[0]!;
  }
  return names[0] ?? "t";
}
