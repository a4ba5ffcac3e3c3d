// A small picture that moves, drawn from a recording; it costs nothing while it is out of sight or at rest.

import { useEffect, useRef } from "preact/hooks";
import { bodyColour, type Palette, palette, reducedMotion } from "../colours";
import type { Thumbnail as Recorded } from "../wire";

interface Props {
  readonly of: Recorded;
  /** Whether it moves all the time, or only under the pointer and with the focus of the element around it. */
  readonly always?: boolean;
}

/** Frames of a path that are drawn behind a body. */
const PATH = 16;
const FULL = 32767;
const GHOST = 0.35;
/** Width of the finest line, and radius of the smallest dot, in pixels of the canvas. */
const FINEST = 1.6;

export function Thumbnail({ of: recorded, always = false }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const colours = palette.value;
  useEffect(() => {
    const player = new Player(canvas.current!, recorded, colours);
    const around = always ? null : canvas.current!.parentElement;
    const [run, rest] = [() => player.run(), () => player.rest()];
    for (const event of ["pointerenter", "focus"]) around?.addEventListener(event, run);
    for (const event of ["pointerleave", "blur"]) around?.addEventListener(event, rest);
    const sight = new IntersectionObserver(([entry]) => (entry?.isIntersecting && always ? player.run() : player.rest()));
    sight.observe(canvas.current!);
    const size = new ResizeObserver(() => player.arrange());
    size.observe(canvas.current!);
    return () => {
      player.rest();
      sight.disconnect();
      size.disconnect();
      for (const event of ["pointerenter", "focus"]) around?.removeEventListener(event, run);
      for (const event of ["pointerleave", "blur"]) around?.removeEventListener(event, rest);
    };
  }, [recorded, colours]);
  return <canvas class="thumbnail" ref={canvas} aria-hidden="true" />;
}

/** Plays one recording on one canvas, forwards again and again. */
class Player {
  readonly #places: Int16Array;
  readonly #curves: readonly Int16Array[];
  #request = 0;
  #began = 0;
  #frame: number;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly recorded: Recorded,
    private readonly colours: Palette,
  ) {
    this.#frame = Math.floor(recorded.frames / 3); // at rest it shows what the motion is like
    this.#places = numbers(recorded.places);
    this.#curves = recorded.curves.map(numbers);
    this.arrange();
  }

  arrange(): void {
    const ratio = Math.min(2, devicePixelRatio);
    this.canvas.width = Math.max(1, Math.round(this.canvas.clientWidth * ratio));
    this.canvas.height = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
    this.#draw();
  }

  run(): void {
    if (reducedMotion.matches || this.#request !== 0) return;
    this.#began = performance.now() - (1000 * this.recorded.seconds * this.#frame) / this.recorded.frames;
    const next = (now: number): void => {
      const part = ((now - this.#began) / 1000 / this.recorded.seconds) % 1;
      const frame = Math.min(this.recorded.frames - 1, Math.floor(Math.max(0, part) * this.recorded.frames));
      if (frame !== this.#frame) {
        this.#frame = frame;
        this.#draw();
      }
      this.#request = requestAnimationFrame(next);
    };
    this.#request = requestAnimationFrame(next);
  }

  rest(): void {
    cancelAnimationFrame(this.#request);
    this.#request = 0;
  }

  #draw(): void {
    const pen = this.canvas.getContext("2d");
    if (!pen) return;
    const { width, height } = this.canvas;
    const half = Math.min(width, height) / 2;
    const x = (value: number): number => width / 2 + (half * value) / FULL;
    const y = (value: number): number => height / 2 - (half * value) / FULL;
    const at = (point: number, frame = this.#frame): [number, number] => {
      const place = 2 * (frame * this.recorded.count + point);
      return [x(this.#places[place]!), y(this.#places[place + 1]!)];
    };
    pen.clearRect(0, 0, width, height);
    pen.lineCap = pen.lineJoin = "round";
    this.#drawStill(pen, half, x, y);
    this.#drawPaths(pen, half, at);
    for (const line of this.recorded.lines) {
      pen.globalAlpha = line.ghost ? GHOST : 1;
      pen.strokeStyle = pen.fillStyle = line.colour < 0 ? this.colours.rod : bodyColour(this.colours, line.colour);
      pen.lineWidth = Math.max(0.022 * half, FINEST);
      pen.beginPath();
      for (const point of line.points) pen.lineTo(...at(point));
      if (line.filled) pen.closePath();
      pen.stroke();
      if (line.filled) {
        pen.globalAlpha *= GHOST;
        pen.fill();
      }
    }
    for (const dot of this.recorded.dots) {
      pen.globalAlpha = dot.ghost ? GHOST : 1;
      pen.fillStyle = bodyColour(this.colours, dot.colour);
      pen.beginPath();
      pen.arc(...at(dot.point), Math.max(dot.radius * half, FINEST), 0, 2 * Math.PI);
      pen.fill();
    }
    pen.globalAlpha = 1;
  }

  #drawStill(pen: CanvasRenderingContext2D, half: number, x: (value: number) => number, y: (value: number) => number): void {
    pen.strokeStyle = this.colours.faint;
    pen.lineWidth = 0.012 * half;
    if (this.recorded.circle > 0) {
      pen.beginPath();
      pen.arc(x(0), y(0), this.recorded.circle * half, 0, 2 * Math.PI);
      pen.stroke();
    }
    pen.strokeStyle = this.colours.accent;
    pen.globalAlpha = 0.55;
    for (const curve of this.#curves) {
      pen.beginPath();
      for (let i = 0; i < curve.length; i += 2) pen.lineTo(x(curve[i]!), y(curve[i + 1]!));
      pen.stroke();
    }
  }

  /** Of the bodies that leave one, the last says most; it fades with age. */
  #drawPaths(pen: CanvasRenderingContext2D, half: number, at: (point: number, frame?: number) => [number, number]): void {
    const traced = this.recorded.dots.filter((dot) => dot.trail && !dot.ghost).at(-1);
    if (!traced) return;
    pen.strokeStyle = bodyColour(this.colours, traced.colour);
    pen.lineWidth = Math.max(0.02 * half, FINEST);
    for (let frame = Math.max(1, this.#frame - PATH); frame <= this.#frame; frame++) {
      pen.globalAlpha = 0.6 * (1 - (this.#frame - frame) / PATH);
      pen.beginPath();
      pen.moveTo(...at(traced.point, frame - 1));
      pen.lineTo(...at(traced.point, frame));
      pen.stroke();
    }
  }
}

function numbers(code: string): Int16Array {
  const bytes = Uint8Array.from(atob(code), (c) => c.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Int16Array.from({ length: bytes.length / 2 }, (_, i) => view.getInt16(2 * i, true));
}
