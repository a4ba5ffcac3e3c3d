// Painting a picture of a plane, frame after frame, outside Preact.

import { effect } from "@preact/signals";
import type { RefObject } from "preact";
import { palette } from "../../colours";
import { planeBoundary } from "../../picture/boundary";
import { drawingOf, trailsOf } from "../../picture/drawing";
import { type Lens, through } from "../../picture/lens";
import { openPicture } from "../../picture/open";
import type { Bob, Drawing, Mark, Picture } from "../../picture/picture";
import { below, NO_VIEW, toPixels, type View } from "../../picture/view";
import type { Studio } from "../../studio";
import type { Frame, LabView, PictureView } from "../../wire";
import type { Handles } from "./Grips";
import { LabelLayer } from "./labels";

/** A picture that becomes too small grows by more than is needed, so that it does so seldom. */
const GROWTH = 1.2;
/** What does not fit at this many metres has flown apart, and is let go. */
const FARTHEST = 1e4;
const MOST_NUMBERS = 30;

/** Follows a studio's frames in one of its pictures, and its size, extent and colours. */
export class PlanePainter {
  #view: View = NO_VIEW;
  readonly #picture: Picture;
  readonly #labels: LabelLayer;
  readonly #stops: (() => void)[];
  /** Half the width that bodies have needed, where that is more than the lab foresaw. */
  #seen = 0;
  #time = -Infinity;
  #follows = false;
  /** Of the bodies. */
  #middle: readonly [number, number] = [0, 0];
  #arranged = "";

  /** `handles` are kept on their bodies; `arranged` is told each new view. Throws where nothing can be drawn. */
  constructor(
    private readonly studio: Studio,
    private readonly stage: HTMLElement,
    private readonly which: number,
    private readonly lens: RefObject<Lens>,
    private readonly handles: Handles,
    private readonly arranged: (view: View) => void,
  ) {
    this.#picture = openPicture(stage);
    this.#labels = new LabelLayer(stage);
    stage.dataset.renderer = this.#picture.kind;
    const watcher = new ResizeObserver(() => this.#arrange());
    watcher.observe(stage);
    this.#stops = [
      effect(() => this.#follow()),
      effect(() => {
        void [studio.trailsShown.value, studio.trailSeconds.value, studio.trailsOfAll.value];
        studio.repaint();
      }),
      studio.onFrame((frame) => this.#paint(frame)),
      () => watcher.disconnect(),
    ];
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#picture.dispose();
    this.#labels.stop();
  }

  get #boundary(): PictureView["boundary"] {
    return this.studio.lab.value?.pictures[this.which]?.boundary ?? "none";
  }

  get #foreseen(): number {
    return this.studio.controls.value?.extents[this.which] ?? 1;
  }

  #follow(): void {
    const now = `${this.#foreseen} ${palette.value.paper} ${this.#boundary}`;
    if (now === this.#arranged) return;
    this.#arranged = now;
    this.#seen = 0;
    this.#arrange();
  }

  /** Take over the lens as it is now. */
  look(): void {
    const { width, height } = this.#view;
    // A title may lie over a grid, which goes on behind it, but not over a boundary.
    const free = this.#boundary === "none" ? 0 : captionOf(this.stage);
    const whole = below(free, width, height, Math.max(this.#seen, this.#foreseen));
    const [x, y] = this.#follows ? this.#middle : [0, 0];
    this.#view = through({ ...whole, x, y: y + whole.y }, this.lens.current!);
    this.#picture.look(this.#view);
    if (this.#boundary !== "none") this.#picture.rule(planeBoundary(this.#boundary, this.#foreseen), palette.value.faint);
    this.arranged(this.#view);
    this.studio.repaint();
  }

  /** Keep the bodies in the middle, or do not. */
  follow(on: boolean): void {
    this.#follows = on;
    this.look();
  }

  #arrange(): void {
    const { width, height } = this.stage.getBoundingClientRect();
    this.#view = { ...this.#view, width: Math.max(1, width), height: Math.max(1, height) };
    this.#picture.arrange(this.#view, palette.value);
    this.look();
  }

  #paint(frame: Frame): void {
    const [lab, settings] = [this.studio.lab.value, this.studio.controls.value];
    if (!lab || !settings || lab.revision !== frame.revision) return;
    const { trailsShown, trailsOfAll, trailSeconds, timeUnit, history } = this.studio;
    const wanted = { seconds: trailSeconds.value * timeUnit.value, all: trailsOfAll.value };
    const trails = trailsShown.value ? trailsOf(frame, lab, history, this.which, palette.value, wanted) : [];
    const drawing = drawingOf(frame, lab, settings, this.which, palette.value, trails, 1 / this.#view.scale);
    // The paper keeps still under a hand.
    if (settings.held === null) this.#keepInSight(drawing, frame.time);
    if (this.#follows && settings.held === null) this.#keepUp(middleOf(drawing));
    this.#picture.paint(drawing);
    this.#labels.place(drawing.labels, this.#view);
    this.stage.dataset.trails = String(trails.length);
    moveHandles(this.handles, frame, lab, this.#view);
    hideCovered(this.handles, drawing, lab.anchors);
  }

  #keepUp(middle: readonly [number, number] | null): void {
    if (!middle || (middle[0] === this.#middle[0] && middle[1] === this.#middle[1])) return;
    this.#middle = middle;
    this.look();
  }

  #keepInSight(drawing: Drawing, time: number): void {
    const needed = this.#follows ? 0 : reach(drawing);
    const outgrown = needed > 1.001 * Math.max(this.#seen, this.#foreseen);
    const back = this.#seen > 0 && time < this.#time && needed <= this.#foreseen;
    this.#time = time;
    if (!outgrown && !back) return;
    this.#seen = outgrown ? GROWTH * needed : 0;
    this.#arrange();
  }
}

/** Pixels at the top of a picture that its title takes, if it has one. */
export function captionOf(stage: HTMLElement): number {
  const caption = stage.querySelector<HTMLElement>(".caption");
  return caption ? caption.offsetTop + caption.offsetHeight : 0;
}

function moveHandles(handles: Handles, frame: Frame, laboratory: LabView, view: View): void {
  handles.forEach((handle, body) => {
    if (!handle) return;
    const at = (laboratory.anchors + body) * frame.dimension;
    const [x, y] = toPixels(view, frame.position[at]!, frame.position[at + 1]!);
    handle.style.transform = `translate(${x.toFixed(2)}px, ${y.toFixed(2)}px)`;
    handle.dataset.x = String(frame.position[at]);
    handle.dataset.y = String(frame.position[at + 1]);
  });
}

/** A number is hidden when a later body lies on it; of many bodies, which carry no numbers, none is looked at. */
function hideCovered(handles: Handles, { bobs, points, dimension }: Drawing, anchors: number): void {
  const own = bobs.filter((bob) => !bob.ghost);
  if (own.length > MOST_NUMBERS) return;
  own.forEach((bob, i) => {
    const near = (other: Bob): boolean =>
      Math.hypot(
        points[bob.point * dimension]! - points[other.point * dimension]!,
        points[bob.point * dimension + 1]! - points[other.point * dimension + 1]!,
      ) < other.radius;
    handles[bob.point - anchors]?.classList.toggle("covered", own.slice(i + 1).some(near));
  });
}

/** Half the width of the square about the origin that holds all bodies. */
function reach({ bobs, points, dimension }: Drawing): number {
  let farthest = 0;
  for (const { point, radius } of bobs) {
    const size = radius + Math.max(Math.abs(points[point * dimension]!), Math.abs(points[point * dimension + 1]!));
    if (size > farthest && size < FARTHEST) farthest = size;
  }
  return farthest;
}

/** The mean place of the bodies that are no ghosts, or of what is drawn where there are none. */
export function middleOf({ bobs, points, dimension, marks }: Drawing): [number, number] | null {
  const own = bobs.filter((bob) => !bob.ghost);
  const places =
    own.length > 0
      ? own.map(({ point }) => [points[point * dimension]!, points[point * dimension + 1]!] as const)
      : marks.flatMap(placesOf);
  const finite = places.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y));
  if (finite.length === 0) return null;
  return [mean(finite.map(([x]) => x)), mean(finite.map(([, y]) => y))];
}

function placesOf(mark: Mark): (readonly [number, number])[] {
  if (mark.kind === "disc") return [[mark.x, mark.y]];
  return Array.from({ length: mark.points.length / 2 }, (_, i) => [mark.points[2 * i]!, mark.points[2 * i + 1]!] as const);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
