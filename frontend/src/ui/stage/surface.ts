// Paints a coloured sphere with what is on it, outside Preact, sixty times a second.

import { effect } from "@preact/signals";
import type { RefObject } from "preact";
import { bodyColour, type Palette, palette } from "../../colours";
import { toFloats } from "../../encode";
import { type Camera, dot, type Triple } from "../../picture/camera";
import { LINE, Scale } from "../../picture/colourmap";
import { type Dot, GlobePicture, type Line, type Wake } from "../../picture/globe";
import { type Lens, through } from "../../picture/lens";
import { GHOST } from "../../picture/picture";
import { trailOf } from "../../picture/trail";
import { fit, NO_VIEW, toPixels, type View } from "../../picture/view";
import type { Studio } from "../../studio";
import type { Curves, CurveView, Frame, LabView } from "../../wire";

type Style = Omit<Line, "points">;

/** Into how many dashes and gaps the path of a ghost is cut. */
const GAPS = 48;
/** Pixels above and below the sphere, together, that its captions need. */
const CAPTIONS = 100;

export class SurfacePainter {
  readonly #picture: GlobePicture;
  readonly #stops: (() => void)[];
  #view: View = NO_VIEW;
  #lines: Line[] = [];
  #marks: Dot[] = [];

  constructor(
    private readonly studio: Studio,
    private readonly stage: HTMLElement,
    private readonly which: number,
    private readonly camera: RefObject<Camera>,
    private readonly lens: RefObject<Lens>,
    private readonly handles: (HTMLButtonElement | null)[],
    private readonly arranged: (view: View) => void,
  ) {
    this.#picture = new GlobePicture(stage, () => studio.repaint());
    stage.dataset.renderer = "canvas";
    const watcher = new ResizeObserver(() => this.arrange());
    watcher.observe(stage);
    this.#stops = [
      () => watcher.disconnect(),
      effect(() => {
        void [this.#extent, palette.value];
        this.#take(studio.curves.value, palette.value);
        this.arrange();
      }),
      effect(() => this.#dress()),
      effect(() => {
        void [studio.trailsShown.value, studio.trailSeconds.value];
        studio.repaint();
      }),
      studio.onFrame((frame) => this.#paint(frame)),
    ];
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#picture.dispose();
  }

  /** The place of the surface under a pixel; null beside it, and for a sphere. */
  pick(x: number, y: number): Triple | null {
    return this.#picture.pick(x, y);
  }

  /** Take over size, colours and camera as they are now. */
  arrange(): void {
    const { width, height } = this.stage.getBoundingClientRect();
    const inner = fit(Math.max(1, width), Math.max(1, height - CAPTIONS), this.#extent);
    this.#view = through({ ...inner, height: Math.max(1, height) }, this.lens.current!);
    const camera = this.camera.current!;
    this.#picture.arrange(this.#view, palette.value, camera);
    this.stage.dataset.camera = `${camera.azimuth.toFixed(4)} ${camera.elevation.toFixed(4)}`;
    this.arranged(this.#view);
    this.studio.repaint();
  }

  get #extent(): number {
    return this.studio.controls.value?.extents[this.which] ?? 1;
  }

  #dress(): void {
    const surface = this.studio.surface.value;
    if (surface && surface.picture === this.which && surface.rows > 0) {
      const values = toFloats(surface.values);
      const scale = new Scale(surface.low, surface.high, surface.signed);
      const points = surface.points === "" ? null : toFloats(surface.points);
      this.#picture.dress({ rows: surface.rows, columns: surface.columns, values }, scale, points);
      this.stage.dataset.surface = `${surface.symbol} ${surface.low} ${surface.high}`;
    } else {
      this.#picture.dress(null, null);
      delete this.stage.dataset.surface;
    }
    this.studio.repaint();
  }

  #take(curves: Curves | null, colours: Palette): void {
    const own = curves?.picture === this.which ? curves : null;
    this.#lines = (own?.curves ?? []).map((curve) => ({ points: toFloats(curve.points), ...styleOf(curve, colours) }));
    this.#marks = (own?.marks ?? []).map(({ x, y, z }) => ({
      place: [x, y, z],
      radius: 0.05,
      colour: colours.ink,
      opacity: 1,
      hollow: true,
    }));
  }

  #paint(frame: Frame): void {
    const [lab, settings] = [this.studio.lab.value, this.studio.controls.value];
    if (!lab || !settings || lab.revision !== frame.revision) return;
    const colours = palette.value;
    const bodies = lab.bodies.flatMap((body, i) => (body.picture === this.which ? [{ body, i }] : [])).reverse(); // ghosts first
    const dots = bodies.map(
      ({ body, i }): Dot => ({
        place: placeOf(frame, lab, i),
        radius: (settings.radii[i] ?? 0) * this.#extent,
        colour: bodyColour(colours, body.colour),
        opacity: body.ghost ? GHOST : 1,
        hollow: false,
      }),
    );
    const wakes = this.studio.trailsShown.value ? this.#wakes(frame, lab, colours) : [];
    const shapes = shapesOn(frame, lab, this.which, colours);
    this.#picture.paint({ lines: [...this.#lines, ...shapes.lines], wakes, dots: [...this.#marks, ...shapes.dots, ...dots] });
    this.stage.dataset.trails = String(wakes.length);
    for (const { i } of bodies) this.#moveHandle(i, placeOf(frame, lab, i));
  }

  #wakes(frame: Frame, lab: LabView, colours: Palette): Wake[] {
    const seconds = this.studio.trailSeconds.value * this.studio.timeUnit.value;
    const traced = lab.bodies.filter((body) => body.trail);
    return traced.flatMap((body, i) => {
      if (body.picture !== this.which) return [];
      const column = frame.channels + i * frame.dimension;
      const flat = trailOf(this.studio.history, [column, column + 1], frame.time, seconds);
      const upright = trailOf(this.studio.history, [column + 2, column + 2], frame.time, seconds);
      // The path of a ghost may lie on that of its motion, so it has gaps: every other of some equal parts of the time.
      const shown = (age: number): boolean => !body.ghost || Math.floor((frame.time / seconds - age) * GAPS) % 2 === 0;
      const points = flat.x.flatMap((x, k) => [shown(flat.age[k]!) ? x : NaN, flat.y[k]!, upright.x[k]!]);
      return [{ points, age: flat.age, colour: bodyColour(colours, body.colour), opacity: body.ghost ? GHOST : 0.9 }];
    });
  }

  #moveHandle(body: number, place: readonly [number, number, number]): void {
    const handle = this.handles[body];
    if (!handle) return;
    const { right, up } = this.#picture.basis;
    const [x, y] = toPixels(this.#view, dot(right, ...place), dot(up, ...place));
    handle.style.transform = `translate(${x.toFixed(2)}px, ${y.toFixed(2)}px)`;
    (["x", "y", "z"] as const).forEach((axis, i) => (handle.dataset[axis] = String(place[i])));
  }
}

function placeOf(frame: Frame, lab: LabView, body: number): [number, number, number] {
  const at = (lab.anchors + body) * frame.dimension;
  return [frame.position[at]!, frame.position[at + 1]!, frame.position[at + 2]!];
}

/** Lines and discs through a frame's points; a surface has no room for what is filled. */
function shapesOn(frame: Frame, lab: LabView, which: number, colours: Palette): { lines: Line[]; dots: Dot[] } {
  const [lines, dots]: [Line[], Dot[]] = [[], []];
  for (const { kind, picture, first, count, colour, dashed, ghost, radius } of lab.shapes) {
    if (picture !== which) continue;
    const style = { colour: bodyColour(colours, colour), opacity: ghost ? GHOST : 1 };
    const points = Float32Array.from(frame.position.subarray(3 * first, 3 * (first + count)));
    if (kind === "disc") {
      for (let i = 0; i < count; i++)
        dots.push({ ...style, place: [points[3 * i]!, points[3 * i + 1]!, points[3 * i + 2]!], radius, hollow: false });
    } else if (kind !== "label" && kind !== "mesh") lines.push({ ...style, points, width: 3, edged: !ghost, dashed });
  }
  return { lines, dots };
}

function styleOf({ kind }: CurveView, colours: Palette): Style {
  switch (kind) {
    case "fan":
      return { colour: LINE, width: 1.3, opacity: 0.6, edged: false };
    case "shortest":
      return { colour: bodyColour(colours, 3), width: 4, opacity: 1, edged: true };
    case "axis":
      return { colour: colours.ink, width: 2.5, opacity: 0.8, edged: false };
  }
}
