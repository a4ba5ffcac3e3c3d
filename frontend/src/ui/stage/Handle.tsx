// What the hand holds: a button over each body, for pointer, touch and keyboard alike.

import type { RefObject } from "preact";
import { useRef } from "preact/hooks";
import { moveTo } from "../../commands";
import type { Triple } from "../../picture/camera";
import { type Sample, throwVelocity } from "../../picture/hand";
import { type Studio, useStudio } from "../../studio";
import type { BodyView } from "../../wire";
import { t, translated } from "../../words";

/** How places and pixels of the stage belong together. */
export interface Aim {
  toPixels(place: Triple): readonly [number, number];
  /** The place that a body taken at `from` is brought to; a sphere has two under every pixel. */
  toPlace(x: number, y: number, from: Triple): Triple;
}

interface Props {
  readonly index: number;
  readonly body: BodyView;
  readonly text: string;
  readonly ink: string;
  /** Of the text, in pixels. */
  readonly size: number;
  readonly aim: RefObject<Aim>;
  readonly disabled: boolean;
  readonly reachable: boolean;
  readonly take: (step: number) => void;
  readonly keep: (button: HTMLButtonElement | null) => void;
}

/** Pixels that an arrow key moves a body, alone and with Shift. */
const NUDGE = 6;
const SHOVE = 40;

const ARROWS: Record<string, readonly [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

interface Grip {
  readonly from: Triple;
  /** From the pointer to the body's middle, in pixels. */
  readonly dx: number;
  readonly dy: number;
  pending: number;
  goal: Triple | null;
  /** Recent places of the hand with their clock in milliseconds. */
  places: Sample[];
}

interface Nudge {
  readonly from: Triple;
  readonly x: number;
  readonly y: number;
}

export function Handle({ index, body, text, ink, size, aim, disabled, reachable, take, keep }: Props) {
  const studio = useStudio();
  const grip = useRef<Grip | null>(null);
  const nudged = useRef<Nudge | null>(null);

  const down = (event: PointerEvent): void => {
    if (event.button !== 0 || disabled) return;
    const button = event.currentTarget as HTMLButtonElement;
    button.setPointerCapture(event.pointerId);
    const [x, y] = pointer(event, button);
    const from = placeOf(button);
    const [px, py] = aim.current!.toPixels(from);
    // Where within the bob it was taken, so that it does not jump to the pointer.
    grip.current = { from, dx: px - x, dy: py - y, pending: 0, goal: null, places: [] };
    studio.send({ type: "drag-begin", body: index });
  };
  const follow = (held: Grip, event: PointerEvent, button: HTMLButtonElement): Triple => {
    const [x, y] = pointer(event, button);
    const goal = aim.current!.toPlace(x + held.dx, y + held.dy, held.from);
    held.places = [...held.places.slice(-63), [...goal, event.timeStamp]];
    return goal;
  };
  const move = (event: PointerEvent): void => {
    const held = grip.current;
    if (!held) return;
    cancelAnimationFrame(held.pending);
    // A slow page is told of several places at once; all of them say how fast the hand is.
    const steps = event.getCoalescedEvents?.() ?? [];
    for (const step of steps.length > 0 ? steps : [event]) held.goal = follow(held, step, event.currentTarget as HTMLButtonElement);
    held.pending = requestAnimationFrame(() => flush(studio, held));
  };
  const up = (event: PointerEvent): void => {
    const held = grip.current;
    if (!held) return;
    cancelAnimationFrame(held.pending);
    flush(studio, held);
    grip.current = null;
    const [x, y, z] = body.throws ? throwVelocity(held.places, event.timeStamp) : [0, 0, 0];
    studio.send({ type: "drag-end", x, y, z });
  };
  const letGo = (): void => {
    if (!nudged.current) return;
    nudged.current = null;
    studio.send({ type: "drag-end", x: 0, y: 0, z: 0 });
  };
  const key = (event: KeyboardEvent): void => {
    const way = ARROWS[event.key];
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "PageDown" || event.key === "PageUp") {
      event.preventDefault();
      take(event.key === "PageDown" ? 1 : -1);
    }
    if (!way || disabled) return;
    event.preventDefault();
    const button = event.currentTarget as HTMLButtonElement;
    const far = event.shiftKey ? SHOVE : NUDGE;
    if (!nudged.current) {
      studio.send({ type: "drag-begin", body: index });
      const from = placeOf(button);
      const [x, y] = aim.current!.toPixels(from);
      nudged.current = { from, x, y };
    }
    const { from, x, y } = nudged.current;
    nudged.current = { from, x: x + far * way[0], y: y - far * way[1] };
    moveTo(studio, ...aim.current!.toPlace(nudged.current.x, nudged.current.y, from));
  };

  return (
    <button
      type="button"
      class={studio.controls.value?.held === index ? "handle held" : "handle"}
      data-body={index}
      ref={keep}
      tabIndex={reachable ? 0 : -1}
      style={{ color: ink, fontSize: `clamp(9px, ${size.toFixed(1)}px, 0.95rem)` }}
      disabled={disabled}
      aria-label={t("{}: drag it, or move it with the arrow keys", translated(body.label))}
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={up}
      onPointerCancel={up}
      onLostPointerCapture={up}
      onKeyDown={key}
      onKeyUp={(event) => event.key in ARROWS && letGo()}
      onBlur={letGo}
    >
      <span>{text}</span>
    </button>
  );
}

/** At most one move per picture; the pointer reports more often than anything is drawn. */
function flush(studio: Studio, grip: Grip): void {
  if (!grip.goal) return;
  moveTo(studio, ...grip.goal);
  grip.goal = null;
}

/** In pixels of the stage. */
function pointer(event: PointerEvent, button: HTMLElement): [number, number] {
  const box = button.parentElement!.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

/** Where the body is; the stage writes it onto the button with every frame. */
function placeOf({ dataset }: HTMLElement): Triple {
  return [Number(dataset.x), Number(dataset.y), Number(dataset.z ?? 0)];
}
