// A motion that was computed before, or is computed a little ahead: time is kept here, not in Python.

import { readLayout } from "./layout";
import type { CommandType, Listener, Source } from "./source";
import { Tape } from "./tape";
import { type Command, type Controls, type Frame, FrameFlag, type LabView, type Notice, type Welcome } from "./wire";

/** What a recording begins with; `holonomy.viewer.recording` writes it. */
export interface Head {
  readonly welcome: Welcome;
  readonly controls: Controls;
  /** Steps of the method over the whole of it. */
  readonly steps: number;
  readonly rows: number;
  /** Numbers of a row after its time: the channels, then others that `state` points to. */
  readonly width: number;
  /** Points of the picture, and numbers of each. */
  readonly points: number;
  readonly dimension: number;
  /** Where in a row the numbers of a state are. */
  readonly state: Readonly<Record<"q" | "v" | "energy" | "strain", readonly number[]>>;
  /** What stands still behind the motion. */
  readonly behind: readonly Notice[];
}

/** Whoever has more rows: asked for those from `first` on, and answers through `Recording.append`. */
export interface Supply {
  can(command: CommandType): boolean;
  ask(first: number, rows: number): void;
  /** Change the motion from a row on. */
  change(command: Command, row: number): void;
}

/** The browser's pictures. */
export interface Clock {
  next(draw: (milliseconds: number) => void): number;
  cancel(request: number): void;
}

const BROWSER: Clock = { next: (draw) => requestAnimationFrame(draw), cancel: (request) => cancelAnimationFrame(request) };

const OWN = new Set<CommandType>(["play", "pause", "step", "seek", "set-speed", "reset", "seen"]);
/** Seconds of the clock before which nothing is plotted. */
const PAST = 60;
/** Rows that are handed over for plots at once, at most. */
const MOST_ROWS = 4000;
/** Seconds of the clock that are asked for ahead. */
const AHEAD = 0.6;
/** A page that was hidden does not leap to where it would be. */
const LONGEST_STRIDE = 0.1;

export class Recording implements Source {
  readonly #tape: Tape;
  readonly #view: LabView;
  readonly #traced: readonly number[];
  readonly #dimension: number;
  readonly #window: number;
  #listener: Listener | null = null;
  #controls: Controls;
  #row = 0;
  /** The last row whose numbers the plots have, with all before it that matter; -1 for none. */
  #shown = -1;
  #time = 0;
  #sequence = 0;
  #request = 0;
  #last: number | null = null;
  #asked = 0;
  #changing = false;
  #waiting: { command: Command; row: number }[] = [];
  /** Whether time goes on when the body that is held is let go. */
  #resume = false;

  constructor(
    private readonly head: Head,
    numbers: ArrayBuffer,
    private readonly supply: Supply | null = null,
    private readonly clock: Clock = BROWSER,
  ) {
    const view = head.welcome.lab;
    this.#view = view;
    this.#controls = head.controls;
    this.#dimension = head.dimension;
    this.#tape = new Tape({ table: 1 + head.width, places: head.points * head.dimension });
    this.#tape.append(head.rows, numbers);
    this.#traced = view.bodies.flatMap((body, i) => (body.trail ? [view.anchors + i] : []));
    const plots = readLayout(head.controls.texts.page).plots ?? view.plots;
    this.#window = Math.max(PAST * head.controls.speed, ...plots.map((plot) => plot.seconds || Infinity));
    this.#time = this.#tape.time(0);
  }

  can(command: CommandType): boolean {
    return OWN.has(command) || (this.supply?.can(command) ?? false);
  }

  open(listener: Listener): void {
    this.#listener = listener;
    listener.link({ state: "open" });
    listener.notice(this.head.welcome);
    this.#say({});
    for (const notice of this.head.behind) listener.notice(notice);
    this.#show(0);
  }

  close(): void {
    this.clock.cancel(this.#request);
    this.#listener = null;
  }

  send(command: Command): void {
    switch (command.type) {
      case "play":
        return this.#play();
      case "pause":
        return this.#hold();
      case "step":
        this.#hold();
        return this.#go(this.#row + command.frames * this.#stride());
      case "seek":
        this.#hold();
        return this.#go(this.#tape.nearest(command.time));
      case "set-speed":
        return this.#say({ speed: command.value });
      case "reset":
        if (command.defaults) this.#say({ speed: this.head.controls.speed });
        return this.supply ? this.#change(command, 0) : this.#go(0);
      case "drag-begin":
        this.#resume = this.#controls.playing;
        this.#hold();
        return this.#change(command, this.#row);
      case "drag-end":
        this.#change(command, this.#row);
        if (this.#resume) this.#play();
        return;
      case "seen":
        return;
      default:
        this.#change(command, this.#row);
    }
  }

  /** One change at a time is on its way to Python; of those that come meanwhile of one kind, the last one counts. */
  #change(command: Command, row: number): void {
    if (!this.#changing) {
      this.#changing = true;
      this.supply?.change(command, row);
      return;
    }
    const [before] = this.#waiting.slice(-1);
    if (before && before.command.type === command.type && command.type !== "drag-end") this.#waiting.pop();
    this.#waiting.push({ command, row });
  }

  /** Python has answered a change. */
  #answered(): void {
    this.#changing = false;
    const next = this.#waiting.shift();
    if (next) this.#change(next.command, next.row);
  }

  /** More rows from Python: those after all that were there. */
  append(rows: number, numbers: ArrayBuffer): void {
    this.#tape.append(rows, numbers);
    this.#asked = 0;
    this.#widen(this.#tape.length - rows);
    if (!this.#controls.playing) this.#show(this.#row); // the timeline has become longer
  }

  /** From this row on the motion is another one, which begins with these numbers. */
  turn(row: number, numbers: ArrayBuffer, controls: Partial<Controls>): void {
    this.#tape.cut(row);
    this.#tape.append(1, numbers);
    this.#asked = 0;
    this.#shown = row === 0 ? -1 : Math.min(this.#shown, row - 1);
    this.#widen(row);
    this.#say(controls);
    this.#go(row);
    this.#answered();
  }

  get length(): number {
    return this.#tape.length;
  }

  /** The motion cannot go on, and why. */
  end(message: string): void {
    this.#hold();
    this.#listener?.notice({ type: "refused", of: null, message, command: "play", setting: "", start: 0, end: 0 });
  }

  /** Python has not done what was asked, and says why. */
  refuse(message: string, command: string): void {
    this.#listener?.notice({ type: "refused", of: null, message, command, setting: "", start: 0, end: 0 });
    this.#answered();
  }

  #say(change: Partial<Controls>): void {
    this.#controls = { ...this.#controls, ...change };
    this.#listener?.notice(this.#controls);
  }

  #play(): void {
    if (this.#controls.playing) return;
    if (!this.supply && this.#row === this.#tape.length - 1) this.#go(0);
    this.#say({ playing: true });
    this.#last = null;
    this.#request = this.clock.next((now) => this.#tick(now));
  }

  #hold(): void {
    this.clock.cancel(this.#request);
    if (this.#controls.playing) {
      this.#time = this.#tape.time(this.#row);
      this.#say({ playing: false });
      this.#show(this.#row);
    }
  }

  #tick(now: number): void {
    const end = this.#tape.length - 1;
    const passed = this.#last === null ? 0 : Math.min(LONGEST_STRIDE, (now - this.#last) / 1000);
    this.#last = now;
    this.#time = Math.min(this.#time + passed * this.#controls.speed, this.#tape.time(end));
    const row = this.#tape.at(this.#time);
    if (row !== this.#row) this.#show(row);
    if (this.supply) this.#fetch();
    else if (row === end) return this.#hold();
    this.#request = this.clock.next((later) => this.#tick(later));
  }

  /** Ask for rows before they are wanted; once, until they have come. */
  #fetch(): void {
    const missing = this.#time + AHEAD * this.#controls.speed - this.#tape.time(this.#tape.length - 1);
    if (missing <= 0 || this.#asked === this.#tape.length) return;
    this.#asked = this.#tape.length;
    this.supply!.ask(this.#tape.length, Math.ceil((missing + AHEAD * this.#controls.speed) / this.#spacing()));
  }

  #go(row: number): void {
    const wanted = Math.max(0, row);
    if (this.supply && wanted >= this.#tape.length) this.supply.ask(this.#tape.length, wanted + 1 - this.#tape.length);
    const reached = Math.min(wanted, this.#tape.length - 1);
    this.#time = this.#tape.time(reached);
    this.#show(reached);
  }

  #spacing(): number {
    const rows = this.#tape.length - 1;
    const mean = rows > 0 ? (this.#tape.time(rows) - this.#tape.time(0)) / rows : 0;
    return mean > 0 ? mean : this.#view.frame_seconds;
  }

  /** Rows of one step: as many as a picture takes at the opening speed. */
  #stride(): number {
    return Math.max(1, Math.round(this.#view.frame_seconds / this.#spacing()));
  }

  #show(row: number): void {
    this.#row = row;
    const { flags, sample, rows } = this.#rowsUpTo(row);
    this.#shown = row;
    const [view, tape] = [this.#view, this.#tape];
    const numbers = tape.channels(row);
    const part = (places: readonly number[]): Float64Array => Float64Array.from(places, (place) => numbers[place]!);
    const { q, v, energy, strain } = this.head.state;
    // The last energy of the first motion is its total; those of a ghost follow.
    const total = energy[view.energies.findIndex((one) => one.total)] ?? energy[0] ?? 0;
    const [first, last] = [tape.time(0), tape.time(tape.length - 1)];
    const done = last > first ? (tape.time(row) - first) / (last - first) : 1;
    const steps = this.supply ? (tape.time(row) - first) / view.dt : this.head.steps * done;
    this.#listener?.frame({
      sequence: ++this.#sequence,
      flags,
      revision: view.revision,
      coordinates: q.length,
      energies: energy.length,
      channels: view.channels.length,
      points: this.head.points,
      dimension: this.#dimension,
      rods: view.rods.length,
      traced: this.#traced.length,
      samples: rows,
      sample_width: this.#width(),
      time: tape.time(row),
      drift: numbers[total]! - tape.channels(0)[total]!,
      rate: this.#controls.playing ? this.#controls.speed : 0,
      oldest: first,
      newest: last,
      steps: Math.round(steps),
      q: part(q),
      v: part(v),
      energy: part(energy),
      channel: numbers.slice(0, view.channels.length),
      position: Float64Array.from(tape.places(row)),
      strain: strain.length > 0 ? part(strain) : new Float64Array(view.rods.length),
      sample,
    } satisfies Frame);
  }

  /** What plots and paths need that they do not have: the rows since the last one, or all that matter after a leap back. */
  #rowsUpTo(row: number): { flags: number; sample: Float64Array; rows: number } {
    const start = this.#tape.at(this.#tape.time(row) - this.#window);
    const back = row < this.#shown || this.#shown < 0;
    const from = back ? start : Math.max(start, this.#shown + 1);
    // Of very many rows, every n-th is enough for a curve; the same ones each time, so that curves do not shiver.
    const shown = Math.min(this.#window, this.supply ? Infinity : this.#tape.time(this.#tape.length - 1) - this.#tape.time(0));
    const every = Number.isFinite(shown) ? Math.max(1, Math.ceil(shown / this.#spacing() / MOST_ROWS)) : 1;
    const chosen: number[] = [];
    for (let i = from; i < row; i++) if (i % every === 0) chosen.push(i);
    chosen.push(row);
    const width = this.#width();
    const sample = new Float64Array(chosen.length * width);
    chosen.forEach((which, i) => this.#write(which, sample.subarray(i * width, (i + 1) * width)));
    return { flags: this.#controls.playing ? FrameFlag.PLAYING : 0, sample, rows: chosen.length };
  }

  #width(): number {
    return 1 + this.#view.channels.length + this.#traced.length * this.#dimension;
  }

  #write(row: number, into: Float64Array): void {
    const channels = this.#tape.channels(row).subarray(0, this.#view.channels.length);
    const [places, d] = [this.#tape.places(row), this.#dimension];
    into[0] = this.#tape.time(row);
    into.set(channels, 1);
    this.#traced.forEach((point, i) => into.set(places.subarray(point * d, (point + 1) * d), 1 + channels.length + i * d));
  }

  /** A motion that goes on may leave the picture: then the picture takes in more. */
  #widen(first: number): void {
    const extent = this.#controls.extents[0];
    if (extent === undefined) return;
    let size = 0;
    for (let row = first; row < this.#tape.length; row++) {
      for (const place of this.#tape.places(row)) if (Number.isFinite(place)) size = Math.max(size, Math.abs(place));
    }
    if (size > extent) this.#say({ extents: this.#controls.extents.map(() => 1.2 * size) });
  }
}
