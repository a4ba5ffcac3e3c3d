// What can be plotted of a lab: its channels, and the places of bodies that leave a path. A variable's place in the list is
// its column in the history.

import type { LabView } from "../wire";

export interface Named {
  /** As formulas call it. */
  readonly name: string;
  readonly symbol: string;
  readonly label: string;
  readonly unit: string;
  readonly group: string;
  readonly period: number | null;
  readonly logarithmic: boolean;
  readonly ghost: boolean;
}

const AXES = ["x", "y", "z"];

/** Numbers in a place: three as soon as one picture is of space. */
export function dimensionOf(view: LabView): number {
  return view.pictures.some((picture) => picture.kind === "space" || picture.kind === "surface") ? 3 : 2;
}

export function variablesOf(view: LabView): readonly Named[] {
  const flat = (body: { picture: number }): boolean => !["space", "surface"].includes(view.pictures[body.picture]?.kind ?? "plane");
  const places = view.bodies
    .filter((body) => body.trail)
    .flatMap((body) =>
      AXES.slice(0, dimensionOf(view)).map((axis) => ({
        name: `${slug(body.label)}_${axis}`,
        symbol: `${axis} of ${body.label}`,
        label: `${axis} of ${body.label}`,
        unit: "m",
        // in a plane that is drawn among pictures of space the third number is zero
        group: axis === "z" && flat(body) ? "" : "Positions",
        period: null,
        logarithmic: false,
        ghost: body.ghost,
      })),
    );
  return [...view.channels, ...places];
}

/** "ghost of bob 1" is ghost_of_bob1. */
function slug(label: string): string {
  return label
    .toLowerCase()
    .replace(/ (?=\d)/g, "")
    .replace(/[^a-z0-9]+/g, "_");
}
