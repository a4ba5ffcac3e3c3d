// What the hand holds: a button over each body, for pointer, touch and keyboard alike.

import type { RefObject } from "preact";
import { useRef } from "preact/hooks";
import { moveTo, place } from "../commands";
import { toMetres, type View } from "../picture/view";
import { send } from "../store";

interface Props {
  readonly index: number;
  readonly label: string;
  readonly anchors: number;
  readonly view: RefObject<View>;
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

export function Handle({ index, label, view, keep }: Props) {
  const grip = useRef<Grip | null>(null);

  const down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    const button = event.currentTarget as HTMLButtonElement;
    button.setPointerCapture(event.pointerId);
    const [x, y] = pointer(event, button, view.current!);
    // Where within the bob it was taken, so that it does not jump to the pointer.
    grip.current = { dx: Number(button.dataset["x"]) - x, dy: Number(button.dataset["y"]) - y, pending: 0 };
    send({ type: "drag-begin", body: index });
  };
  const move = (event: PointerEvent): void => {
    const held = grip.current;
    if (!held) return;
    const [x, y] = pointer(event, event.currentTarget as HTMLButtonElement, view.current!);
    cancelAnimationFrame(held.pending);
    held.last = [x + held.dx, y + held.dy];
    held.pending = requestAnimationFrame(() => flush(held));
  };
  const up = (): void => {
    const held = grip.current;
    if (!held) return;
    cancelAnimationFrame(held.pending);
    flush(held);
    grip.current = null;
    send({ type: "drag-end", x: 0, y: 0, z: 0 });
  };
  const key = (event: KeyboardEvent): void => {
    const way = ARROWS[event.key];
    if (!way || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const button = event.currentTarget as HTMLButtonElement;
    const far = (event.shiftKey ? SHOVE : NUDGE) / view.current!.scale;
    place(index, Number(button.dataset["x"]) + far * way[0], Number(button.dataset["y"]) + far * way[1]);
  };

  return (
    <button
      type="button"
      class="handle"
      data-body={index}
      ref={keep}
      aria-label={`${label}: drag it, or move it with the arrow keys`}
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={up}
      onPointerCancel={up}
      onLostPointerCapture={up}
      onKeyDown={key}
    >
      {index + 1}
    </button>
  );
}

interface Grip {
  readonly dx: number;
  readonly dy: number;
  pending: number;
  last?: [number, number];
}

/** At most one move per picture; the pointer reports more often than anything is drawn. */
function flush(grip: Grip): void {
  if (!grip.last) return;
  moveTo(...grip.last);
  delete grip.last;
}

function pointer(event: PointerEvent, button: HTMLElement, view: View): [number, number] {
  const box = button.parentElement!.getBoundingClientRect();
  return toMetres(view, event.clientX - box.left, event.clientY - box.top);
}
