// Painting a picture of space, frame after frame, outside Preact.

import { effect } from "@preact/signals";
import type { RefObject } from "preact";
import { palette } from "../../colours";
import { spaceBoundary } from "../../picture/boundary";
import { type Box, basisOf, boxOf, type Camera, NO_BOX, projected, projectedPast, REACH } from "../../picture/camera";
import { drawingOf, trailsOf } from "../../picture/drawing";
import { type Lens, through } from "../../picture/lens";
import { openPicture } from "../../picture/open";
import type { Drawing, Picture } from "../../picture/picture";
import { below, NO_VIEW, toPixels, type View } from "../../picture/view";
import type { Studio } from "../../studio";
import type { Frame, LabView } from "../../wire";
import type { Handles } from "./Grips";
import { LabelLayer } from "./labels";
import { captionOf, middleOf } from "./plane";

/** Room around a boundary, which needs no numbers beside it, as a part of its extent. */
const AROUND = 1.08;

/** Follows a studio's frames in one of its pictures, and its size, extent, colours and camera. */
export class SpacePainter {
  readonly #picture: Picture;
  readonly #labels: LabelLayer;
  readonly #stops: (() => void)[];
  #view: View = NO_VIEW;
  #size = "";
  #follows = false;
  /** Of the bodies, as they are seen. */
  #middle: readonly [number, number] = [0, 0];

  /** `handles` are kept on their bodies; `arranged` is told each new view. Throws where nothing can be drawn. */
  constructor(
    private readonly studio: Studio,
    private readonly stage: HTMLElement,
    private readonly which: number,
    private readonly camera: RefObject<Camera>,
    private readonly lens: RefObject<Lens>,
    private readonly handles: Handles,
    private readonly arranged: (view: View, box: Box) => void,
  ) {
    this.#picture = openPicture(stage);
    this.#labels = new LabelLayer(stage);
    stage.dataset.renderer = this.#picture.kind;
    const watcher = new ResizeObserver(() => this.arrange());
    watcher.observe(stage);
    this.#stops = [
      () => watcher.disconnect(),
      effect(() => {
        void [this.#extent, this.#boundary, palette.value];
        this.arrange();
      }),
      effect(() => {
        void [studio.trailsShown.value, studio.trailSeconds.value, studio.trailsOfAll.value];
        studio.repaint();
      }),
      studio.onFrame((frame) => this.#paint(frame)),
    ];
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#picture.dispose();
    this.#labels.stop();
  }

  /** Take over size, colours and camera as they are now. */
  arrange(): void {
    const { width, height } = this.stage.getBoundingClientRect();
    const camera = this.camera.current!;
    const [extent, boundary, basis] = [this.#extent, this.#boundary, basisOf(camera)];
    const reach = boundary === "none" ? REACH : boundary === "ball" ? AROUND : Math.SQRT2 * AROUND;
    const whole = below(captionOf(this.stage), Math.max(1, width), Math.max(1, height), reach * extent);
    const [x, y] = this.#follows ? this.#middle : [0, 0];
    this.#view = through({ ...whole, x, y: y + whole.y }, this.lens.current!);
    const now = `${width} ${height} ${palette.value.paper}`;
    if (now !== this.#size) this.#picture.arrange(this.#view, palette.value);
    else this.#picture.look(this.#view);
    this.#size = now;
    const box = boundary === "none" ? boxOf(extent, basis) : NO_BOX;
    if (boundary === "none") this.#picture.rule(box.lines, palette.value.grid);
    else this.#picture.rule(spaceBoundary(boundary, extent, basis), palette.value.line);
    this.stage.dataset.camera = `${camera.azimuth.toFixed(4)} ${camera.elevation.toFixed(4)}`;
    this.arranged(this.#view, box);
    this.studio.repaint();
  }

  /** Keep the bodies in the middle, or do not. */
  follow(on: boolean): void {
    this.#follows = on;
    this.arrange();
  }

  get #extent(): number {
    return this.studio.controls.value?.extents[this.which] ?? 1;
  }

  get #boundary() {
    return this.studio.lab.value?.pictures[this.which]?.boundary ?? "none";
  }

  #paint(frame: Frame): void {
    const [lab, settings] = [this.studio.lab.value, this.studio.controls.value];
    if (!lab || !settings || lab.revision !== frame.revision) return;
    const drawing = this.#drawing(frame, lab);
    const middle = this.#follows && settings.held === null ? middleOf(drawing) : null;
    if (middle && (middle[0] !== this.#middle[0] || middle[1] !== this.#middle[1])) {
      this.#middle = middle;
      this.arrange();
    }
    this.#picture.paint(drawing);
    this.#labels.place(drawing.labels, this.#view);
    this.stage.dataset.trails = String(drawing.trails.length);
    this.handles.forEach((handle, body) => {
      if (handle) this.#moveHandle(handle, frame, drawing, lab.anchors + body);
    });
  }

  /** The frame as the camera sees it: bodies near to the eye over those that are far. */
  #drawing(frame: Frame, lab: LabView): Drawing {
    const { studio } = this;
    const basis = basisOf(this.camera.current!);
    const seen = { ...frame, position: projected(frame.position, basis) };
    const wanted = { seconds: studio.trailSeconds.value * studio.timeUnit.value, all: studio.trailsOfAll.value };
    const past = projectedPast(studio.history, frame.channels, basis);
    const trails = studio.trailsShown.value ? trailsOf(seen, lab, past, this.which, palette.value, wanted) : [];
    const drawing = drawingOf(seen, lab, studio.controls.value!, this.which, palette.value, trails, 1 / this.#view.scale);
    const depth = (point: number): number => seen.position[3 * point + 2] ?? 0;
    return { ...drawing, bobs: [...drawing.bobs].sort((a, b) => depth(a.point) - depth(b.point)) };
  }

  #moveHandle(handle: HTMLButtonElement, frame: Frame, { points }: Drawing, point: number): void {
    const [x, y] = toPixels(this.#view, points[3 * point]!, points[3 * point + 1]!);
    handle.style.transform = `translate(${x.toFixed(2)}px, ${y.toFixed(2)}px)`;
    (["x", "y", "z"] as const).forEach((axis, i) => (handle.dataset[axis] = String(frame.position[3 * point + i])));
  }
}
