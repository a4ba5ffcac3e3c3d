// The page's state. Slow things are signals that the controls follow; frames go straight to whoever draws them.

import { signal } from "@preact/signals";
import { reducedMotion } from "./colours";
import { Connection, type Link } from "./connection";
import { History } from "./history";
import { PROTOCOL, type Command, type Controls, type Frame, type LabEntry, type LabView, type Notice } from "./wire";

/** Seconds of motion that the plots show. */
export const WINDOW = 20;
/** Seconds of motion that a trail lasts. */
export const TRAIL = 4;
const READOUT_EVERY = 100;
const REFUSAL_SHOWN = 6000;

export const link = signal<Link>({ state: "connecting" });
export const lab = signal<LabView | null>(null);
export const labs = signal<readonly LabEntry[]>([]);
export const controls = signal<Controls | null>(null);
export const refusal = signal<string | null>(null);
/** The frame whose numbers are written out: each one when time is held, ten a second when it runs. */
export const readout = signal<Frame | null>(null);
export const trailShown = signal(!reducedMotion.matches);

export const energies = new History(0, WINDOW);
export const trail = new History(2, TRAIL);

const painters = new Set<(frame: Frame) => void>();
let latest: Frame | null = null;
let scheduled = false;
let lastReadout = 0;
let opened = false;
let refusalTimer: ReturnType<typeof setTimeout> | undefined;

const connection = new Connection({
  link: (state) => {
    link.value = state;
  },
  notice: receive,
  frame: (frame) => {
    remember(frame);
    latest = frame;
    repaint();
  },
});

export function send(command: Command): void {
  connection.send(command);
}

/** Draw on every frame, until the function returned is called. */
export function onFrame(paint: (frame: Frame) => void): () => void {
  painters.add(paint);
  if (latest) paint(latest);
  return () => painters.delete(paint);
}

/** Draw the latest frame once more, in the browser's own time. */
export function repaint(): void {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(draw);
}

function draw(now: number): void {
  scheduled = false;
  if (!latest) return;
  for (const paint of painters) paint(latest);
  // Only a frame that was drawn counts as seen: a hidden page draws none, so it is sent none.
  send({ type: "seen", sequence: latest.sequence });
  if (!controls.value?.playing || now - lastReadout >= READOUT_EVERY) {
    lastReadout = now;
    readout.value = latest;
  }
}

function receive(notice: Notice): void {
  switch (notice.type) {
    case "welcome":
      if (notice.protocol !== PROTOCOL) {
        link.value = { state: "refused", reason: "The page is of another version than the studio: load it again." };
        connection.close();
        return;
      }
      energies.clear(notice.lab.energies.length);
      trail.clear(2);
      labs.value = notice.labs;
      lab.value = notice.lab;
      break;
    case "controls":
      controls.value = notice;
      if (notice.phase === "ready" && !opened) {
        opened = true;
        if (!reducedMotion.matches) send({ type: "play" });
      }
      if (!notice.playing) repaint();
      break;
    case "refused":
      refuse(notice.message);
      break;
  }
}

function refuse(message: string): void {
  refusal.value = message;
  clearTimeout(refusalTimer);
  refusalTimer = setTimeout(() => (refusal.value = null), REFUSAL_SHOWN);
}

/** Take over a frame's rows: time, energies, place of the traced body. */
function remember(frame: Frame): void {
  for (let row = 0; row < frame.samples; row++) {
    const values = frame.sample.subarray(row * frame.sample_width, (row + 1) * frame.sample_width);
    const time = values[0]!;
    if (Number.isNaN(time)) {
      energies.interrupt();
      trail.interrupt();
    } else {
      energies.push(time, values.subarray(1, 1 + frame.energies));
      trail.push(time, values.subarray(1 + frame.channels));
    }
  }
}
