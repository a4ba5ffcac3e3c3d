// A pen that writes SVG instead of painting pixels.

import type { Pen } from "./pen";

type Style = CanvasRenderingContext2D["fillStyle"];

/** What `save` keeps and `restore` brings back. */
interface State {
  fillStyle: Style;
  strokeStyle: Style;
  lineWidth: number;
  lineJoin: CanvasLineJoin;
  lineCap: CanvasLineCap;
  globalAlpha: number;
  font: string;
  textAlign: CanvasTextAlign;
  textBaseline: CanvasTextBaseline;
  dashes: readonly number[];
  transform: string;
  clip: string;
}

const ANCHORS: Partial<Record<CanvasTextAlign, string>> = { center: "middle", right: "end", end: "end" };
/** How far below the point of writing the base line of a text is, in heights of its letters. */
const BELOW: Partial<Record<CanvasTextBaseline, number>> = { middle: 0.34, top: 0.8, hanging: 0.8, bottom: -0.2 };

/** The part of a 2-D canvas that pictures and plots use; lengths are in pixels of the page. */
export class SvgPen implements Pen, Omit<State, "dashes" | "transform" | "clip"> {
  fillStyle: Style = "#000";
  strokeStyle: Style = "#000";
  lineWidth = 1;
  lineJoin: CanvasLineJoin = "miter";
  lineCap: CanvasLineCap = "butt";
  globalAlpha = 1;
  font = "10px serif";
  textAlign: CanvasTextAlign = "start";
  textBaseline: CanvasTextBaseline = "alphabetic";
  #dashes: readonly number[] = [];
  #transform = "";
  #clip = "";
  #path = "";
  #clips = 0;
  readonly #saved: State[] = [];
  readonly #elements: string[] = [];

  constructor(
    private readonly width: number,
    private readonly height: number,
  ) {}

  /** The whole as a file. */
  toString(): string {
    const size = `width="${round(this.width)}" height="${round(this.height)}" viewBox="0 0 ${round(this.width)} ${round(this.height)}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>\n${this.#elements.join("\n")}\n</svg>\n`;
  }

  beginPath(): void {
    this.#path = "";
  }

  closePath(): void {
    this.#path += "Z";
  }

  moveTo(x: number, y: number): void {
    this.#path += `M${round(x)} ${round(y)}`;
  }

  lineTo(x: number, y: number): void {
    this.#path += `${this.#path ? "L" : "M"}${round(x)} ${round(y)}`;
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.#path += `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}Z`;
  }

  /** An arc by half turns at most, since SVG cannot write a full one. */
  arc(x: number, y: number, radius: number, start: number, end: number): void {
    const at = (angle: number): string => `${round(x + radius * Math.cos(angle))} ${round(y + radius * Math.sin(angle))}`;
    const parts = Math.max(1, Math.ceil(Math.abs(end - start) / Math.PI));
    const sweep = end > start ? 1 : 0;
    this.#path += `${this.#path ? "L" : "M"}${at(start)}`;
    for (let i = 1; i <= parts; i++) {
      this.#path += `A${round(radius)} ${round(radius)} 0 0 ${sweep} ${at(start + ((end - start) * i) / parts)}`;
    }
  }

  fill(): void {
    if (this.#path) this.#add(`<path d="${this.#path}" fill="${escaped(this.fillStyle)}"/>`);
  }

  stroke(): void {
    if (!this.#path) return;
    const dashes = this.#dashes.length > 0 ? ` stroke-dasharray="${this.#dashes.join(" ")}"` : "";
    const ends = `stroke-linejoin="${this.lineJoin}" stroke-linecap="${this.lineCap}"`;
    const line = `fill="none" stroke="${escaped(this.strokeStyle)}" stroke-width="${round(this.lineWidth)}"`;
    this.#add(`<path d="${this.#path}" ${line} ${ends}${dashes}/>`);
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    const place = `x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}"`;
    this.#add(`<rect ${place} fill="${escaped(this.fillStyle)}"/>`);
  }

  fillText(text: string, x: number, y: number): void {
    const [, look = "", height = "10", family = "serif"] = /^(.*?)([\d.]+)px\S* (.*)$/.exec(this.font) ?? [];
    const size = Number(height);
    const base = y + (BELOW[this.textBaseline] ?? 0) * size;
    const anchor = ANCHORS[this.textAlign] ? ` text-anchor="${ANCHORS[this.textAlign]}"` : "";
    const colour = `fill="${escaped(this.fillStyle)}"`;
    const slant = look.includes("italic") ? ' font-style="italic"' : "";
    const weight = /\b(\d{3}|bold)\b/.exec(look)?.[1] ?? "400";
    const type = `font-family="${escaped(family)}" font-size="${size}" font-weight="${weight}"${slant}`;
    this.#add(`<text x="${round(x)}" y="${round(base)}" ${colour}${anchor} ${type}>${escaped(text)}</text>`);
  }

  /** A picture that cannot be written as lines, such as one of WebGL: an address of the form data:… */
  image(address: string, x: number, y: number, width: number, height: number): void {
    const place = `x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}"`;
    this.#add(`<image ${place} href="${escaped(address)}"/>`);
  }

  drawImage(source: HTMLCanvasElement, x: number, y: number, width: number, height: number): void {
    this.image(source.toDataURL("image/png"), x, y, width, height);
  }

  /** Pictures scale a canvas to its pixels; lengths here are those of the page already. */
  setTransform(): void {}

  setLineDash(dashes: readonly number[]): void {
    this.#dashes = dashes;
  }

  translate(x: number, y: number): void {
    this.#transform += `translate(${round(x)} ${round(y)})`;
  }

  rotate(angle: number): void {
    this.#transform += `rotate(${round((180 * angle) / Math.PI)})`;
  }

  /** Only what lies in the present path is seen from now on, until `restore`. */
  clip(): void {
    this.#clip = `clip${++this.#clips}`;
    this.#elements.push(`<clipPath id="${this.#clip}"><path d="${this.#path}"/></clipPath>`);
  }

  save(): void {
    const { fillStyle, strokeStyle, lineWidth, lineJoin, lineCap, globalAlpha, font, textAlign, textBaseline } = this;
    const look = { fillStyle, strokeStyle, lineWidth, lineJoin, lineCap, globalAlpha, font, textAlign, textBaseline };
    this.#saved.push({ ...look, dashes: this.#dashes, transform: this.#transform, clip: this.#clip });
  }

  restore(): void {
    const before = this.#saved.pop();
    if (!before) return;
    const { dashes, transform, clip, ...look } = before;
    Object.assign(this, look);
    [this.#dashes, this.#transform, this.#clip] = [dashes, transform, clip];
  }

  #add(element: string): void {
    const around = [
      this.globalAlpha < 1 ? `opacity="${round(this.globalAlpha)}"` : "",
      this.#transform ? `transform="${this.#transform}"` : "",
      this.#clip ? `clip-path="url(#${this.#clip})"` : "",
    ].filter(Boolean);
    this.#elements.push(around.length > 0 ? `<g ${around.join(" ")}>${element}</g>` : element);
  }
}

/** To a hundredth of a pixel. */
function round(value: number): string {
  return String(Math.round(100 * value) / 100);
}

function escaped(text: unknown): string {
  return String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
