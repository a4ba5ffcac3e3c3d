// Answers to what the page has asked for: each says what it was computed from, and is shown only while that is current.

import type { Signal } from "@preact/signals";
import type { Controls, Notice } from "./wire";

export type Answer = Extract<Notice, { readonly of: number | null }>;

/** Whether an answer is of what the controls show. */
export function isCurrent(answer: Answer, controls: Controls | null): boolean {
  return answer.of === null || answer.of === controls?.current[answer.type];
}

export const isAnswer = (notice: Notice): notice is Answer => "of" in notice;

/** The last answer of each type that the page keeps; null from the moment on at which it is out of date. */
export type Kept = { readonly [Type in Answer["type"]]?: Signal<Extract<Answer, { readonly type: Type }> | null> };

/** Keep an answer in its place; false where none is kept. */
export function keepAnswer(kept: Kept, answer: Answer): boolean {
  const place = kept[answer.type] as Signal<Answer | null> | undefined;
  if (place) place.value = answer;
  return place !== undefined;
}

/** Forget the answers for which `out` holds; all of them where it is left away. */
export function forgetAnswers(kept: Kept, out: (answer: Answer) => boolean = () => true): void {
  for (const place of Object.values(kept) as Signal<Answer | null>[]) {
    const answer = place.peek();
    if (answer && out(answer)) place.value = null;
  }
}
