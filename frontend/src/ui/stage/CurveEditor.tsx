// A closed curve over a picture: drawn with mouse, pen or touch, then moved point by point or as a whole, by keys too.

import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type FieldView, toField, toScreen } from "../../picture/fieldview";
import {
  type Loop,
  MOST_POINTS,
  nearestOf,
  nearestPoint,
  onPiece,
  type Point,
  pathOf,
  piecesOf,
  readLoop,
  shifted,
  simplified,
  withMovedPoint,
  withoutPoint,
  withPoint,
  writeLoop,
} from "../../picture/loop";
import { useStudio } from "../../studio";
import type { TextView } from "../../wire";
import { t } from "../../words";
import { RefusalNote, useRefusal } from "../Refusal";

/** Pixels that an arrow key moves, alone and with Shift. */
const [NUDGE, SHOVE] = [4, 24];
/** Within so many pixels of the curve a double click adds a point. */
const NEAR = 14;
/** Points are drawn no larger than this part of the distance between them, within these radii in pixels. */
const [OF_GAP, LEAST_KNOT, LARGEST_KNOT] = [0.3, 1.6, 5];
/** A freehand curve shorter than this many pixels across was a slip. */
const SMALLEST = 12;
const ARROWS: Record<string, readonly [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

interface Props {
  readonly of: TextView;
  readonly view: FieldView;
  readonly stage: RefObject<HTMLDivElement>;
}

/** What is being dragged: a point, or with null the whole curve, where that began, and the curve then and now. */
interface Grip {
  readonly point: number | null;
  readonly x: number;
  readonly y: number;
  readonly from: Loop;
  now: Loop;
}

export function CurveEditor({ of: text, view, stage }: Props) {
  const studio = useStudio();
  const { loop, change, refused } = useLoop(text);
  const [drawing, setDrawing] = useState(false);
  const [stroke, setStroke] = useState<Loop>([]);
  const [chosen, setChosen] = useState(0);
  const grip = useRef<Grip | null>(null);
  const knots = useRef<(HTMLButtonElement | null)[]>([]);

  const screen = loop.map(([x, y]) => toScreen(view, x, y));
  const spline = text.spline !== "" && studio.controls.value?.toggles[text.spline] === true;
  const pieces = piecesOf(screen, spline); // a spline in pixels is the spline of the coordinates: both are affine
  const path = pathOf(pieces);
  const knot = Math.min(LARGEST_KNOT, Math.max(LEAST_KNOT, OF_GAP * gapOf(screen)));
  const at = (event: PointerEvent | MouseEvent): Point => {
    const box = stage.current!.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const place = ([px, py]: Point): Point => toField(view, px, py);
  /** Move a point, or with null the whole curve, by so many pixels. */
  const move = (from: Loop, point: number | null, dx: number, dy: number): Loop => {
    const [x0, y0] = place([0, 0]);
    const [x1, y1] = place([dx, dy]);
    if (point === null) return shifted(from, x1 - x0, y1 - y0);
    return withMovedPoint(from, point, [from[point]![0] + x1 - x0, from[point]![1] + y1 - y0]);
  };

  const take = (event: PointerEvent, whole: boolean): void => {
    if (event.button !== 0) return;
    event.stopPropagation();
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    const [x, y] = at(event);
    // The buttons of points that are close together overlap: the nearest point counts, not the button on top.
    const point = whole ? null : nearestPoint(screen, [x, y]);
    grip.current = { point, x, y, from: loop, now: loop };
    if (point !== null) setChosen(point);
  };
  const carry = (event: PointerEvent): void => {
    const held = grip.current;
    if (!held) return;
    const [x, y] = at(event);
    held.now = move(held.from, held.point, x - held.x, y - held.y);
    change(held.now, false);
  };
  const leave = (): void => {
    const held = grip.current;
    grip.current = null;
    if (held && held.now !== held.from) change(held.now, true);
  };
  const add = (after: number, where: Point): void => {
    change(withPoint(loop, after, where), true);
    setChosen(after + 1);
    requestAnimationFrame(() => knots.current[after + 1]?.focus());
  };
  const addBetween = (): void => {
    const after = Math.min(chosen, loop.length - 1);
    const piece = pieces[after];
    if (piece) add(after, place(onPiece(piece, 0.5)));
  };
  const remove = (point: number): void => {
    change(withoutPoint(loop, point), true);
    const next = Math.min(point, loop.length - 2);
    setChosen(next);
    requestAnimationFrame(() => knots.current[next]?.focus());
  };
  const key = (event: KeyboardEvent, point: number | null): void => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const way = ARROWS[event.key];
    const far = event.shiftKey ? SHOVE : NUDGE;
    if (way) change(move(loop, point, far * way[0], far * way[1]), true);
    else if (point !== null && (event.key === "Delete" || event.key === "Backspace")) remove(point);
    else if (point !== null && (event.key === "Insert" || event.key === "+")) addBetween();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const doubled = (event: MouseEvent): void => {
    const { piece, distance } = nearestOf(pieces, at(event));
    if (distance > NEAR) return;
    event.stopPropagation();
    add(piece, place(at(event)));
  };
  const finish = (): void => {
    setDrawing(false);
    setStroke([]);
    const [xs, ys] = [stroke.map((p) => p[0]), stroke.map((p) => p[1])];
    if (stroke.length < 3 || Math.hypot(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys)) < SMALLEST) return;
    change(simplified(stroke).map(place), true);
  };

  return (
    <div
      class={drawing ? "curve drawing" : "curve"}
      data-curve={text.name}
      data-points={loop.length}
      style={{ "--knot": `${knot.toFixed(1)}px` }}
    >
      <svg aria-hidden="true" onDblClick={doubled}>
        <path class={refused ? "line wrong" : "line"} d={path} />
        <path
          class="grip"
          d={path}
          onPointerDown={(event) => take(event, true)}
          onPointerMove={carry}
          onPointerUp={leave}
          onPointerCancel={leave}
        />
        {stroke.length > 1 && <polyline class="line" points={stroke.map((p) => p.join(",")).join(" ")} />}
      </svg>
      {screen.map(([x, y], i) => (
        <button
          key={i}
          type="button"
          class="knot"
          ref={(button) => {
            knots.current[i] = button;
          }}
          data-knot={i}
          tabIndex={i === Math.min(chosen, loop.length - 1) ? 0 : -1}
          style={{ transform: `translate(${x}px, ${y}px)` }}
          aria-label={t("{}, point {} of {}: move it with the arrow keys, remove it with Delete", t(text.label), i + 1, loop.length)}
          onFocus={() => setChosen(i)}
          onPointerDown={(event) => take(event, false)}
          onPointerMove={carry}
          onPointerUp={leave}
          onPointerCancel={leave}
          onKeyDown={(event) => {
            if (event.key === "PageDown" || event.key === "PageUp") {
              event.preventDefault();
              knots.current[(i + (event.key === "PageDown" ? 1 : loop.length - 1)) % loop.length]?.focus();
            } else key(event, i);
          }}
        />
      ))}
      {drawing && (
        <div
          class="sheet"
          onPointerDown={(event) => {
            event.stopPropagation();
            event.currentTarget.setPointerCapture(event.pointerId);
            setStroke([at(event)]);
          }}
          onPointerMove={(event) => {
            if (stroke.length === 0) return;
            const steps = event.getCoalescedEvents?.() ?? [];
            setStroke([...stroke, ...(steps.length > 0 ? steps : [event]).map(at)]);
          }}
          onPointerUp={finish}
          onPointerCancel={() => setStroke([])}
        />
      )}
      <div class="tools" role="toolbar" aria-label={t(text.label)}>
        <span>{t(text.label)}</span>
        <button type="button" class="plain" aria-pressed={drawing} onClick={() => setDrawing(!drawing)}>
          {drawing ? t("Cancel") : t("Draw")}
        </button>
        <button type="button" class="plain" disabled={loop.length >= MOST_POINTS} onClick={addBetween}>
          {t("Add point")}
        </button>
        <button type="button" class="plain" disabled={loop.length <= 3} onClick={() => remove(Math.min(chosen, loop.length - 1))}>
          {t("Remove point")}
        </button>
        <button
          type="button"
          class="plain"
          title={t("Drag inside the curve, or use the arrow keys here")}
          onKeyDown={(event) => key(event, null)}
        >
          {t("Move")}
        </button>
        <RefusalNote of={text.name} />
      </div>
    </div>
  );
}

/** The distance in pixels that half of the points have to their next ones at most. */
function gapOf(screen: Loop): number {
  const gaps = screen.map((p, i) => Math.hypot(p[0] - screen[(i + 1) % screen.length]![0], p[1] - screen[(i + 1) % screen.length]![1]));
  return gaps.sort((a, b) => a - b)[gaps.length >> 1] ?? 0;
}

/** The curve as it is shown, a way to change it, and whether what is shown was refused. */
function useLoop(text: TextView): { loop: Loop; change: (loop: Loop, settled: boolean) => void; refused: boolean } {
  const studio = useStudio();
  const accepted = studio.controls.value?.texts[text.name] ?? text.default;
  const refused = useRefusal(text.name) !== null;
  const [draft, setDraft] = useState<Loop | null>(null);
  /** What was sent since the curve was last as the studio has it. */
  const sent = useRef<string[]>([]);
  const pending = useRef(0);

  useEffect(() => () => cancelAnimationFrame(pending.current), []);
  useEffect(() => {
    // The draft stays until the studio has taken the last one that was sent, or has another curve from elsewhere.
    if (accepted === sent.current.at(-1) || !sent.current.includes(accepted)) setDraft(null);
  }, [accepted]);

  const change = (loop: Loop, settled: boolean): void => {
    if (draft === null) sent.current = [];
    setDraft(loop);
    cancelAnimationFrame(pending.current);
    const send = (): void => {
      sent.current.push(writeLoop(loop));
      studio.dragged.value = true;
      studio.send({ type: "set-text", name: text.name, value: writeLoop(loop), settled });
    };
    if (settled) send();
    else pending.current = requestAnimationFrame(send);
  };
  return { loop: draft ?? readLoop(accepted) ?? [], change, refused };
}
