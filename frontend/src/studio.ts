// The state of one mounted studio. Slow things are signals that the controls follow; frames go straight to whoever draws.

import { computed, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { type Answer, forgetAnswers, isAnswer, isCurrent, type Kept, keepAnswer } from "./answers";
import { reducedMotion } from "./colours";
import { History } from "./history";
import { type Layout, LONGEST_LAYOUT, readLayout, writeLayout } from "./layout";
import { type PlotSpec, pairs, specOf } from "./plot/axis";
import { dimensionOf } from "./plot/variable";
import { Refusals } from "./refusals";
import type { CommandType, Link, Source } from "./source";
import {
  type Command,
  type Controls,
  type Curves,
  type Download,
  type Equations,
  type Fault,
  type Field,
  type Frame,
  FrameFlag,
  type LabEntry,
  type LabView,
  type Notice,
  PROTOCOL,
  type Shared,
  type Surface,
} from "./wire";
import { t, translated } from "./words";
import type { Work } from "./work";

/** Seconds of motion that are kept for plots and trails. */
export const KEPT = 60;
const READOUT_EVERY = 100;
const SAID_FOR = 6000;
const PATIENCE = 1000;
/** Milliseconds between two savings of the state, while something changes. */
const SAVE_EVERY = 1500;

export interface Options {
  /** A state document to take up as soon as the motion is there. */
  readonly document?: string | null;
  /** Whether time should run at once, where the user has not asked for less motion. */
  readonly autoplay?: boolean;
  /** Where the state is kept over a reload. */
  readonly work?: Work;
}

/** The step of a story that is shown. */
export interface StoryPlace {
  readonly name: string;
  readonly step: number;
}

export class Studio {
  readonly link = signal<Link>({ state: "connecting" });
  readonly lab = signal<LabView | null>(null);
  readonly labs = signal<readonly LabEntry[]>([]);
  readonly controls = signal<Controls | null>(null);
  readonly said = signal<string | null>(null);
  /** Why the last value of a setting was refused, by its name; it stands at the control until the next value. */
  readonly refusals = new Refusals();
  /** The frame whose numbers are written out: each one when time is held, ten a second when it runs. */
  readonly readout = signal<Frame | null>(null);
  /** Whether physics has taken longer than the clock allows for a while; single late frames do not count. */
  readonly behind = signal(false);
  readonly equations = signal<Equations | null>(null);
  /** The last state document that was asked for. */
  readonly shared = signal<Shared | null>(null);
  readonly download = signal<Download | null>(null);
  /** What stands still behind the motion. */
  readonly surface = signal<Surface | null>(null);
  readonly field = signal<Field | null>(null);
  readonly curves = signal<Curves | null>(null);
  /** What the page keeps for itself in the lab's settings, changed by `arrange`. */
  readonly layout = signal<Layout>({});
  /** The user's plots of variables that there are, or the lab's own. */
  readonly plots = computed<readonly PlotSpec[]>(() => {
    const view = this.lab.value;
    if (!view) return [];
    const own = this.layout.value.plots;
    const kept = own?.filter((spec) => pairs(view, spec).length > 0);
    return kept && (kept.length > 0 || own?.length === 0) ? kept : view.plots.map((plot, i) => specOf(view, plot, i));
  });
  readonly trailsShown = signal(!reducedMotion.matches);
  /** Whether every body's path is drawn, or only that of the last one, which says most. */
  readonly trailsOfAll = signal(true);
  /** In units of `timeUnit`. */
  readonly trailSeconds = signal(4);
  /** Seconds of motion that pass in a second of the clock at the opening: a recording may be of hours or of milliseconds. */
  readonly timeUnit = signal(1);
  readonly history = new History(0, KEPT);
  readonly story = signal<StoryPlace | null>(null);
  /** Whether a body was dragged, so that no hint is needed. */
  readonly dragged = signal(false);

  readonly #answers: Kept = {
    equations: this.equations,
    shared: this.shared,
    download: this.download,
    surface: this.surface,
    field: this.field,
    curves: this.curves,
  };
  readonly #painters = new Set<(frame: Frame) => void>();
  #latest: Frame | null = null;
  #columns: readonly string[] = [];
  #scheduled = false;
  #lastReadout = 0;
  #opened = false;
  #clockChanged = 0;
  #saidTimer: ReturnType<typeof setTimeout> | undefined;
  #page = "";
  #saveTimer: ReturnType<typeof setTimeout> | undefined;
  /** The state of a link that was opened before the motion was there. */
  #wanted: string | null;

  constructor(
    private readonly source: Source,
    private readonly options: Options = {},
  ) {
    this.#wanted = options.document ?? null;
  }

  open(): void {
    this.source.open({
      link: (link) => (this.link.value = link),
      notice: (notice) => this.#receive(notice),
      frame: (frame) => this.#take(frame),
    });
  }

  /** Let the source rest until `open` is called again; what is shown stays. */
  leave(): void {
    clearTimeout(this.#saveTimer);
    this.#saveTimer = undefined;
    this.source.close();
  }

  close(): void {
    clearTimeout(this.#saveTimer);
    clearTimeout(this.#saidTimer);
    this.#painters.clear();
    this.source.close();
  }

  can(command: CommandType): boolean {
    return this.source.can(command);
  }

  send(command: Command): void {
    if (!this.source.can(command.type)) return;
    this.refusals.sent(command);
    this.source.send(command);
  }

  get latest(): Frame | null {
    return this.#latest;
  }

  /** Whether the motion is there and can be moved. */
  get ready(): boolean {
    const phase = this.controls.value?.phase;
    return phase === "ready" || phase === "compiling"; // the old motion goes on meanwhile
  }

  /** Whether there is a motion of the settings that are shown; else their faults say why not. */
  get moves(): boolean {
    return this.ready && this.controls.value?.faults.length === 0;
  }

  /** Why the value of a setting makes no motion, or why the last one was refused; null where nothing is wrong with it. */
  wrongWith(setting: string): Fault | null {
    const fault = this.controls.value?.faults.find((one) => one.setting === setting);
    return fault ?? this.refusals.bySetting.value[setting] ?? null;
  }

  /** Take up the state of a document, as soon as the motion is there. */
  restore(document: string): void {
    this.#wanted = document;
    if (this.#opened && this.link.value.state === "open") this.#begin();
  }

  /** Show a step of a story. */
  tell(name: string, step: number): void {
    this.story.value = { name, step };
    this.send({ type: "act", name: `story:${name}:${step}` });
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

  /** Change the layout. The studio keeps it, so that undo takes it back and links have it; without one the page does. */
  arrange(change: Partial<Layout>): void {
    const next = { ...this.layout.value, ...change };
    const value = writeLayout(next);
    if (value.length > LONGEST_LAYOUT) {
      this.say(t("There are too many plots, or their formulas are too long, to be kept. Close a plot first."));
      return;
    }
    this.layout.value = next;
    this.send({ type: "set-text", name: "page", value, settled: true });
    this.#keepEnough();
  }

  /** Say one sentence for a while: why something was refused, or what comes of it. */
  say(message: string): void {
    this.said.value = message;
    clearTimeout(this.#saidTimer);
    this.#saidTimer = setTimeout(() => (this.said.value = null), SAID_FOR);
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

  /** Whether an answer is still of what is shown. */
  isCurrent(answer: Answer): boolean {
    return isCurrent(answer, this.controls.value);
  }

  #receive(notice: Notice): void {
    if (isAnswer(notice)) {
      if (!this.isCurrent(notice)) return;
      keepAnswer(this.#answers, notice);
    }
    switch (notice.type) {
      case "welcome":
        if (notice.protocol !== PROTOCOL) {
          this.link.value = { state: "refused", reason: t("The page is of another version than the studio: load it again.") };
          this.source.close();
          return;
        }
        this.labs.value = notice.labs;
        if (!notice.resumed) {
          this.history.clear(0);
          this.#columns = [];
          this.#page = "";
          this.layout.value = {};
        }
        this.#opened = notice.resumed && this.#wanted === null;
        this.#show(notice.lab);
        break;
      case "lab":
        this.#show(notice.lab);
        break;
      case "controls":
        if (!this.controls.value) this.#scale(notice.speed);
        this.refusals.changed(this.controls.value, notice);
        if (notice.current.history !== this.controls.value?.current.history) this.history.clear(this.history.width);
        this.controls.value = notice;
        forgetAnswers(this.#answers, (answer) => !this.isCurrent(answer));
        this.#takePage(notice.texts.page ?? "");
        if (notice.phase === "ready" || notice.phase === "opening") this.#begin();
        this.#saveSoon();
        if (!notice.playing) this.repaint();
        break;
      case "refused":
        if (!this.refusals.stands(notice, this.lab.value)) this.say(translated(notice.message));
        break;
      case "announced":
        this.say(translated(notice.message));
        break;
      case "shared":
        this.options.work?.save({ document: notice.document, playing: this.controls.value?.playing ?? false });
        break;
    }
  }

  #scale(speed: number): void {
    this.timeUnit.value = this.can("set-parameter") ? 1 : speed;
    this.#keepEnough();
  }

  /** The layout that the studio has, where it is another than before: by a link, undo or a reset. */
  #takePage(page: string): void {
    if (page === this.#page) return;
    this.#page = page;
    if (page !== writeLayout(this.layout.value)) this.layout.value = readLayout(page);
    this.#keepEnough();
  }

  #keepEnough(): void {
    const shown = this.plots.value.map((plot) => plot.seconds || Infinity);
    this.history.longest = Math.max(KEPT * this.timeUnit.value, ...shown);
  }

  /** Once the studio listens for the first time: take up the state of the link, let time run. */
  #begin(): void {
    if (this.#opened && this.#wanted === null) return;
    const before = this.#wanted === null ? this.options.work?.load() : null;
    const document = this.#wanted ?? before?.document;
    this.#opened = true;
    this.#wanted = null;
    if (document) this.send({ type: "restore", document });
    if (reducedMotion.matches) return;
    if (before ? before.playing : !document && this.options.autoplay !== false) this.send({ type: "play" });
  }

  /** Ask for the state now and then while it changes, so that it can be kept. */
  #saveSoon(): void {
    if (!this.options.work || this.#saveTimer !== undefined) return;
    this.#saveTimer = setTimeout(() => {
      this.#saveTimer = undefined;
      this.#askToSave();
      if (this.controls.value?.playing) this.#saveSoon();
    }, SAVE_EVERY);
  }

  #askToSave(): void {
    // What is about to begin has no state yet: the next change of the controls saves it.
    if (this.options.work && this.#opened && this.moves && this.link.value.state === "open") this.send({ type: "share" });
  }

  /** Another view: what is plotted by the same name goes on while the coordinates are the same ones; else all begins anew. */
  #show(view: LabView): void {
    const structure = (lab: LabView | null): string => `${lab?.name} ${lab?.coordinates.map((coordinate) => coordinate.name).join()}`;
    if (structure(view) !== structure(this.lab.value)) this.history.clear(this.history.width);
    const traced = view.bodies.filter((body) => body.trail);
    const dimensions = ["x", "y", "z"].slice(0, dimensionOf(view));
    const names = [
      ...view.channels.map((channel) => channel.name),
      // another model of a space has another title: paths that were drawn in the one before do not go on
      ...traced.flatMap((body) =>
        dimensions.map((axis) => `${view.pictures[body.picture]?.title} ${body.ghost ? "ghost " : ""}${body.label} ${axis}`),
      ),
    ];
    this.history.rearrange(names.map((name) => this.#columns.indexOf(name)));
    this.#columns = names;
    forgetAnswers(this.#answers);
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

export const StudioContext = createContext<Studio | null>(null);

export function useStudio(): Studio {
  const studio = useContext(StudioContext);
  if (!studio) throw new Error("A part of the studio was put where there is no studio.");
  return studio;
}
