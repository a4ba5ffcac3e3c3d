// The socket to the Python process: commands out, notices and frames in.

import type { CommandType, Listener, Source } from "./source";
import { type Command, type Notice, readFrame } from "./wire";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 5000;
/** Milliseconds without a message after which the studio counts as stopped; it speaks more often than once a second. */
const SILENCE = 1500;
const LOOK_EVERY = 200;

/** Keeps one socket open, and opens it again when it falls, waiting longer each time; the simulation is then the same one. */
export class Socket implements Source {
  #listener: Listener | null = null;
  #socket: WebSocket | null = null;
  #wait = FIRST_WAIT;
  #over = false;
  #heard = 0;
  #looked = 0;
  #silent = false;
  #watch: ReturnType<typeof setInterval> | undefined;

  /** `session` keeps the name of the simulation, so that a page that was loaded again finds it. */
  constructor(
    private readonly lab: string,
    private readonly session: { get(): string; set(session: string): void },
  ) {}

  can(_: CommandType): boolean {
    return true;
  }

  open(listener: Listener): void {
    this.#listener = listener;
    this.#over = false;
    this.#connect(listener);
  }

  send(command: Command): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(command));
  }

  close(): void {
    this.#over = true;
    clearInterval(this.#watch);
    this.#socket?.close();
  }

  #connect(listener: Listener): void {
    listener.link({ state: "connecting" });
    const socket = new WebSocket(this.#address());
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.#wait = FIRST_WAIT;
      listener.link({ state: "open" });
      this.#listen(listener);
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      if (socket !== this.#socket) return; // of a connection that was left
      this.#heard = performance.now();
      if (this.#silent) {
        this.#silent = false;
        listener.link({ state: "open" });
      }
      if (typeof event.data === "string") this.#notice(JSON.parse(event.data) as Notice);
      else listener.frame(readFrame(event.data));
    };
    socket.onclose = (event) => {
      if (socket !== this.#socket) return;
      clearInterval(this.#watch);
      this.#silent = false;
      void this.#closed(event.reason);
    };
    this.#socket = socket;
  }

  /** Say when the studio has said nothing for too long. */
  #listen(listener: Listener): void {
    this.#heard = this.#looked = performance.now();
    clearInterval(this.#watch);
    this.#watch = setInterval(() => {
      const now = performance.now();
      const late = now - this.#looked > 3 * LOOK_EVERY; // the page itself was held up: messages may wait to be read
      this.#looked = now;
      if (late || document.hidden || this.#silent || now - this.#heard < SILENCE) return;
      this.#silent = true;
      listener.link({ state: "silent" });
    }, LOOK_EVERY);
  }

  #address(): URL {
    const address = new URL("live", document.baseURI);
    address.protocol = "ws:";
    address.search = address.hash = "";
    if (this.lab) address.searchParams.set("lab", this.lab);
    if (this.session.get()) address.searchParams.set("session", this.session.get());
    return address;
  }

  #notice(notice: Notice): void {
    if (notice.type === "welcome") this.session.set(notice.session);
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
    const fallen = this.#socket;
    setTimeout(() => this.#over || this.#socket !== fallen || this.#connect(listener), this.#wait);
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
