// What to drag, beside it, until something has been dragged for the first time.

import { useEffect, useRef } from "preact/hooks";
import { cardOf } from "../catalogue";
import { keep, kept } from "../preferences";
import { useStudio } from "../studio";
import { t } from "../words";

export function Hint({ lab }: { lab: string }) {
  const studio = useStudio();
  const hint = useRef<HTMLParagraphElement>(null);
  const text = cardOf(lab)?.hint ?? "";
  const dragged = studio.dragged;
  if (studio.controls.value?.held != null && !dragged.value) dragged.value = true;
  const shown = text !== "" && !dragged.value && studio.can("drag-begin") && studio.moves;
  useEffect(() => {
    if (dragged.value) keep(`dragged.${lab}`, "yes");
    else dragged.value = kept(`dragged.${lab}`) !== null;
  }, [dragged.value, lab]);
  useEffect(() => {
    if (!shown) return;
    let measured: Measured | null = null;
    return studio.onFrame(() => {
      const now = performance.now();
      if (!hint.current) return;
      // While time is held, frames are few, and each may be drawn because the page has just taken another shape.
      const old = !measured?.handle.isConnected || now > measured.until || !studio.controls.peek()?.playing;
      if (old) measured = measure(hint.current, now);
      if (measured) place(hint.current, measured);
    });
  }, [shown]);
  return shown ? (
    <p class="hint" role="status" ref={hint}>
      {t(text)}
    </p>
  ) : null;
}

/** Milliseconds for which measured boxes are used again: measuring them in each frame would lay out the page in each. */
const MEASURED_FOR = 500;

interface Measured {
  readonly until: number;
  readonly handle: HTMLElement;
  readonly stage: DOMRect;
  readonly page: DOMRect;
  readonly body: DOMRect;
  /** How far the handle was moved by its style when its box was measured. */
  readonly moved: readonly [number, number];
  readonly width: number;
  readonly height: number;
}

/** The boxes of the hint, its picture, and the last body that can be taken or the first point of a curve. */
function measure(hint: HTMLElement, now: number): Measured | null {
  const root = hint.parentElement;
  const bodies = root?.querySelectorAll<HTMLElement>(".stage:first-child .handle[data-x]") ?? [];
  const handle = [...bodies].at(-1) ?? root?.querySelector<HTMLElement>(".curve .knot");
  const stage = handle?.closest(".stage")?.getBoundingClientRect();
  if (!root || !handle || !stage) return null;
  const [page, body] = [root.getBoundingClientRect(), handle.getBoundingClientRect()];
  const [width, height] = [hint.offsetWidth, hint.offsetHeight];
  return { until: now + MEASURED_FOR, handle, stage, page, body, moved: movedBy(handle), width, height };
}

/** The pixels in `translate(…)`, which the picture writes onto the handles of its bodies. */
function movedBy({ style }: HTMLElement): readonly [number, number] {
  const [x = "0", y = "0"] = style.transform.match(/-?[\d.]+/g) ?? [];
  return [Number(x), Number(y)];
}

/** Beside what it speaks of, within the picture. */
function place(hint: HTMLElement, { handle, stage, page, body, moved, width, height }: Measured): void {
  const now = movedBy(handle);
  const [dx, dy] = [now[0] - moved[0], now[1] - moved[1]];
  const box = { left: body.left + dx, right: body.right + dx, top: body.top + dy, bottom: body.bottom + dy };
  const [right, before] = [box.right + 4, box.left - 4 - width];
  const fits = right + width < stage.right || before > stage.left;
  const [beside, middle] = [right + width < stage.right ? right : before, (box.left + box.right - width) / 2];
  const left = Math.max(stage.left + 4, Math.min(fits ? beside : middle, stage.right - width - 4));
  // Where neither side has room, below the body or above it.
  const below = box.bottom + height + 8 < stage.bottom ? box.bottom : box.top - height;
  const level = fits ? (box.top + box.bottom - height) / 2 : below;
  const top = Math.min(Math.max(level, stage.top + 8), stage.bottom - height - 8);
  hint.style.setProperty("--x", `${(left - page.left).toFixed(1)}px`);
  hint.style.setProperty("--y", `${(top - page.top).toFixed(1)}px`);
}
