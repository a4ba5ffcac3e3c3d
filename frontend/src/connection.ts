// The socket to the Python process: commands out, notices and frames in.

import { readFrame, type Command, type Frame, type Notice } from "./wire";

export type Link =
  | { readonly state: "connecting" }
  | { readonly state: "open" }
  | { readonly state: "lost" }
  | { readonly state: "refused"; readonly reason: string };

export interface Listener {
  link(link: Link): void;
  notice(notice: Notice): void;
  frame(frame: Frame): void;
}

const FIRST_WAIT = 500;
const LONGEST_WAIT = 5000;

/** Keeps one socket open, and opens it again when it falls, waiting longer each time. */
export class Connection {
  #socket: WebSocket | null = null;
  #wait = FIRST_WAIT;
  #over = false;

  constructor(private readonly listener: Listener) {
    this.#open();
  }

  send(command: Command): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(command));
  }

  close(): void {
    this.#over = true;
    this.#socket?.close();
  }

  #open(): void {
    this.listener.link({ state: "connecting" });
    const address = new URL("live", document.baseURI);
    address.protocol = "ws:";
    address.search = address.hash = "";
    const lab = namedLab(location.hash);
    if (lab) address.searchParams.set("lab", lab);
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.#wait = FIRST_WAIT;
      this.listener.link({ state: "open" });
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      if (typeof event.data === "string") this.listener.notice(JSON.parse(event.data) as Notice);
      else this.listener.frame(readFrame(event.data));
    };
    socket.onclose = (event) => void this.#closed(event.reason);
    this.#socket = socket;
  }

  async #closed(reason: string): Promise<void> {
    if (this.#over) return;
    const refusal = reason || (await whyRefused());
    if (refusal) {
      this.listener.link({ state: "refused", reason: refusal });
      return;
    }
    this.listener.link({ state: "lost" });
    setTimeout(() => this.#open(), this.#wait);
    this.#wait = Math.min(2 * this.#wait, LONGEST_WAIT);
  }
}

/** The lab that the page's address names, as `#/pendulum`; empty when it names none. */
export function namedLab(hash: string): string {
  return /^#\/([a-z-]+)/.exec(hash)?.[1] ?? "";
}

/** A browser does not tell why a handshake failed, so ask the door itself. Empty when no one answers. */
async function whyRefused(): Promise<string> {
  try {
    const answer = await fetch(new URL("door", document.baseURI), { cache: "no-store" });
    return answer.status === 403 ? (await answer.text()).trim() : "";
  } catch {
    return "";
  }
}
