// A picture of a plane, with a handle on every body. Painting happens outside Preact, sixty times a second.

import { effect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { bodyColour, inkOn, palette } from "../../colours";
import { drawingOf, trailsOf } from "../../picture/drawing";
import { openPicture } from "../../picture/open";
import type { Bob, Drawing, Picture } from "../../picture/picture";
import { fit, toPixels, type View } from "../../picture/view";
import { useStudio } from "../../studio";
import type { Frame, LabView } from "../../wire";
import { Axes } from "./Axes";
import { Handle } from "./Handle";
import { StrainKey } from "./StrainKey";
import type { StageProps } from "./Stages";

/** Up to this many bodies, each can be reached by Tab; of more, one at a time. */
const ALL_BY_TAB = 12;
/** A picture that becomes too small grows by more than is needed, so that it does so seldom. */
const GROWTH = 1.2;
/** What does not fit at this many metres has flown apart, and is let go. */
const FARTHEST = 1e4;
/** Smaller bobs carry no number. */
const ROOM_FOR_NUMBER = 7;
const MOST_NUMBERS = 30;

export function PlaneStage({ view: laboratory, picture: which }: StageProps) {
  const studio = useStudio();
  const root = useRef<HTMLDivElement>(null);
  const view = useRef<View>({ width: 1, height: 1, scale: 1 });
  const handles = useRef<(HTMLButtonElement | null)[]>([]);
  const [axes, setAxes] = useState<View>(view.current);
  const [trouble, setTrouble] = useState("");
  const [taken, setTaken] = useState(0);

  useEffect(() => {
    const stage = root.current!;
    let picture: Picture;
    try {
      picture = openPicture(stage);
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error));
      return;
    }
    stage.dataset["renderer"] = picture.kind;
    let seen = 0; // half the width that bodies have needed, where that is more than the lab foresaw
    const arrange = (): void => {
      const { width, height } = stage.getBoundingClientRect();
      const extent = Math.max(seen, studio.controls.value?.extents[which] ?? 1);
      view.current = fit(Math.max(1, width), Math.max(1, height), extent);
      picture.arrange(view.current, palette.value);
      setAxes(view.current);
      studio.repaint();
    };
    const watcher = new ResizeObserver(arrange);
    watcher.observe(stage);
    const extent = (): number | undefined => studio.controls.value?.extents[which];
    let last = "";
    let time = -Infinity;
    const stopArranging = effect(() => {
      const now = `${extent()} ${palette.value.paper}`;
      if (now === last) return;
      last = now;
      seen = 0;
      arrange();
    });
    const stopTrail = effect(() => {
      void studio.trailsShown.value;
      void studio.trailSeconds.value;
      void studio.trailsOfAll.value;
      studio.repaint();
    });
    const stopPainting = studio.onFrame((frame) => {
      const [lab, settings] = [studio.lab.value, studio.controls.value];
      if (!lab || !settings || lab.revision !== frame.revision) return;
      const colours = palette.value;
      const wanted = { seconds: studio.trailSeconds.value * studio.timeUnit.value, all: studio.trailsOfAll.value };
      const trails = studio.trailsShown.value ? trailsOf(frame, lab, studio.history, which, colours, wanted) : [];
      const drawing = drawingOf(frame, lab, settings, which, colours, trails);
      const [needed, foreseen] = [reach(drawing), extent() ?? 1];
      const outgrown = needed > 1.001 * Math.max(seen, foreseen);
      const back = seen > 0 && frame.time < time && needed <= foreseen;
      time = frame.time;
      if (outgrown || back) {
        seen = outgrown ? GROWTH * needed : 0;
        arrange();
      }
      picture.paint(drawing);
      stage.dataset["trails"] = String(trails.length);
      moveHandles(handles.current, frame, lab, view.current);
      hideCovered(handles.current, drawing, lab.anchors);
    });
    return () => {
      stopPainting();
      stopTrail();
      stopArranging();
      watcher.disconnect();
      picture.dispose();
    };
  }, []);

  const settings = studio.controls.value;
  const own = laboratory.bodies.flatMap((body, index) => (body.picture === which && body.grasp && !body.ghost ? [{ body, index }] : []));
  const title = laboratory.pictures[which]?.title || laboratory.title;
  const take = (step: number, index: number): void => {
    const at = own.findIndex((entry) => entry.index === index);
    const next = own[(at + step + own.length) % own.length];
    if (!next) return;
    setTaken(next.index);
    handles.current[next.index]?.focus();
  };
  const canDrag = studio.can("drag-begin");
  return (
    <div class="stage" data-stage={which} ref={root} role="group" aria-label={`Picture: ${title}`}>
      {laboratory.pictures.length > 1 && <p class="caption">{title}</p>}
      <Axes view={axes} />
      {laboratory.rods.some((rod) => rod.elastic) && which === 0 && <StrainKey />}
      {trouble && <p class="trouble">{trouble}</p>}
      {own.map(({ body, index }) => {
        const radius = (settings?.radii[index] ?? 0) * (settings?.extents[which] ?? 1) * axes.scale;
        return (
          <Handle
            key={body.label}
            index={index}
            body={body}
            text={radius >= ROOM_FOR_NUMBER ? numberOf(body.label, index) : ""}
            ink={inkOn(bodyColour(palette.value, body.colour))}
            size={1.3 * radius}
            view={view}
            disabled={!canDrag}
            reachable={own.length <= ALL_BY_TAB || index === taken || (index === own[0]?.index && !own.some((o) => o.index === taken))}
            take={(step) => take(step, index)}
            keep={(button) => (handles.current[index] = button)}
          />
        );
      })}
    </div>
  );
}

/** A number is hidden when a later body lies on it; of many bodies, which carry no numbers, none is looked at. */
function hideCovered(handles: (HTMLButtonElement | null)[], { bobs, points, dimension }: Drawing, anchors: number): void {
  const own = bobs.filter((bob) => !bob.ghost);
  if (own.length > MOST_NUMBERS) return;
  own.forEach((bob, i) => {
    const near = (other: Bob): boolean =>
      Math.hypot(points[bob.point * dimension]! - points[other.point * dimension]!, points[bob.point * dimension + 1]! - points[other.point * dimension + 1]!) < other.radius;
    handles[bob.point - anchors]?.classList.toggle("covered", own.slice(i + 1).some(near));
  });
}

/** Half the width of the square about the origin that holds all bodies. */
function reach({ bobs, points, dimension }: Drawing): number {
  let farthest = 0;
  for (const { point, radius } of bobs) {
    const size = radius + Math.max(Math.abs(points[point * dimension]!), Math.abs(points[point * dimension + 1]!));
    if (size > farthest && size < FARTHEST) farthest = size;
  }
  return farthest;
}

/** "bob 3" is 3; other bodies are counted. */
function numberOf(label: string, index: number): string {
  return /\d+$/.exec(label)?.[0] ?? String(index + 1);
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
