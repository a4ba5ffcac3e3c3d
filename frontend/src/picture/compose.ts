// The pictures with their axes as one image, for a file or a film.

import { pixelRatio } from "./picture";

/** Draw the stages under `root`, canvases and the text that lies over them, onto one canvas. */
function compose(root: HTMLElement, target: HTMLCanvasElement): void {
  const stages = [...root.querySelectorAll<HTMLElement>(".stage")];
  const boxes = stages.map((stage) => stage.getBoundingClientRect());
  const left = Math.min(...boxes.map((box) => box.left));
  const top = Math.min(...boxes.map((box) => box.top));
  const width = Math.max(...boxes.map((box) => box.right)) - left;
  const height = Math.max(...boxes.map((box) => box.bottom)) - top;
  const ratio = pixelRatio();
  const [wide, high] = [even(width * ratio), even(height * ratio)];
  if (target.width !== wide || target.height !== high) Object.assign(target, { width: wide, height: high });
  const pen = target.getContext("2d")!;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  stages.forEach((stage, i) => {
    const canvas = stage.querySelector("canvas");
    const [x, y] = [boxes[i]!.left - left, boxes[i]!.top - top];
    if (canvas) pen.drawImage(canvas, x, y, boxes[i]!.width, boxes[i]!.height);
    for (const element of stage.querySelectorAll<HTMLElement>(".tick, .axis, .handle:not(.covered) span, .caption, .key > span"))
      write(pen, element, left, top);
  });
}

/** Films want even numbers of pixels. */
function even(size: number): number {
  return Math.max(2, 2 * Math.round(size / 2));
}

/** Every piece of text in an element where it stands, in its own type: an axis' name is partly in italics. */
function write(pen: CanvasRenderingContext2D, element: HTMLElement, left: number, top: number): void {
  if (element.classList.contains("scale")) {
    gradient(pen, element.dataset.colours ?? "", element.getBoundingClientRect(), left, top);
    return;
  }
  const pieces = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let piece = pieces.nextNode(); piece; piece = pieces.nextNode()) {
    range.selectNodeContents(piece);
    const box = range.getBoundingClientRect();
    const style = getComputedStyle(piece.parentElement!);
    pen.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    pen.fillStyle = style.color;
    pen.textBaseline = "middle";
    pen.fillText(piece.textContent ?? "", box.left - left, box.top + box.height / 2 - top);
  }
}

function gradient(pen: CanvasRenderingContext2D, colours: string, box: DOMRect, left: number, top: number): void {
  const stops = colours.split(";");
  const fill = pen.createLinearGradient(box.left - left, 0, box.right - left, 0);
  stops.forEach((colour, i) => fill.addColorStop(i / Math.max(1, stops.length - 1), colour));
  pen.fillStyle = fill;
  pen.fillRect(box.left - left, box.top - top, box.width, box.height);
}

/** The pictures as a PNG. `paint` must draw them at once: WebGL forgets its canvas when the browser has shown it. */
export function pictureOfStages(root: HTMLElement, paint: () => void): Promise<Blob> {
  const target = document.createElement("canvas");
  paint();
  compose(root, target);
  return new Promise((resolve, reject) =>
    target.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The browser could not make an image of the picture."))), "image/png"),
  );
}

const RATE = 60;
const BITS = 8_000_000;

/** A film of the pictures, from when it is made until it is stopped. */
export class Film {
  readonly #target = document.createElement("canvas");
  readonly #recorder: MediaRecorder;
  readonly #parts: Blob[] = [];
  readonly #unfollow: () => void;

  /** `follow` calls on every frame, after the pictures were painted, until its result is called. */
  constructor(root: HTMLElement, follow: (paint: () => void) => () => void) {
    if (typeof MediaRecorder === "undefined") throw new Error("This browser cannot film a picture.");
    compose(root, this.#target);
    const kinds = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];
    const mimeType = kinds.find((kind) => MediaRecorder.isTypeSupported(kind));
    if (!mimeType) throw new Error("This browser cannot write WebM films.");
    this.#recorder = new MediaRecorder(this.#target.captureStream(RATE), { mimeType, videoBitsPerSecond: BITS });
    this.#recorder.ondataavailable = (event) => this.#parts.push(event.data);
    this.#unfollow = follow(() => compose(root, this.#target));
    this.#recorder.start();
  }

  stop(): Promise<Blob> {
    this.#unfollow();
    return new Promise((resolve) => {
      this.#recorder.onstop = () => resolve(new Blob(this.#parts, { type: "video/webm" }));
      this.#recorder.stop();
    });
  }
}

/** Let the browser keep what is at an address as a file. */
export function save(address: string, name: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
}
