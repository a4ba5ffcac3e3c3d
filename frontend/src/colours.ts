// The palette of the present colour scheme, and what follows from its colours.

import { computed, signal } from "@preact/signals";
import { DARK, LIGHT, type Palette } from "./palette";
import { dimensionOf } from "./plot/variable";
import { theme } from "./preferences";
import type { LabView } from "./wire";

export type { Palette };

const dark = matchMedia("(prefers-color-scheme: dark)");

const systemDark = signal(dark.matches);
dark.addEventListener("change", () => (systemDark.value = dark.matches));

/** The palette of the present colour scheme: the system's, unless the user has chosen one. */
export const palette = computed<Palette>(() => {
  const wanted = theme.value === "system" ? systemDark.value : theme.value === "dark";
  return wanted ? DARK : LIGHT;
});

export const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

/** Of a body; there are more bodies than colours one can tell apart, so they come round. */
export function bodyColour(palette: Palette, index: number): string {
  return palette.bodies[index % palette.bodies.length]!;
}

/** Black or white, whichever reads better on a colour. */
export function inkOn(colour: string): string {
  const channels = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16) / 255);
  const linear = channels.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  const luminance = 0.2126 * linear[0]! + 0.7152 * linear[1]! + 0.0722 * linear[2]!;
  return luminance > 0.179 ? "#000000" : "#ffffff"; // where the two contrasts are equal
}

/** Of a channel, wherever it is drawn: its body's, its kind of energy's, or ink. */
export function channelColour(palette: Palette, view: LabView, channel: number): string {
  const { name, colour } = view.channels[channel]!;
  if (colour !== null) return bodyColour(palette, colour);
  return energyColour(palette, view, name) ?? palette.ink;
}

/** Of a variable that is plotted: a channel's, or that of the body whose place it is. */
export function variableColour(palette: Palette, view: LabView, column: number): string {
  if (column < view.channels.length) return channelColour(palette, view, column);
  const traced = view.bodies.filter((body) => body.trail);
  const body = traced[Math.floor((column - view.channels.length) / dimensionOf(view))];
  return body ? bodyColour(palette, body.colour) : palette.ink;
}

/** Kinds of energy have the same colours in every motion; a total is drawn in ink. Null for what is no energy. */
export function energyColour(palette: Palette, view: LabView, name: string): string | null {
  const energy = view.energies.find((candidate) => candidate.name === name);
  if (!energy) return null;
  const kinds = view.energies.filter((other) => other.group === energy.group && !other.total);
  return energy.total ? palette.ink : palette.energies[kinds.indexOf(energy) % palette.energies.length]!;
}
