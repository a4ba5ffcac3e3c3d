import type { Palette } from "../colours";
import { CanvasPicture } from "./canvas";
import type { Drawing, Picture } from "./picture";
import type { View } from "./view";
import { WebglPicture } from "./webgl";

/** What was last painted in an element, for painting it once more elsewhere. */
interface Painted {
  view: View;
  palette: Palette;
  ruled: Parameters<Picture["rule"]> | null;
  drawing: Drawing;
}

const painted = new WeakMap<Element, Painted>();

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
  if (!probe) return remembered(root, new CanvasPicture(fresh()));
  probe.getExtension("WEBGL_lose_context")?.loseContext();
  try {
    return remembered(root, new WebglPicture(fresh()));
  } catch {
    return remembered(root, new CanvasPicture(fresh()));
  }
}

function remembered(root: HTMLElement, picture: Picture): Picture {
  let last: Pick<Painted, "view" | "palette" | "ruled"> | null = null;
  return {
    kind: picture.kind,
    canvas: picture.canvas,
    arrange(view, palette) {
      last = { view, palette, ruled: null };
      picture.arrange(view, palette);
    },
    look(view) {
      if (last) last = { ...last, view, ruled: null };
      picture.look(view);
    },
    rule(...ruled) {
      if (last) last.ruled = ruled;
      picture.rule(...ruled);
    },
    paint(drawing) {
      if (last) painted.set(root, { ...last, drawing });
      picture.paint(drawing);
    },
    dispose: () => picture.dispose(),
  };
}

/** Paint what an element shows on another canvas, or on what stands for one; false where it was not painted by a picture. */
export function paintAgain(root: Element, canvas: HTMLCanvasElement): boolean {
  const found = painted.get(root);
  if (!found) return false;
  const picture = new CanvasPicture(canvas);
  picture.arrange(found.view, found.palette);
  if (found.ruled) picture.rule(...found.ruled);
  picture.paint(found.drawing);
  return true;
}
