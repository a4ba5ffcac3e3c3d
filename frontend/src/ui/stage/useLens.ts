// Zooming and moving a picture: wheel, pinch, drag beside the bodies, double click and keys.

import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Lens, moved, WHOLE, zoomed } from "../../picture/lens";

/** What a drag with one finger or the main button does beside the bodies. */
type Single = "move" | "turn";

export interface LensTools {
  readonly zoomed: boolean;
  zoom(factor: number): void;
  fit(): void;
}

/** How much a step of the wheel or a button zooms. */
const [WHEEL, STEP] = [0.0016, 1.3];
/** Milliseconds and pixels between two taps that count as a double one. */
const [TAPS, NEAR] = [350, 24];

interface Options {
  readonly root: RefObject<HTMLDivElement>;
  readonly lens: RefObject<Lens>;
  readonly single: Single;
  /** The pixel about which the lens zooms, twice: the width and height of a picture whose middle it is. */
  readonly middle?: () => readonly [number, number];
  /** Called when the lens has changed. */
  readonly changed: () => void;
  /** Called on Fit, for what else has to come back. */
  readonly fitted?: () => void;
}

export function useLens({ root, lens, single, middle, changed, fitted }: Options): LensTools {
  const [isZoomed, setZoomed] = useState(false);
  const latest = useRef({ changed, middle, fitted });
  latest.current = { changed, middle, fitted };

  const set = (next: Lens): void => {
    lens.current = next;
    setZoomed(next !== WHOLE);
    root.current!.dataset.zoom = next.zoom.toFixed(3);
    latest.current.changed();
  };
  const about = (factor: number, at?: readonly [number, number]): void => {
    const box = root.current!.getBoundingClientRect();
    const [wide, high] = latest.current.middle?.() ?? [box.width, box.height];
    set(zoomed(lens.current!, factor, at ?? [wide / 2, high / 2], wide, high));
  };
  const fit = (): void => {
    set(WHOLE);
    latest.current.fitted?.();
  };

  useEffect(() => {
    const stage = root.current!;
    const stop = listen(stage, single, { about, fit, move: (dx, dy) => set(moved(lens.current!, dx, dy)) });
    return stop;
  }, []);
  return { zoomed: isZoomed, zoom: about, fit };
}

interface Acts {
  about(factor: number, at?: readonly [number, number]): void;
  move(dx: number, dy: number): void;
  fit(): void;
}

function listen(stage: HTMLElement, single: Single, { about, move, fit }: Acts): () => void {
  const held = new Map<number, readonly [number, number]>();
  let tap: readonly [number, number, number] = [-Infinity, 0, 0];
  const at = (event: MouseEvent): [number, number] => {
    const box = stage.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  /** Whether the picture itself was touched, and nothing on it. */
  const background = (event: Event): boolean =>
    event.target === stage || event.target instanceof HTMLCanvasElement || (event.target as Element).closest(".axes, .caption") !== null;
  const wheel = (event: WheelEvent): void => {
    // In a notebook the wheel belongs to the page around, unless Ctrl is held, as a pinch on a touchpad does.
    if (!event.ctrlKey && !document.body.classList.contains("holonomy-page")) return;
    event.preventDefault();
    about(Math.exp(-WHEEL * (event.ctrlKey ? 4 : 1) * event.deltaY), at(event));
  };
  const down = (event: PointerEvent): void => {
    if (!background(event)) return;
    if (event.pointerType === "touch" && held.size === 0) {
      const [x, y] = at(event);
      if (event.timeStamp - tap[0] < TAPS && Math.hypot(x - tap[1], y - tap[2]) < NEAR) fit();
      tap = [event.timeStamp, x, y];
    }
    held.set(event.pointerId, at(event));
    if (single === "move" && event.pointerType !== "touch") stage.setPointerCapture(event.pointerId);
  };
  const drag = (event: PointerEvent): void => {
    const from = held.get(event.pointerId);
    if (!from) return;
    const to = at(event);
    const other = [...held].find(([id]) => id !== event.pointerId)?.[1];
    held.set(event.pointerId, to);
    if (other) {
      const [was, is] = [Math.hypot(from[0] - other[0], from[1] - other[1]), Math.hypot(to[0] - other[0], to[1] - other[1])];
      about(is / Math.max(1, was), [(to[0] + other[0]) / 2, (to[1] + other[1]) / 2]);
      move((to[0] - from[0]) / 2, (to[1] - from[1]) / 2);
    } else if (single === "move" ? (event.buttons & 5) !== 0 : event.shiftKey || (event.buttons & 4) !== 0) {
      move(to[0] - from[0], to[1] - from[1]);
    }
  };
  const up = (event: PointerEvent): void => void held.delete(event.pointerId);
  const doubled = (event: MouseEvent): void => {
    if (background(event)) fit();
  };
  const key = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target instanceof HTMLInputElement) return;
    if (event.key === "+" || event.key === "=") about(STEP);
    else if (event.key === "-") about(1 / STEP);
    else if (event.key === "0") fit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  stage.addEventListener("wheel", wheel, { passive: false });
  stage.addEventListener("pointerdown", down);
  stage.addEventListener("pointermove", drag);
  for (const end of ["pointerup", "pointercancel", "lostpointercapture"] as const) stage.addEventListener(end, up);
  stage.addEventListener("dblclick", doubled);
  stage.addEventListener("keydown", key);
  return () => {
    stage.removeEventListener("wheel", wheel);
    stage.removeEventListener("pointerdown", down);
    stage.removeEventListener("pointermove", drag);
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"] as const) stage.removeEventListener(end, up);
    stage.removeEventListener("dblclick", doubled);
    stage.removeEventListener("keydown", key);
  };
}
