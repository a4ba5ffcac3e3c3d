// What can stand on an axis: time, one channel, all channels of a group or its first ones, or each one's next neighbour.

import { symbolParts } from "../format";
import type { ChannelView, LabView, PlotView } from "../wire";

/** "t", a channel's name, "all:GROUP", "next:GROUP" or "first:COUNT:GROUP". */
export type Axis = string;

/** A plot on the page: the lab's own, or one whose axes the user has chosen. */
export interface PlotSpec {
  readonly id: number;
  readonly x: Axis;
  readonly y: Axis;
  readonly seconds: number;
}

/** One channel against another, both by their place in the lab's list; "t" is time. */
export interface Pair {
  readonly x: number | "t";
  readonly y: number;
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

/** Channels of each group, in the lab's order. */
export function groupsOf(view: LabView): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  view.channels.forEach((channel, i) => groups.set(channel.group, [...(groups.get(channel.group) ?? []), i]));
  return groups;
}

/** A group with more members than this can be shown in part. */
const MANY = 10;

/** All that an axis can show, under the headings of the groups. */
export function axisGroups(view: LabView): AxisGroup[] {
  return [...groupsOf(view)].map(([group, members]) => {
    const shared = commonLetter(members.map((i) => view.channels[i]!));
    const indexed = (index: string): string => `${shared!.letter}${index}${shared!.prime}`;
    const unit = view.channels[members[0]!]!.unit;
    const several: AxisOption[] = [];
    if (members.length > 1) several.push({ value: `all:${group}`, text: quantity(shared ? indexed("ᵢ") : group, unit) });
    if (members.length > MANY && shared)
      several.push({ value: `first:${MANY}:${group}`, text: quantity(`${indexed("₁")}…${indexed("₁₀")}`, unit) });
    if (members.length > 1 && shared) several.push({ value: `next:${group}`, text: quantity(indexed("ᵢ₊₁"), unit) });
    const single = members.map((i) => view.channels[i]!).map((c) => ({ value: c.name, text: quantity(c.symbol || c.label, c.unit) }));
    return { label: group, options: [...several, ...single] };
  });
}

/** What all symbols share when they differ by their index only. */
function commonLetter(channels: readonly ChannelView[]): { letter: string; prime: string } | null {
  const parts = channels.map((channel) => symbolParts(channel.symbol));
  const { letter, prime } = parts[0] ?? { letter: "", prime: "" };
  const alike = parts.every((part) => part.letter === letter && part.prime === prime && part.index !== "");
  return alike ? { letter, prime } : null;
}

function quantity(symbol: string, unit: string): string {
  return unit ? `${symbol} / ${unit}` : symbol;
}

/** The members that an axis stands for. */
function membersOf(view: LabView, axis: Axis): (number | "t")[] {
  if (axis === "t") return ["t"];
  const groups = groupsOf(view);
  if (axis.startsWith("all:")) return groups.get(axis.slice(4)) ?? [];
  const first = /^first:(\d+):(.*)$/.exec(axis);
  if (first) return (groups.get(first[2]!) ?? []).slice(0, Number(first[1]));
  if (axis.startsWith("next:")) return (groups.get(axis.slice(5)) ?? []).slice(1);
  const index = view.channels.findIndex((channel) => channel.name === axis);
  return index < 0 ? [] : [index];
}

/** The curves of a plot: member by member, where one axis has a single member it serves all of the other. */
export function pairs(view: LabView, spec: Pick<PlotSpec, "x" | "y">): Pair[] {
  const [xs, ys] = [membersOf(view, spec.x), membersOf(view, spec.y)];
  if (xs.length === 0 || ys.length === 0) return [];
  const count = xs.length === 1 ? ys.length : ys.length === 1 ? xs.length : Math.min(xs.length, ys.length);
  const at = <Member>(members: readonly Member[], i: number): Member => members[members.length === 1 ? 0 : i]!;
  return Array.from({ length: count }, (_, i) => ({ x: at(xs, i), y: at(ys, i) })).filter((pair): pair is Pair => pair.y !== "t");
}

/** The lab's plot in the words of axes. */
export function specOf(view: LabView, plot: PlotView, id: number): PlotSpec {
  return { id, x: axisOf(view, plot.x), y: axisOf(view, plot.y), seconds: plot.seconds };
}

/** The axis whose members have these names; of the whole group where no axis has just these. */
function axisOf(view: LabView, names: readonly string[]): Axis {
  if (names.length === 1) return names[0]!;
  const same = (members: readonly number[]): boolean =>
    members.length === names.length && members.every((member, i) => view.channels[member]!.name === names[i]);
  for (const [group, members] of groupsOf(view)) {
    if (same(members)) return `all:${group}`;
    if (same(members.slice(1)) || (names.length < MANY && same(members.slice(1, MANY)))) return `next:${group}`;
    if (members.length > MANY && (same(members.slice(0, MANY)) || same(members.slice(0, MANY - 1)))) return `first:${MANY}:${group}`;
    if (members.some((member) => view.channels[member]!.name === names[0])) return `all:${group}`;
  }
  return names[0] ?? "t";
}
