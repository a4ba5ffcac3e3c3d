// The socket to the Python process: commands out, notices and frames in.

import type { CommandType, Listener, Source } from "./source";
import { type Command, type Notice, readFrame } from "./wire";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 5000;

/** Keeps one socket open, and opens it again when it falls, waiting longer each time; the simulation is then the same one. */
export class Socket implements Source {
  #listener: Listener | null = null;
  #socket: WebSocket | null = null;
  #session = "";
  #wait = FIRST_WAIT;
  #over = false;

  constructor(private readonly lab: string) {}

  can(_: CommandType): boolean {
    return true;
  }

  open(listener: Listener): void {
    this.#listener = listener;
    this.#connect(listener);
  }

  send(command: Command): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(command));
  }

  close(): void {
    this.#over = true;
    this.#socket?.close();
  }

  #connect(listener: Listener): void {
    listener.link({ state: "connecting" });
    const socket = new WebSocket(this.#address());
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.#wait = FIRST_WAIT;
      listener.link({ state: "open" });
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      if (typeof event.data === "string") this.#notice(JSON.parse(event.data) as Notice);
      else listener.frame(readFrame(event.data));
    };
    socket.onclose = (event) => void this.#closed(event.reason);
    this.#socket = socket;
  }

  #address(): URL {
    const address = new URL("live", document.baseURI);
    address.protocol = "ws:";
    address.search = address.hash = "";
    if (this.lab) address.searchParams.set("lab", this.lab);
    if (this.#session) address.searchParams.set("session", this.#session);
    return address;
  }

  #notice(notice: Notice): void {
    if (notice.type === "welcome") this.#session = notice.session;
    this.#listener?.notice(notice);
  }

  async #closed(reason: string): Promise<void> {
    const listener = this.#listener;
    if (this.#over || !listener) return;
    const refusal = reason || (await whyRefused());
    if (refusal) {
      listener.link({ state: "refused", reason: refusal });
      return;
    }
    listener.link({ state: "lost" });
    setTimeout(() => this.#over || this.#connect(listener), this.#wait);
    this.#wait = Math.min(2 * this.#wait, LONGEST_WAIT);
  }
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
