import { CanvasPicture } from "./canvas";
import type { Picture } from "./picture";
import { WebglPicture } from "./webgl";

/** WebGL where there is any; a canvas that has been asked for WebGL in vain draws nothing else, so the other gets its own. */
export function openPicture(root: HTMLElement): Picture {
  const fresh = (): HTMLCanvasElement => {
    root.querySelector("canvas")?.remove();
    const canvas = document.createElement("canvas");
    canvas.setAttribute("aria-hidden", "true");
    root.prepend(canvas);
    return canvas;
  };
  const probe = document.createElement("canvas").getContext("webgl2");
  if (!probe) return new CanvasPicture(fresh());
  probe.getExtension("WEBGL_lose_context")?.loseContext();
  try {
    return new WebglPicture(fresh());
  } catch {
    return new CanvasPicture(fresh());
  }
}
