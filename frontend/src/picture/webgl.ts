// A picture of a plane with three.js: an orthographic camera, everything at its own depth.

import {
  BufferAttribute,
  BufferGeometry,
  CircleGeometry,
  Color,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshBasicMaterial,
  OrthographicCamera,
  PlaneGeometry,
  Scene,
  WebGLRenderer,
} from "three";
import type { Palette } from "../colours";
import { type Drawing, EDGE, GHOST, type Picture, pixelRatio, RING, ROD_HALF_WIDTH, SPRING_HALF_WIDTH } from "./picture";
import { Ribbon } from "./ribbon";
import { strainColour, strainWidth } from "./strain";
import { ticks, type View } from "./view";

const UNIT_DISC = new CircleGeometry(1, 64);
const UNIT_ROD = new PlaneGeometry(1, 1);

/** From back to front. */
const DEPTH = { grid: -9, trail: -8, ghost: -6, edge: -3, rod: -2, ring: -1, body: 0 } as const;
/** Between two bodies, so that a later one lies whole on an earlier one. */
const LAYER = 1e-3;

export class WebglPicture implements Picture {
  readonly kind = "webgl";
  readonly #renderer: WebGLRenderer;
  readonly #scene = new Scene();
  readonly #camera = new OrthographicCamera(-1, 1, 1, -1, -10, 10);
  readonly #grid = new LineSegments(new BufferGeometry(), new LineBasicMaterial());
  readonly #ribbons: Ribbon[] = [];
  readonly #bars = new Pool(this.#scene, UNIT_ROD);
  readonly #discs = new Pool(this.#scene, UNIT_DISC);
  #view: View = { width: 1, height: 1, scale: 1 };
  #palette: Palette | null = null;

  constructor(readonly canvas: HTMLCanvasElement) {
    this.#renderer = new WebGLRenderer({ canvas, antialias: true, powerPreference: "low-power" });
    this.#scene.add(this.#grid);
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

  rule(lines: readonly number[]): void {
    const ends: number[] = [];
    for (let i = 0; i + 1 < lines.length; i += 2) ends.push(lines[i]!, lines[i + 1]!, DEPTH.grid);
    if (this.#palette) this.#setGrid(ends, this.#palette);
  }

  paint(drawing: Drawing): void {
    const palette = this.#palette;
    if (!palette) return;
    this.#layTrails(drawing);
    this.#bars.begin();
    this.#discs.begin();
    this.#layRods(drawing, palette);
    this.#layBobs(drawing, palette);
    this.#bars.end();
    this.#discs.end();
    this.#renderer.render(this.#scene, this.#camera);
  }

  dispose(): void {
    for (const ribbon of this.#ribbons) ribbon.dispose();
    this.#bars.dispose();
    this.#discs.dispose();
    this.#grid.geometry.dispose();
    this.#grid.material.dispose();
    this.#renderer.dispose();
  }

  #layGrid(right: number, top: number, palette: Palette): void {
    const lines = ticks(this.#view);
    const ends = [
      ...lines.x.flatMap((x) => [x, -top, DEPTH.grid, x, top, DEPTH.grid]),
      ...lines.y.flatMap((y) => [-right, y, DEPTH.grid, right, y, DEPTH.grid]),
    ];
    this.#setGrid(ends, palette);
  }

  #setGrid(ends: readonly number[], palette: Palette): void {
    this.#grid.geometry.dispose();
    this.#grid.geometry = new BufferGeometry();
    this.#grid.geometry.setAttribute("position", new BufferAttribute(new Float32Array(ends), 3));
    this.#grid.material.color.set(palette.grid);
  }

  #layTrails(drawing: Drawing): void {
    drawing.trails.forEach((trail, index) => {
      const ribbon = (this.#ribbons[index] ??= this.#newRibbon());
      ribbon.shape(trail, DEPTH.trail + LAYER * index, 1 / this.#view.scale);
    });
    for (const ribbon of this.#ribbons.slice(drawing.trails.length)) ribbon.hide();
  }

  #newRibbon(): Ribbon {
    const ribbon = new Ribbon();
    this.#scene.add(ribbon.mesh);
    return ribbon;
  }

  #layRods({ rods, points, dimension }: Drawing, palette: Palette): void {
    const pixel = 1 / this.#view.scale;
    for (const { start, end, strain, ghost } of rods) {
      const [a, b] = [start * dimension, end * dimension];
      const ends = [points[a]!, points[a + 1]!, points[b]!, points[b + 1]!] as const;
      const depth = ghost ? DEPTH.ghost - 1 : 0;
      const opacity = ghost ? GHOST : 1;
      const half = strain === null ? ROD_HALF_WIDTH : SPRING_HALF_WIDTH * strainWidth(strain);
      if (strain !== null) {
        bar(this.#bars.take(palette.rod, opacity), ends, 2 * (half + EDGE) * pixel, depth + DEPTH.edge);
      }
      const colour = strain === null ? palette.rod : strainColour(strain);
      bar(this.#bars.take(colour, opacity), ends, 2 * half * pixel, depth + DEPTH.rod);
    }
  }

  #layBobs({ bobs, anchors, points, dimension }: Drawing, palette: Palette): void {
    const pixel = 1 / this.#view.scale;
    const disc = (point: number, radius: number, colour: string, depth: number, opacity: number): void => {
      const mesh = this.#discs.take(colour, opacity);
      mesh.position.set(points[point * dimension]!, points[point * dimension + 1]!, depth);
      mesh.scale.set(radius, radius, 1);
    };
    for (const anchor of anchors) disc(anchor, 2 * ROD_HALF_WIDTH * pixel, palette.rod, DEPTH.ring, 1);
    bobs.forEach(({ point, radius, colour, ghost }, i) => {
      const depth = (ghost ? DEPTH.ghost : DEPTH.ring) + LAYER * i;
      if (!ghost) disc(point, radius + RING * pixel, palette.paper, depth, 1);
      disc(point, radius, colour, depth + LAYER / 2, ghost ? GHOST : 1);
    });
  }
}

function bar(mesh: Mesh, [x0, y0, x1, y1]: readonly [number, number, number, number], width: number, depth: number): void {
  mesh.position.set((x0 + x1) / 2, (y0 + y1) / 2, depth);
  mesh.rotation.z = Math.atan2(y1 - y0, x1 - x0);
  mesh.scale.set(Math.hypot(x1 - x0, y1 - y0), width, 1);
}

/** Meshes of one shape, used again in every frame; those that a frame does not need are hidden. */
class Pool {
  readonly #meshes: Mesh<BufferGeometry, MeshBasicMaterial>[] = [];
  #used = 0;

  constructor(
    private readonly scene: Scene,
    private readonly shape: BufferGeometry,
  ) {}

  begin(): void {
    this.#used = 0;
  }

  take(colour: string, opacity: number): Mesh {
    const mesh = (this.#meshes[this.#used++] ??= this.#fresh());
    mesh.visible = true;
    mesh.material.color.set(colour);
    mesh.material.opacity = opacity;
    mesh.material.transparent = opacity < 1;
    return mesh;
  }

  end(): void {
    for (let i = this.#used; i < this.#meshes.length; i++) this.#meshes[i]!.visible = false;
  }

  dispose(): void {
    for (const mesh of this.#meshes) mesh.material.dispose();
  }

  #fresh(): Mesh<BufferGeometry, MeshBasicMaterial> {
    const mesh = new Mesh(this.shape, new MeshBasicMaterial());
    this.scene.add(mesh);
    return mesh;
  }
}
