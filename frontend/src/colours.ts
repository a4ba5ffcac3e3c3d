// Okabe and Ito's colours, which people with any kind of colour vision can tell apart, on paper and on a blackboard.

import { signal } from "@preact/signals";

export interface Palette {
  readonly paper: string;
  readonly ink: string;
  readonly faint: string;
  readonly grid: string;
  readonly rod: string;
  /** In the order of the bodies. */
  readonly bodies: readonly string[];
  /** In the order of the energies; the last is the total, which is no kind of its own and so is drawn in ink. */
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
  energies: [ORANGE, GREEN, "#1c1d20"],
};

const DARK: Palette = {
  paper: "#15171a",
  ink: "#eceae4",
  faint: "#a2a4a8",
  grid: "#26292d",
  rod: "#b4b6ba",
  bodies: [SKY, ORANGE, GREEN, PURPLE, VERMILLION, BLUE],
  energies: [ORANGE, "#2bbd93", "#eceae4"],
};

const dark = matchMedia("(prefers-color-scheme: dark)");

/** The palette of the present colour scheme. */
export const palette = signal<Palette>(dark.matches ? DARK : LIGHT);
dark.addEventListener("change", () => (palette.value = dark.matches ? DARK : LIGHT));

export const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
