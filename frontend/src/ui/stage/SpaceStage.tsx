// A picture of space that can be turned, by pointer, touch and keyboard. Painting happens outside Preact.

import { effect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { palette } from "../../colours";
import { fixed } from "../../format";
import { type Box, basisOf, boxOf, type Camera, projected, projectedPast, REACH, turned } from "../../picture/camera";
import { drawingOf, trailsOf } from "../../picture/drawing";
import { openPicture } from "../../picture/open";
import type { Drawing, Picture } from "../../picture/picture";
import { fit, toPixels, type View } from "../../picture/view";
import { type Studio, useStudio } from "../../studio";
import type { Frame } from "../../wire";
import type { StageProps } from "./Stages";

const OPENING: Camera = { azimuth: -Math.PI / 3, elevation: Math.PI / 9 };
/** Pixels that an arrow key turns by. */
const NUDGE = 12;
const ARROWS: Record<string, readonly [number, number]> = {
  ArrowLeft: [-NUDGE, 0],
  ArrowRight: [NUDGE, 0],
  ArrowUp: [0, -NUDGE],
  ArrowDown: [0, NUDGE],
};

export function SpaceStage({ view: laboratory, picture: which }: StageProps) {
  const studio = useStudio();
  const root = useRef<HTMLDivElement>(null);
  const camera = useRef<Camera>(OPENING);
  const hold = useRef<[number, number] | null>(null);
  const arrange = useRef<() => void>(() => {});
  const [shown, setShown] = useState<{ view: View; box: Box } | null>(null);
  const [trouble, setTrouble] = useState("");

  useEffect(() => {
    const stage = root.current!;
    let picture: Picture;
    try {
      picture = openPicture(stage);
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error));
      return;
    }
    stage.dataset.renderer = picture.kind;
    const extent = (): number => studio.controls.value?.extents[which] ?? 1;
    let size = "";
    arrange.current = () => {
      const { width, height } = stage.getBoundingClientRect();
      const view = fit(Math.max(1, width), Math.max(1, height), REACH * extent());
      const now = `${width} ${height} ${extent()} ${palette.value.paper}`;
      if (now !== size) picture.arrange(view, palette.value);
      size = now;
      const box = boxOf(extent(), basisOf(camera.current));
      picture.rule(box.lines);
      stage.dataset.camera = `${camera.current.azimuth.toFixed(4)} ${camera.current.elevation.toFixed(4)}`;
      setShown({ view, box });
      studio.repaint();
    };
    const watcher = new ResizeObserver(() => arrange.current());
    watcher.observe(stage);
    const stops = [
      effect(() => {
        void [extent(), palette.value];
        arrange.current();
      }),
      effect(() => {
        void [studio.trailsShown.value, studio.trailSeconds.value, studio.trailsOfAll.value];
        studio.repaint();
      }),
      studio.onFrame((frame) => {
        const drawing = drawingIn(studio, frame, which, camera.current);
        if (!drawing) return;
        picture.paint(drawing);
        stage.dataset.trails = String(drawing.trails.length);
      }),
    ];
    return () => {
      for (const stop of stops) stop();
      watcher.disconnect();
      picture.dispose();
    };
  }, []);

  const turn = (dx: number, dy: number): void => {
    camera.current = turned(camera.current, dx, dy);
    arrange.current();
  };
  const title = laboratory.pictures[which]?.title || laboratory.title;
  return (
    <div
      class="stage space"
      data-stage={which}
      ref={root}
      role="group"
      tabIndex={0}
      aria-label={`Picture: ${title}. Turn it with the arrow keys.`}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        hold.current = [event.clientX, event.clientY];
      }}
      onPointerMove={(event) => {
        if (!hold.current) return;
        turn(event.clientX - hold.current[0], event.clientY - hold.current[1]);
        hold.current = [event.clientX, event.clientY];
      }}
      onPointerUp={() => (hold.current = null)}
      onPointerCancel={() => (hold.current = null)}
      onKeyDown={(event) => {
        const way = ARROWS[event.key];
        if (!way || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        turn(...way);
      }}
    >
      {laboratory.pictures.length > 1 && <p class="caption">{title}</p>}
      {shown && <Labels view={shown.view} box={shown.box} />}
      {trouble && <p class="trouble">{trouble}</p>}
    </div>
  );
}

function Labels({ view, box }: { view: View; box: Box }) {
  return (
    <div class="axes" aria-hidden="true">
      {box.labels.map(({ text, place }) => {
        const [left, top] = toPixels(view, ...place);
        const number = typeof text === "number";
        return (
          <span key={`${text}${left}`} class={number ? "tick free" : "axis free"} style={{ left: `${left}px`, top: `${top}px` }}>
            {number ? (
              fixed(text, box.decimals)
            ) : (
              <>
                <i>{text}</i> / m
              </>
            )}
          </span>
        );
      })}
    </div>
  );
}

/** The frame as the camera sees it: bodies near to the eye over those that are far. */
function drawingIn(studio: Studio, frame: Frame, which: number, camera: Camera): Drawing | null {
  const [lab, settings] = [studio.lab.value, studio.controls.value];
  if (!lab || !settings || lab.revision !== frame.revision) return null;
  const basis = basisOf(camera);
  const seen = { ...frame, position: projected(frame.position, basis) };
  const wanted = { seconds: studio.trailSeconds.value * studio.timeUnit.value, all: studio.trailsOfAll.value };
  const past = projectedPast(studio.history, frame.channels, basis);
  const trails = studio.trailsShown.value ? trailsOf(seen, lab, past, which, palette.value, wanted) : [];
  const drawing = drawingOf(seen, lab, settings, which, palette.value, trails);
  const depth = (point: number): number => seen.position[3 * point + 2] ?? 0;
  return { ...drawing, bobs: [...drawing.bobs].sort((a, b) => depth(a.point) - depth(b.point)) };
}
