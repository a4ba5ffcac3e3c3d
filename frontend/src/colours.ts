// Okabe and Ito's colours, which people with any kind of colour vision can tell apart, on paper and on a blackboard.

import { signal } from "@preact/signals";
import type { LabView } from "./wire";

export interface Palette {
  readonly paper: string;
  readonly ink: string;
  readonly faint: string;
  readonly grid: string;
  readonly rod: string;
  /** In the order of the bodies. */
  readonly bodies: readonly string[];
  /** In the order of the kinds of energy; a total is no kind of its own and is drawn in ink. */
  readonly energies: readonly string[];
}

const BLUE = "#0072b2";
const VERMILLION = "#d55e00";
const GREEN = "#009e73";
const PURPLE = "#cc79a7";
const ORANGE = "#e69f00";
const SKY = "#56b4e9";

const LIGHT: Palette = {
  paper: "#fdfcf8",
  ink: "#1c1d20",
  faint: "#64666b",
  grid: "#e9e7df",
  rod: "#4b4d52",
  bodies: [BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY],
  energies: [ORANGE, GREEN, PURPLE, BLUE],
};

const DARK: Palette = {
  paper: "#15171a",
  ink: "#eceae4",
  faint: "#a2a4a8",
  grid: "#26292d",
  rod: "#b4b6ba",
  bodies: [SKY, ORANGE, GREEN, PURPLE, VERMILLION, BLUE],
  energies: [ORANGE, "#2bbd93", PURPLE, SKY],
};

const dark = matchMedia("(prefers-color-scheme: dark)");

/** The palette of the present colour scheme. */
export const palette = signal<Palette>(dark.matches ? DARK : LIGHT);
dark.addEventListener("change", () => (palette.value = dark.matches ? DARK : LIGHT));

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

/** Kinds of energy have the same colours in every motion; a total is drawn in ink. Null for what is no energy. */
export function energyColour(palette: Palette, view: LabView, name: string): string | null {
  const energy = view.energies.find((candidate) => candidate.name === name);
  if (!energy) return null;
  const kinds = view.energies.filter((other) => other.group === energy.group && !other.total);
  return energy.total ? palette.ink : palette.energies[kinds.indexOf(energy) % palette.energies.length]!;
}
