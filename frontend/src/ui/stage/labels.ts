// Words that move with a picture's points: elements over the canvas, so that they are set in the page's own type.

import type { Label } from "../../picture/picture";
import { toPixels, type View } from "../../picture/view";

export class LabelLayer {
  readonly #root = document.createElement("div");
  readonly #spans: HTMLSpanElement[] = [];

  constructor(stage: HTMLElement) {
    this.#root.className = "axes labels";
    stage.append(this.#root);
  }

  place(labels: readonly Label[], view: View): void {
    labels.forEach((label, i) => {
      const span = (this.#spans[i] ??= this.#fresh());
      const [x, y] = toPixels(view, label.x, label.y);
      span.hidden = false;
      if (span.textContent !== label.text) span.textContent = label.text;
      span.style.color = label.colour;
      span.style.opacity = label.ghost ? "0.5" : "";
      span.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px) translate(-50%, -135%)`;
    });
    for (const span of this.#spans.slice(labels.length)) span.hidden = true;
  }

  stop(): void {
    this.#root.remove();
  }

  #fresh(): HTMLSpanElement {
    const span = document.createElement("span");
    span.className = "axis label";
    this.#root.append(span);
    return span;
  }
}
