// The pictures with their axes as one image, for a file or a film.

import { paintAgain } from "./open";
import { atRatio, pixelRatio } from "./picture";
import { SvgPen } from "./svg";

type Target = Pick<CanvasRenderingContext2D, "font" | "fillStyle" | "textBaseline" | "fillText"> & {
  drawImage(source: HTMLCanvasElement, x: number, y: number, width: number, height: number): void;
};

interface Part {
  readonly stage: HTMLElement;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Where the stages under an element are, and the size of all together. */
function arrangement(root: HTMLElement): { parts: Part[]; left: number; top: number; width: number; height: number } {
  const stages = [...root.querySelectorAll<HTMLElement>(".stage")];
  if (stages.length === 0) throw new Error("This lab has no picture; save its plots instead.");
  const boxes = stages.map((stage) => stage.getBoundingClientRect());
  const left = Math.min(...boxes.map((box) => box.left));
  const top = Math.min(...boxes.map((box) => box.top));
  const width = Math.max(...boxes.map((box) => box.right)) - left;
  const height = Math.max(...boxes.map((box) => box.bottom)) - top;
  const parts = stages.map((stage, i) => {
    const box = boxes[i]!;
    return { stage, x: box.left - left, y: box.top - top, width: box.width, height: box.height };
  });
  return { parts, left, top, width, height };
}

/** Draw the stages under `root`, canvases and the text that lies over them, onto one canvas. */
export function compose(root: HTMLElement, target: HTMLCanvasElement, ratio = pixelRatio()): void {
  const { parts, left, top, width, height } = arrangement(root);
  const [wide, high] = [even(width * ratio), even(height * ratio)];
  if (target.width !== wide || target.height !== high) Object.assign(target, { width: wide, height: high });
  const pen = target.getContext("2d")!;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  for (const part of parts) {
    const canvas = part.stage.querySelector("canvas");
    if (canvas) pen.drawImage(canvas, part.x, part.y, part.width, part.height);
    words(pen, part.stage, left, top);
  }
}

function words(pen: Target, stage: HTMLElement, left: number, top: number): void {
  for (const element of stage.querySelectorAll<HTMLElement>(".tick, .axis, .handle:not(.covered) span, .caption, .key > span"))
    if (!element.hidden) write(pen, element, left, top);
}

/** Films want even numbers of pixels. */
function even(size: number): number {
  return Math.max(2, 2 * Math.round(size / 2));
}

/** Every piece of text in an element where it stands, in its own type: an axis' name is partly in italics. */
function write(pen: Target, element: HTMLElement, left: number, top: number): void {
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

function gradient(pen: Target, colours: string, box: DOMRect, left: number, top: number): void {
  const stops = colours.split(";");
  const strip = Object.assign(document.createElement("canvas"), { width: 256, height: 1 });
  const brush = strip.getContext("2d")!;
  const fill = brush.createLinearGradient(0, 0, strip.width, 0);
  stops.forEach((colour, i) => fill.addColorStop(i / Math.max(1, stops.length - 1), colour));
  brush.fillStyle = fill;
  brush.fillRect(0, 0, strip.width, 1);
  pen.drawImage(strip, box.left - left, box.top - top, box.width, box.height);
}

/** Pixels of an image to one of the page: sharp in print and on any screen. */
const SHARP = 2;

/** The pictures as a PNG. `paint` must draw them at once: WebGL forgets its canvas when the browser has shown it. */
export function pictureOfStages(root: HTMLElement, paint: () => void): Promise<Blob> {
  const target = document.createElement("canvas");
  atRatio(SHARP, () => {
    paint();
    compose(root, target, SHARP);
    const pen = target.getContext("2d")!;
    // Drawings are painted anew at this size; a surface has followed the ratio by itself.
    const { parts, left, top } = arrangement(root);
    for (const part of parts) {
      const again = document.createElement("canvas");
      if (!paintAgain(part.stage, again)) continue;
      pen.drawImage(again, part.x, part.y, part.width, part.height);
      words(pen, part.stage, left, top);
    }
  });
  return new Promise((resolve, reject) =>
    target.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The browser could not make an image of the picture."))), "image/png"),
  );
}

/** The pictures as a drawing; what is no drawing, such as a coloured surface, is in it as an image. */
export function drawingOfStages(root: HTMLElement, paint: () => void): string {
  return atRatio(SHARP, () => {
    paint();
    const { parts, left, top, width, height } = arrangement(root);
    const pen = new SvgPen(width, height);
    for (const part of parts) {
      pen.save();
      pen.translate(part.x, part.y);
      const stand = { getContext: () => pen, width: 0, height: 0 } as unknown as HTMLCanvasElement;
      const canvas = part.stage.querySelector("canvas");
      if (!paintAgain(part.stage, stand) && canvas) pen.drawImage(canvas, 0, 0, part.width, part.height);
      pen.restore();
      words(pen, part.stage, left, top);
    }
    return pen.toString();
  });
}

/** Let the browser keep some content as a file. */
export function saveBlob(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  save(address, name);
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
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
