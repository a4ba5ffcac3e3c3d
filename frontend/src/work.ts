// What was done in a lab, kept by the browser's tab: it survives a reload, and a studio that was started again.

import { keep, kept } from "./preferences";

export interface KeptState {
  readonly document: string;
  readonly playing: boolean;
}

/** The simulation that this tab had in a lab; the studio keeps one for a while after its page has gone. */
export function keptSession(lab: string): { get(): string; set(session: string): void } {
  const name = `session.${lab}`;
  return { get: () => kept(name, "session") ?? "", set: (session) => keep(name, session, "session") };
}

/** Whether the state of a link was not opened in this tab before; a reload goes on from what was done since. */
export function isNewLink(lab: string, state: string): boolean {
  const name = `link.${lab}`;
  if (kept(name, "session") === state) return false;
  keep(name, state, "session");
  return true;
}

/** Keeps the last state of a lab. */
export class Work {
  constructor(private readonly lab: string) {}

  save(state: KeptState): void {
    keep(`work.${this.lab}`, JSON.stringify(state), "session");
  }

  load(): KeptState | null {
    const text = kept(`work.${this.lab}`, "session");
    return text === null ? null : (JSON.parse(text) as KeptState);
  }
}
