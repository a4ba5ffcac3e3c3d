// What the page keeps for itself in the settings of a lab, as JSON in the text "page": undo, links and files have it too.

import type { PlotSpec, SectionSpec } from "./plot/axis";

/** What a sound is made from: a variable for its pitch, another for its loudness. */
export interface SoundSpec {
  readonly pitch: string;
  readonly loudness: string;
}

export interface Layout {
  /** The plots, where they are not the lab's own. */
  readonly plots?: readonly PlotSpec[];
  readonly sound?: SoundSpec;
}

/** Characters that the studio keeps. */
export const LONGEST_LAYOUT = 8192;
const MOST_PLOTS = 24;

/** The layout in a text; what makes no sense in it, as in a link that was changed by hand, is left out. */
export function readLayout(text: string | undefined): Layout {
  let found: unknown;
  try {
    found = JSON.parse(text || "{}");
  } catch {
    return {};
  }
  if (!isObject(found)) return {};
  const { plots, sound } = found;
  return {
    ...(Array.isArray(plots) && { plots: plots.slice(0, MOST_PLOTS).flatMap(plotIn) }),
    ...(isObject(sound) && isText(sound.pitch) && isText(sound.loudness) && { sound: { pitch: sound.pitch, loudness: sound.loudness } }),
  };
}

export function writeLayout(layout: Layout): string {
  return JSON.stringify(layout);
}

function plotIn(value: unknown, place: number): PlotSpec[] {
  if (!isObject(value) || !isText(value.x) || !isText(value.y)) return [];
  const seconds = isNumber(value.seconds) && value.seconds >= 0 ? value.seconds : 0;
  const section = sectionIn(value.section);
  return [{ id: isNumber(value.id) ? value.id : place, x: value.x, y: value.y, seconds, ...(section && { section }) }];
}

function sectionIn(value: unknown): SectionSpec | null {
  return isObject(value) && isText(value.of) && isNumber(value.at) ? { of: value.of, at: value.at } : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
