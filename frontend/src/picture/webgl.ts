// The picture with three.js: an orthographic camera for plane systems; systems in space bring their own camera.

import {
  BufferAttribute, BufferGeometry, CircleGeometry, Color, LineBasicMaterial, LineSegments, Mesh,
  MeshBasicMaterial, OrthographicCamera, PlaneGeometry, Scene, WebGLRenderer,
} from "three";
import type { Palette } from "../colours";
import { pixelRatio, RING, ROD_HALF_WIDTH, type Drawing, type Picture } from "./picture";
import { Ribbon } from "./ribbon";
import { ticks, type View } from "./view";

const UNIT_DISC = new CircleGeometry(1, 64);
const UNIT_ROD = new PlaneGeometry(1, 1);

/** Drawn in this order, back to front; the numbers are depths in front of the paper. */
const DEPTH = { grid: -4, trail: -3, rod: -2, ring: -1, body: 0 } as const;

export class WebglPicture implements Picture {
  readonly kind = "webgl";
  readonly #renderer: WebGLRenderer;
  readonly #scene = new Scene();
  readonly #camera = new OrthographicCamera(-1, 1, 1, -1, -10, 10);
  readonly #grid = new LineSegments(new BufferGeometry(), new LineBasicMaterial());
  readonly #ribbon = new Ribbon(DEPTH.trail);
  readonly #rods: Mesh<PlaneGeometry, MeshBasicMaterial>[] = [];
  readonly #anchors: Disc[] = [];
  readonly #rings: Disc[] = [];
  readonly #bodies: Disc[] = [];
  #view: View = { width: 1, height: 1, scale: 1 };
  #palette: Palette | null = null;

  constructor(canvas: HTMLCanvasElement) {
    this.#renderer = new WebGLRenderer({ canvas, antialias: true, powerPreference: "low-power" });
    this.#scene.add(this.#grid, this.#ribbon.mesh);
  }

  arrange(view: View, palette: Palette): void {
    this.#view = view;
    this.#palette = palette;
    this.#renderer.setPixelRatio(pixelRatio());
    this.#renderer.setSize(view.width, view.height, false);
    this.#scene.background = new Color(palette.paper);
    const [right, top] = [view.width / 2 / view.scale, view.height / 2 / view.scale];
    Object.assign(this.#camera, { left: -right, right, top, bottom: -top });
    this.#camera.updateProjectionMatrix();
    this.#layGrid(right, top, palette);
  }

  paint(drawing: Drawing): void {
    const palette = this.#palette;
    if (!palette) return;
    const pixel = 1 / this.#view.scale;
    this.#ribbon.shape(drawing.trail, palette, pixel);
    this.#placeRods(drawing, palette, 2 * ROD_HALF_WIDTH * pixel);
    const x = (i: number): number => drawing.points[i * drawing.dimension]!;
    const y = (i: number): number => drawing.points[i * drawing.dimension + 1]!;
    for (let i = 0; i < drawing.anchors; i++) {
      this.#disc(this.#anchors, i, DEPTH.ring).place(x(i), y(i), 2 * ROD_HALF_WIDTH * pixel, palette.rod);
    }
    drawing.radii.forEach((radius, body) => {
      const point = drawing.anchors + body;
      const colour = palette.bodies[body % palette.bodies.length]!;
      this.#disc(this.#rings, body, DEPTH.ring).place(x(point), y(point), radius + RING * pixel, palette.paper);
      this.#disc(this.#bodies, body, DEPTH.body).place(x(point), y(point), radius, colour);
    });
    this.#renderer.render(this.#scene, this.#camera);
  }

  dispose(): void {
    this.#ribbon.dispose();
    this.#grid.geometry.dispose();
    this.#renderer.dispose();
  }

  #layGrid(right: number, top: number, palette: Palette): void {
    const lines = ticks(this.#view);
    const ends = [
      ...lines.x.flatMap((x) => [x, -top, DEPTH.grid, x, top, DEPTH.grid]),
      ...lines.y.flatMap((y) => [-right, y, DEPTH.grid, right, y, DEPTH.grid]),
    ];
    this.#grid.geometry.dispose();
    this.#grid.geometry = new BufferGeometry();
    this.#grid.geometry.setAttribute("position", new BufferAttribute(new Float32Array(ends), 3));
    this.#grid.material.color.set(palette.grid);
  }

  #placeRods(drawing: Drawing, palette: Palette, width: number): void {
    drawing.rods.forEach((rod, index) => {
      const mesh = (this.#rods[index] ??= this.#added(new Mesh(UNIT_ROD, new MeshBasicMaterial())));
      const [a, b] = [rod.start * drawing.dimension, rod.end * drawing.dimension];
      const [x0, y0, x1, y1] = [drawing.points[a]!, drawing.points[a + 1]!, drawing.points[b]!, drawing.points[b + 1]!];
      mesh.position.set((x0 + x1) / 2, (y0 + y1) / 2, DEPTH.rod);
      mesh.rotation.z = Math.atan2(y1 - y0, x1 - x0);
      mesh.scale.set(Math.hypot(x1 - x0, y1 - y0), width, 1);
      mesh.material.color.set(palette.rod);
    });
  }

  #disc(discs: Disc[], index: number, depth: number): Disc {
    return (discs[index] ??= this.#added(new Disc(depth)));
  }

  #added<Thing extends Mesh>(thing: Thing): Thing {
    this.#scene.add(thing);
    return thing;
  }
}

class Disc extends Mesh<CircleGeometry, MeshBasicMaterial> {
  constructor(private readonly depth: number) {
    super(UNIT_DISC, new MeshBasicMaterial());
  }

  place(x: number, y: number, radius: number, colour: string): void {
    this.position.set(x, y, this.depth);
    this.scale.set(radius, radius, 1);
    this.material.color.set(colour);
  }
}
