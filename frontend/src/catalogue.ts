// The labs with their presets and stories, fetched once; nothing is compiled for it.

import { signal } from "@preact/signals";
import type { Catalogue, LabCard } from "./wire";

/** A button whose name begins so takes a preset. */
export const PRESET = "preset:";
/** The group of settings that say how the motion is computed. */
export const NUMERICS = "Numerics";

/** Null until it has come, and in a notebook. */
export const catalogue = signal<Catalogue | null>(null);

export function cardOf(lab: string): LabCard | null {
  return catalogue.value?.labs.find((card) => card.name === lab) ?? null;
}

/** Ask for it until it comes, waiting a little longer each time. */
export async function fetchCatalogue(wait = 500): Promise<void> {
  try {
    const answer = await fetch(new URL("labs", document.baseURI), { cache: "no-store" });
    if (answer.ok) {
      catalogue.value = (await answer.json()) as Catalogue;
      return;
    }
  } catch {
    // The studio does not answer; the page says so where it shows a lab.
  }
  setTimeout(() => void fetchCatalogue(Math.min(2 * wait, 5000)), wait);
}
