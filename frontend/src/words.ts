// All words of the page. English words are their own keys; `languages/` has a table for each other language.

import { GERMAN } from "./languages/de";
import { type Language, language } from "./preferences";

const TABLES: Partial<Record<Language, Readonly<Record<string, string>>>> = { de: GERMAN };

/**
 * A sentence or word in the user's language; in English where the table lacks it, as for a lab of another package. "{}"
 * stands for the values, in order.
 */
export function t(english: string, ...values: readonly (string | number)[]): string {
  const [first = "", ...rest] = (TABLES[language.value]?.[english] ?? english).split("{}");
  return rest.reduce((text, after, i) => `${text}${values[i] ?? "{}"}${after}`, first);
}

/**
 * A text that the studio's server sent, such as "Length 3" or "The motion stopped at t = 2 s: …", in the user's language. Where
 * the table does not have it as it is, a sentence of the table with {} for parts of it may: of several, the one with most words
 * of its own. The parts are translated likewise; what no table has stays as it is.
 */
export function translated(english: string): string {
  const table = TABLES[language.value];
  if (!table || english in table) return t(english);
  const known = FOUND[language.value]?.get(english);
  if (known !== undefined) return known;
  const text = matched(english, patternsOf(language.value, table)) ?? english;
  const found = (FOUND[language.value] ??= new Map());
  if (found.size >= MOST_FOUND) found.clear();
  found.set(english, text);
  return text;
}

/** Texts that were translated before: the same ones come again with every picture. */
const FOUND: Partial<Record<Language, Map<string, string>>> = {};
const MOST_FOUND = 2000;

interface Pattern {
  readonly english: string;
  readonly matches: RegExp;
}

const PATTERNS: Partial<Record<Language, readonly Pattern[]>> = {};

/** The sentences with parts, those with most letters of their own first. */
function patternsOf(name: Language, table: Readonly<Record<string, string>>): readonly Pattern[] {
  const letters = (text: string): number => text.replaceAll("{}", "").length;
  return (PATTERNS[name] ??= Object.keys(table)
    .filter((english) => english.includes("{}"))
    .sort((a, b) => letters(b) - letters(a))
    .map((english) => ({ english, matches: new RegExp(`^${english.split("{}").map(escaped).join("(.*?)")}$`, "s") })));
}

function matched(text: string, patterns: readonly Pattern[]): string | null {
  const numbered = /^(.*\D) (\d+)$/s.exec(text);
  for (const { english, matches } of patterns) {
    const parts = matches.exec(text)?.slice(1);
    // A part as long as the whole would be looked for for ever.
    if (parts?.every((part) => part.length < text.length)) return t(english, ...parts.map(part));
  }
  return numbered ? `${part(numbered[1]!)} ${numbered[2]}` : null;
}

/** A part of a sentence, which may begin with a small letter where the table has a sentence of its own. */
function part(text: string): string {
  const large = text.charAt(0).toUpperCase() + text.slice(1);
  const table = TABLES[language.value];
  return table && !(text in table) && large in table ? t(large) : translated(text);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** Of texts by language the user's, or else any. */
export function ofLanguage(texts: Readonly<Record<string, string>>): string {
  return texts[language.value] ?? texts.en ?? Object.values(texts)[0] ?? "";
}
