// The picture, with a handle on every body. Painting happens outside Preact, sixty times a second.

import { effect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { palette } from "../colours";
import { bits, fixed } from "../format";
import { CanvasPicture } from "../picture/canvas";
import { NO_TRAIL, type Drawing, type Picture } from "../picture/picture";
import { trailOf } from "../picture/trail";
import { fit, ticks, toPixels, type View } from "../picture/view";
import { WebglPicture } from "../picture/webgl";
import { controls, lab, onFrame, repaint, trail, TRAIL, trailShown } from "../store";
import { FrameFlag, type Controls, type Frame, type LabView } from "../wire";
import { Handle } from "./Handle";

export function Stage({ view: laboratory }: { view: LabView }) {
  const stage = useRef<HTMLDivElement>(null);
  const view = useRef<View>({ width: 1, height: 1, scale: 1 });
  const handles = useRef<(HTMLButtonElement | null)[]>([]);
  const [axes, setAxes] = useState<View>(view.current);
  const [trouble, setTrouble] = useState("");

  useEffect(() => {
    const root = stage.current!;
    let picture: Picture;
    try {
      picture = openPicture(root);
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error));
      return;
    }
    root.dataset["renderer"] = picture.kind;
    const arrange = (): void => {
      const extent = controls.value?.extent ?? 1;
      const { width, height } = root.getBoundingClientRect();
      view.current = fit(Math.max(1, width), Math.max(1, height), extent);
      picture.arrange(view.current, palette.value);
      setAxes(view.current);
      repaint();
    };
    const watcher = new ResizeObserver(arrange);
    watcher.observe(root);
    const stopArranging = effect(() => {
      void controls.value?.extent;
      void palette.value;
      arrange();
    });
    const stopTrail = effect(() => {
      void trailShown.value;
      repaint();
    });
    const stopPainting = onFrame((frame) => {
      if (!lab.value || !controls.value) return;
      picture.paint(drawing(frame, lab.value, controls.value));
      moveHandles(handles.current, frame, lab.value, view.current);
      describe(root, frame);
    });
    return () => {
      stopPainting();
      stopTrail();
      stopArranging();
      watcher.disconnect();
      picture.dispose();
    };
  }, []);

  return (
    <div class="stage" id="stage" ref={stage} role="group" aria-label={`Picture: ${laboratory.title}`}>
      <Axes view={axes} />
      {trouble && <p class="trouble">{trouble}</p>}
      {laboratory.bodies.map((body, index) => (
        <Handle
          key={body.label}
          index={index}
          label={body.label}
          view={view}
          anchors={laboratory.anchors}
          keep={(button) => (handles.current[index] = button)}
        />
      ))}
    </div>
  );
}

/** WebGL where there is any; a canvas that has been asked for WebGL in vain draws nothing else, so the other gets its own. */
function openPicture(root: HTMLElement): Picture {
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

function drawing(frame: Frame, laboratory: LabView, settings: Controls): Drawing {
  const traced = laboratory.bodies.findIndex((body) => body.trail);
  return {
    points: frame.position,
    dimension: frame.dimension,
    anchors: laboratory.anchors,
    rods: laboratory.rods,
    radii: settings.radii.map((radius) => radius * settings.extent),
    trail: trailShown.value && traced >= 0 ? trailOf(trail, traced, frame.time, TRAIL) : NO_TRAIL,
  };
}

function moveHandles(handles: (HTMLButtonElement | null)[], frame: Frame, laboratory: LabView, view: View): void {
  handles.forEach((handle, body) => {
    if (!handle) return;
    const at = (laboratory.anchors + body) * frame.dimension;
    const [x, y] = toPixels(view, frame.position[at]!, frame.position[at + 1]!);
    handle.style.transform = `translate(${x.toFixed(2)}px, ${y.toFixed(2)}px)`;
    handle.dataset["x"] = String(frame.position[at]);
    handle.dataset["y"] = String(frame.position[at + 1]);
  });
}

/** The exact state, for whoever reads the page with a program. */
function describe(root: HTMLElement, frame: Frame): void {
  root.dataset["time"] = String(frame.time);
  root.dataset["state"] = bits(frame.time, frame.q, frame.v);
  root.dataset["playing"] = String((frame.flags & FrameFlag.PLAYING) !== 0);
}

function Axes({ view }: { view: View }) {
  const { x, y, decimals } = ticks(view);
  const margin = 34;
  const name = 64; // room for the axis' own name at the right end
  return (
    <div class="axes" aria-hidden="true">
      {x.map((metre) => {
        const [left] = toPixels(view, metre, 0);
        return left > margin && left < view.width - name ? (
          <span key={`x${metre}`} class="tick across" style={{ left: `${left}px` }}>{fixed(metre, decimals)}</span>
        ) : null;
      })}
      {y.map((metre) => {
        const [, top] = toPixels(view, 0, metre);
        return top > margin && top < view.height - margin ? (
          <span key={`y${metre}`} class="tick up" style={{ top: `${top}px` }}>{fixed(metre, decimals)}</span>
        ) : null;
      })}
      <span class="axis across"><i>x</i> / m</span>
      <span class="axis up"><i>y</i> / m</span>
    </div>
  );
}
