// The state of one mounted studio. Slow things are signals that the controls follow; frames go straight to whoever draws.

import { signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { reducedMotion } from "./colours";
import { History } from "./history";
import type { PlotSpec } from "./plot/axis";
import type { CommandType, Link, Source } from "./source";
import {
  type Command,
  type Controls,
  type Curves,
  type Download,
  type Equations,
  type Frame,
  FrameFlag,
  type LabEntry,
  type LabView,
  type Notice,
  PROTOCOL,
  type Surface,
} from "./wire";

/** Seconds of motion that are kept for plots and trails. */
export const KEPT = 60;
const READOUT_EVERY = 100;
const REFUSAL_SHOWN = 6000;
const PATIENCE = 1000;

export interface Options {
  /** A state document to take up as soon as the motion is there. */
  readonly document?: string | null;
  /** Whether time should run at once, where the user has not asked for less motion. */
  readonly autoplay?: boolean;
}

export class Studio {
  readonly link = signal<Link>({ state: "connecting" });
  readonly lab = signal<LabView | null>(null);
  readonly labs = signal<readonly LabEntry[]>([]);
  readonly controls = signal<Controls | null>(null);
  readonly refusal = signal<string | null>(null);
  /** The frame whose numbers are written out: each one when time is held, ten a second when it runs. */
  readonly readout = signal<Frame | null>(null);
  /** Whether physics has taken longer than the clock allows for a while; single late frames do not count. */
  readonly behind = signal(false);
  readonly equations = signal<Equations | null>(null);
  /** The last state document that was asked for. */
  readonly shared = signal<string | null>(null);
  readonly download = signal<Download | null>(null);
  /** What stands still behind the motion. */
  readonly surface = signal<Surface | null>(null);
  readonly curves = signal<Curves | null>(null);
  /** The plots that the user has made of the lab's; null for the lab's own. */
  readonly plots = signal<readonly PlotSpec[] | null>(null);
  readonly trailsShown = signal(!reducedMotion.matches);
  /** Whether every body's path is drawn, or only that of the last one, which says most. */
  readonly trailsOfAll = signal(true);
  /** In units of `timeUnit`. */
  readonly trailSeconds = signal(4);
  /** Seconds of motion that pass in a second of the clock at the opening: a recording may be of hours or of milliseconds. */
  readonly timeUnit = signal(1);
  readonly history = new History(0, KEPT);

  readonly #painters = new Set<(frame: Frame) => void>();
  #latest: Frame | null = null;
  #columns: readonly string[] = [];
  #scheduled = false;
  #lastReadout = 0;
  #opened = false;
  #clockChanged = 0;
  #refusalTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly source: Source,
    private readonly options: Options = {},
  ) {}

  open(): void {
    this.source.open({
      link: (link) => (this.link.value = link),
      notice: (notice) => this.#receive(notice),
      frame: (frame) => this.#take(frame),
    });
  }

  close(): void {
    clearTimeout(this.#refusalTimer);
    this.#painters.clear();
    this.source.close();
  }

  can(command: CommandType): boolean {
    return this.source.can(command);
  }

  send(command: Command): void {
    if (this.source.can(command.type)) this.source.send(command);
  }

  get latest(): Frame | null {
    return this.#latest;
  }

  /** Whether the motion is there and can be moved. */
  get ready(): boolean {
    const phase = this.controls.value?.phase;
    return phase === "ready" || (phase === "compiling" && this.#opened); // the old motion goes on meanwhile
  }

  /** Draw on every frame, until the function returned is called. */
  onFrame(paint: (frame: Frame) => void): () => void {
    this.#painters.add(paint);
    if (this.#latest) paint(this.#latest);
    return () => this.#painters.delete(paint);
  }

  /** Draw the latest frame once more, in the browser's own time. */
  repaint(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame((now) => this.#draw(now));
  }

  /** Draw the latest frame at once. */
  paintNow(): void {
    if (this.#latest) for (const paint of this.#painters) paint(this.#latest);
  }

  /** Say one sentence for a while. */
  refuse(message: string): void {
    this.refusal.value = message;
    clearTimeout(this.#refusalTimer);
    this.#refusalTimer = setTimeout(() => (this.refusal.value = null), REFUSAL_SHOWN);
  }

  #take(frame: Frame): void {
    if (frame.revision !== this.lab.value?.revision) {
      this.send({ type: "seen", sequence: frame.sequence }); // or the server would wait for it to be drawn
      return;
    }
    this.#remember(frame);
    this.#latest = frame;
    this.repaint();
  }

  #draw(now: number): void {
    this.#scheduled = false;
    const frame = this.#latest;
    if (!frame) return;
    for (const paint of this.#painters) paint(frame);
    // Only a frame that was drawn counts as seen: a hidden page draws none, so it is sent none.
    this.send({ type: "seen", sequence: frame.sequence });
    if (!this.controls.value?.playing || now - this.#lastReadout >= READOUT_EVERY) {
      this.#lastReadout = now;
      this.readout.value = frame;
    }
    this.#watchClock(frame, now);
  }

  #watchClock(frame: Frame, now: number): void {
    const late = (frame.flags & FrameFlag.BEHIND) !== 0 && (frame.flags & FrameFlag.PLAYING) !== 0;
    if (late === this.behind.value || (frame.flags & FrameFlag.PLAYING) === 0) this.#clockChanged = now;
    if ((frame.flags & FrameFlag.PLAYING) === 0) this.behind.value = false;
    else if (now - this.#clockChanged >= PATIENCE) this.behind.value = late;
  }

  #receive(notice: Notice): void {
    switch (notice.type) {
      case "welcome":
        if (notice.protocol !== PROTOCOL) {
          this.link.value = { state: "refused", reason: "The page is of another version than the studio: load it again." };
          this.source.close();
          return;
        }
        this.labs.value = notice.labs;
        if (!notice.resumed) {
          this.history.clear(0);
          this.#columns = [];
        }
        this.#opened ||= notice.resumed;
        this.#show(notice.lab);
        break;
      case "lab":
        this.#show(notice.lab);
        break;
      case "controls":
        if (!this.controls.value) this.#scale(notice.speed);
        this.controls.value = notice;
        if (notice.phase === "ready") this.#begin();
        if (!notice.playing) this.repaint();
        break;
      case "refused":
        this.refuse(notice.message);
        break;
      case "shared":
        this.shared.value = notice.document;
        break;
      case "equations":
        this.equations.value = notice;
        break;
      case "download":
        this.download.value = notice;
        break;
      case "surface":
        this.surface.value = notice;
        break;
      case "curves":
        this.curves.value = notice;
        break;
    }
  }

  #scale(speed: number): void {
    this.timeUnit.value = this.can("set-parameter") ? 1 : speed;
    this.#keepEnough();
  }

  #keepEnough(): void {
    const shown = this.lab.value?.plots.map((plot) => plot.seconds) ?? [];
    this.history.longest = Math.max(KEPT * this.timeUnit.value, ...shown);
  }

  /** Once the motion is there for the first time: take up the state of the link, let time run. */
  #begin(): void {
    if (this.#opened) return;
    this.#opened = true;
    if (this.options.document) this.send({ type: "restore", document: this.options.document });
    else if (this.options.autoplay !== false && !reducedMotion.matches) this.send({ type: "play" });
  }

  /** Another structure: what is plotted by the same name goes on, the rest begins. */
  #show(view: LabView): void {
    const traced = view.bodies.filter((body) => body.trail);
    const dimensions = ["x", "y", "z"].slice(0, dimensionOf(view));
    const names = [
      ...view.channels.map((channel) => channel.name),
      ...traced.flatMap((body) => dimensions.map((axis) => `${body.ghost ? "ghost " : ""}${body.label} ${axis}`)),
    ];
    this.history.rearrange(names.map((name) => this.#columns.indexOf(name)));
    this.#columns = names;
    this.equations.value = null;
    this.surface.value = null;
    this.curves.value = null;
    // A frame that came but will not be drawn any more counts as seen too, or the server would wait for ever.
    if (this.#latest) this.send({ type: "seen", sequence: this.#latest.sequence });
    this.#latest = null;
    this.readout.value = null;
    this.lab.value = view;
    this.#keepEnough();
  }

  /** Take over a frame's rows: time, channels, places of the traced bodies. */
  #remember(frame: Frame): void {
    const width = frame.sample_width;
    if (this.history.width !== width - 1) this.history.clear(width - 1);
    for (let row = 0; row < frame.samples; row++) {
      const time = frame.sample[row * width]!;
      if (Number.isNaN(time)) this.history.interrupt();
      else this.history.push(time, frame.sample.subarray(row * width + 1, (row + 1) * width));
    }
  }
}

/** Numbers in a place: three as soon as one picture is of space. */
export function dimensionOf(view: LabView): number {
  return view.pictures.some((picture) => picture.kind !== "plane") ? 3 : 2;
}

export const StudioContext = createContext<Studio | null>(null);

export function useStudio(): Studio {
  const studio = useContext(StudioContext);
  if (!studio) throw new Error("A part of the studio was put where there is no studio.");
  return studio;
}
