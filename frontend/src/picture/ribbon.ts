// A trail: a band that follows a path and grows thinner and fainter with age. (WebGL's own lines are one pixel wide.)

import { BufferAttribute, BufferGeometry, Color, DoubleSide, DynamicDrawUsage, Mesh, MeshBasicMaterial } from "three";
import { GHOST, TRAIL_HALF_WIDTH, type Trail } from "./picture";

const MOST_POINTS = 2048;
const STRENGTH = 0.6;

export class Ribbon {
  readonly mesh: Mesh<BufferGeometry, MeshBasicMaterial>;
  readonly #places = new BufferAttribute(new Float32Array(6 * MOST_POINTS), 3).setUsage(DynamicDrawUsage);
  readonly #tints = new BufferAttribute(new Float32Array(8 * MOST_POINTS), 4).setUsage(DynamicDrawUsage);
  readonly #corners = new BufferAttribute(new Uint16Array(6 * MOST_POINTS), 1).setUsage(DynamicDrawUsage);
  readonly #colour = new Color();

  constructor() {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", this.#places);
    geometry.setAttribute("color", this.#tints);
    geometry.setIndex(this.#corners);
    const material = new MeshBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false, side: DoubleSide });
    this.mesh = new Mesh(geometry, material);
    this.mesh.frustumCulled = false; // its bounds change every frame, and it is nearly always in sight
  }

  shape(trail: Trail, depth: number, pixel: number): void {
    this.#colour.set(trail.colour);
    const strength = STRENGTH * (trail.ghost ? GHOST : 1);
    const first = Math.max(0, trail.x.length - MOST_POINTS);
    let corners = 0;
    for (let i = first; i < trail.x.length; i++) {
      const vertex = 2 * (i - first);
      const [x, y] = [trail.x[i]!, trail.y[i]!];
      if (Number.isNaN(x)) continue;
      const [nx, ny] = this.#normal(trail, i);
      const left = 1 - trail.age[i]!;
      const half = TRAIL_HALF_WIDTH * pixel * left;
      this.#places.setXYZ(vertex, x + nx * half, y + ny * half, depth);
      this.#places.setXYZ(vertex + 1, x - nx * half, y - ny * half, depth);
      this.#tint(vertex, strength * left);
      this.#tint(vertex + 1, strength * left);
      if (i > first && !Number.isNaN(trail.x[i - 1])) {
        for (const corner of [vertex - 2, vertex - 1, vertex, vertex, vertex - 1, vertex + 1]) {
          this.#corners.setX(corners++, corner);
        }
      }
    }
    for (const attribute of [this.#places, this.#tints, this.#corners]) attribute.needsUpdate = true;
    this.mesh.geometry.setDrawRange(0, corners);
  }

  hide(): void {
    this.mesh.geometry.setDrawRange(0, 0);
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
  }

  #tint(vertex: number, opacity: number): void {
    this.#tints.setXYZW(vertex, this.#colour.r, this.#colour.g, this.#colour.b, opacity);
  }

  /** Across the path at point i: perpendicular to the line between its neighbours. */
  #normal(trail: Trail, i: number): [number, number] {
    const there = (j: number): boolean => trail.x[j] !== undefined && !Number.isNaN(trail.x[j]);
    const [a, b] = [there(i - 1) ? i - 1 : i, there(i + 1) ? i + 1 : i];
    const dx = trail.x[b]! - trail.x[a]!;
    const dy = trail.y[b]! - trail.y[a]!;
    const length = Math.hypot(dx, dy);
    return length > 0 ? [-dy / length, dx / length] : [0, 0];
  }
}
