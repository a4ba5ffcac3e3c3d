// What a user wants of every page: colours, language, large type. Kept by the browser, not in links.

import { effect, signal } from "@preact/signals";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];
export const LANGUAGES = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof LANGUAGES;

const PREFIX = "holonomy.";

/** A value that the browser keeps; null where there is none, or where it keeps nothing. */
export function kept(name: string, storage: "local" | "session" = "local"): string | null {
  try {
    return (storage === "local" ? localStorage : sessionStorage).getItem(PREFIX + name);
  } catch {
    return null; // a browser that is told to keep nothing
  }
}

export function keep(name: string, value: string, storage: "local" | "session" = "local"): void {
  try {
    (storage === "local" ? localStorage : sessionStorage).setItem(PREFIX + name, value);
  } catch {
    // The page works without; what was to be kept is lost when it is left.
  }
}

export const theme = signal<Theme>("system");
export const language = signal<Language>("en");
/** Presentation: the picture, time and stories alone, in large type. */
export const presenting = signal(false);

/** Take up what was kept, and put it on the page from now on. For a page of our own, not for a notebook. */
export function applyPreferences(root: HTMLElement): void {
  theme.value = THEMES.find((one) => one === kept("theme")) ?? "system";
  const asked = kept("language") ?? navigator.language.slice(0, 2);
  language.value = asked in LANGUAGES ? (asked as Language) : "en";
  effect(() => {
    root.dataset.theme = theme.value;
    keep("theme", theme.value);
  });
  effect(() => {
    root.lang = language.value;
  });
  effect(() => {
    root.classList.toggle("presenting", presenting.value);
  });
}

export function choose(next: Language): void {
  language.value = next;
  keep("language", next);
}
