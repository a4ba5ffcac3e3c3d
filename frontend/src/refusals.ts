// Refusals of settings, each kept at the control that it is about until that is changed.

import { signal } from "@preact/signals";
import type { Command, Controls, LabView, Refused } from "./wire";

export class Refusals {
  readonly bySetting = signal<Readonly<Record<string, Refused>>>({});
  /** The texts as they were typed last. */
  readonly #typed: Record<string, string> = {};

  /** Keep a refusal where the page shows its setting; false where it does not. */
  stands(notice: Refused, view: LabView | null): boolean {
    const lists = view ? [view.parameters, view.choices, view.toggles, view.texts] : [];
    if (!lists.some((list) => list.some((setting) => setting.name === notice.setting))) return false;
    this.bySetting.value = { ...this.bySetting.value, [notice.setting]: notice };
    return true;
  }

  /** A command is on its way: what it sets may be right now. */
  sent(command: Command, controls: Controls | null): void {
    if ("name" in command) this.#forget((setting) => setting === command.name);
    if (command.type !== "set-text") return;
    // All texts are judged together, so that a refusal may have stood at another one.
    this.#typed[command.name] = command.value;
    this.#forget((setting) => setting in (controls?.texts ?? {}));
  }

  /** Settings that changed are right; a text that was refused comes back as it was typed, and its refusal stays. */
  changed(before: Controls | null, now: Controls): void {
    this.#forget((setting) => {
      const value = shownIn(now, setting);
      return shownIn(before, setting) !== value && this.#typed[setting] !== value;
    });
  }

  #forget(which: (setting: string) => boolean): void {
    const left = Object.entries(this.bySetting.value).filter(([setting]) => !which(setting));
    if (left.length < Object.keys(this.bySetting.value).length) this.bySetting.value = Object.fromEntries(left);
  }
}

function shownIn(controls: Controls | null, setting: string): number | string | boolean | undefined {
  return controls?.parameters[setting] ?? controls?.choices[setting] ?? controls?.toggles[setting] ?? controls?.texts[setting];
}
