// A picture of a plane with three.js: an orthographic camera, a grid, and everything else as one mesh.

import { Color, OrthographicCamera, Scene, WebGLRenderer } from "three";
import type { Palette } from "../colours";
import { PaintLayer } from "./layer";
import {
  type Drawing,
  EDGE,
  GHOST,
  type Picture,
  pixelRatio,
  ROD_HALF_WIDTH,
  type Rod,
  ringOf,
  SPRING_HALF_WIDTH,
  slimness,
} from "./picture";
import { strainColour, strainWidth } from "./strain";
import { NO_VIEW, ticks, type View } from "./view";

export class WebglPicture implements Picture {
  readonly kind = "webgl";
  readonly #renderer: WebGLRenderer;
  readonly #scene = new Scene();
  readonly #camera = new OrthographicCamera(-1, 1, 1, -1, -10, 10);
  readonly #grid = new PaintLayer();
  readonly #layer = new PaintLayer();
  #view: View = NO_VIEW;
  #palette: Palette | null = null;

  constructor(readonly canvas: HTMLCanvasElement) {
    // The meshes have smooth edges of their own.
    this.#renderer = new WebGLRenderer({ canvas, antialias: false, depth: false, powerPreference: "low-power" });
    this.#renderer.sortObjects = false; // the grid is first in the scene, and so behind the rest
    this.#scene.add(this.#grid.mesh, this.#layer.mesh);
  }

  arrange(view: View, palette: Palette): void {
    this.#palette = palette;
    this.#renderer.setPixelRatio(pixelRatio());
    this.#renderer.setSize(view.width, view.height, false);
    this.#scene.background = new Color(palette.paper);
    this.look(view);
  }

  look(view: View): void {
    this.#view = view;
    const [right, top] = [view.width / 2 / view.scale, view.height / 2 / view.scale];
    Object.assign(this.#camera, { left: view.x - right, right: view.x + right, top: view.y + top, bottom: view.y - top });
    this.#camera.updateProjectionMatrix();
    if (this.#palette) this.#layGrid(right, top, this.#palette);
  }

  rule(lines: readonly number[], colour: string): void {
    this.#begin(this.#grid);
    this.#grid.rule(lines, colour);
    this.#grid.end();
  }

  paint(drawing: Drawing): void {
    const palette = this.#palette;
    if (!palette) return;
    const layer = this.#layer;
    this.#begin(layer);
    for (const trail of drawing.trails) layer.trail(trail);
    this.#paintBodies(drawing, true, palette);
    for (const mark of drawing.marks) layer.mark(mark);
    this.#paintBodies(drawing, false, palette);
    layer.end();
    this.#renderer.render(this.#scene, this.#camera);
  }

  dispose(): void {
    this.#layer.dispose();
    this.#grid.dispose();
    this.#renderer.dispose();
  }

  #begin(layer: PaintLayer): void {
    layer.begin(1 / this.#view.scale, this.#renderer.getPixelRatio());
  }

  #layGrid(right: number, top: number, palette: Palette): void {
    const lines = ticks(this.#view);
    const { x: middle, y: height } = this.#view;
    const ends = [
      ...lines.x.flatMap((x) => [x, height - top, x, height + top]),
      ...lines.y.flatMap((y) => [middle - right, y, middle + right, y]),
    ];
    this.rule(ends, palette.grid);
  }

  /** Rods under bodies, of the second motion or of the first. */
  #paintBodies({ rods, bobs, anchors, points, dimension }: Drawing, ghosts: boolean, palette: Palette): void {
    const layer = this.#layer;
    const pixel = 1 / this.#view.scale;
    const slim = slimness(bobs, this.#view.scale) * pixel;
    const opacity = ghosts ? GHOST : 1;
    const bar = ({ start, end }: Rod, half: number, colour: string): void => {
      const [a, b] = [start * dimension, end * dimension];
      layer.bar(points[a]!, points[a + 1]!, points[b]!, points[b + 1]!, 2 * half * slim, colour, opacity);
    };
    const disc = (point: number, radius: number, colour: string): void =>
      layer.disc(points[point * dimension]!, points[point * dimension + 1]!, radius, colour, opacity);
    for (const rod of rods) if (rod.ghost === ghosts && rod.strain !== null) bar(rod, springHalf(rod.strain) + EDGE, palette.rod);
    for (const rod of rods) {
      if (rod.ghost !== ghosts) continue;
      if (rod.strain === null) bar(rod, ROD_HALF_WIDTH, palette.rod);
      else bar(rod, springHalf(rod.strain), strainColour(rod.strain));
    }
    if (!ghosts) for (const anchor of anchors) disc(anchor, 2 * ROD_HALF_WIDTH * pixel, palette.rod);
    for (const { point, radius, colour, ghost } of bobs) {
      if (ghost !== ghosts) continue;
      const ring = ghost ? 0 : ringOf(radius / pixel) * pixel;
      if (ring > 0) disc(point, radius + ring, palette.paper);
      disc(point, radius, colour);
    }
  }
}

function springHalf(strain: number): number {
  return SPRING_HALF_WIDTH * strainWidth(strain);
}
