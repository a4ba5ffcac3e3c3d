// Refusals of settings whose control went back to the value before, each kept there until that is changed. What stays on the
// page although it is refused is a fault of the controls.

import { signal } from "@preact/signals";
import type { Command, Controls, LabView, Refused } from "./wire";

export class Refusals {
  readonly bySetting = signal<Readonly<Record<string, Refused>>>({});

  /** Keep a refusal where the page shows its setting; false where it does not. */
  stands(notice: Refused, view: LabView | null): boolean {
    const lists = view ? [view.parameters, view.choices, view.toggles, view.texts] : [];
    if (!lists.some((list) => list.some((setting) => setting.name === notice.setting))) return false;
    this.bySetting.value = { ...this.bySetting.value, [notice.setting]: notice };
    return true;
  }

  /** A command is on its way: what it sets may be right now. */
  sent(command: Command): void {
    if ("name" in command) this.#forget((setting) => setting === command.name);
  }

  /** Settings that changed are right. */
  changed(before: Controls | null, now: Controls): void {
    this.#forget((setting) => shownIn(before, setting) !== shownIn(now, setting));
  }

  #forget(which: (setting: string) => boolean): void {
    const left = Object.entries(this.bySetting.value).filter(([setting]) => !which(setting));
    if (left.length < Object.keys(this.bySetting.value).length) this.bySetting.value = Object.fromEntries(left);
  }
}

function shownIn(controls: Controls | null, setting: string): number | string | boolean | undefined {
  return controls?.parameters[setting] ?? controls?.choices[setting] ?? controls?.toggles[setting] ?? controls?.texts[setting];
}
