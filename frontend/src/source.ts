// Where frames come from and where commands go. The page does not know whether a Python process or a recording answers.

import type { Command, Frame, Notice } from "./wire";

export type Link =
  | { readonly state: "connecting" }
  | { readonly state: "open" }
  | { readonly state: "lost" }
  /** The socket is open, but the studio has said nothing for too long. */
  | { readonly state: "silent" }
  | { readonly state: "refused"; readonly reason: string };

export interface Listener {
  link(link: Link): void;
  notice(notice: Notice): void;
  frame(frame: Frame): void;
}

export type CommandType = Command["type"];

/**
 * A motion that can be shown: `open` once, then a `welcome` notice, `controls` whenever they change, and frames.
 * A command outside `can` is never sent, and the page does not offer what would need it.
 */
export interface Source {
  can(command: CommandType): boolean;
  open(listener: Listener): void;
  send(command: Command): void;
  close(): void;
}
