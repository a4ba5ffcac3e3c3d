// A picture of space that can be turned, by pointer, touch and keyboard, with a handle on every body.

import { useEffect, useRef, useState } from "preact/hooks";
import { fixed } from "../../format";
import { type Box, basisOf, type Camera, dot, type Triple, turned } from "../../picture/camera";
import { type Lens, WHOLE } from "../../picture/lens";
import { NO_VIEW, toMetres, toPixels, type View } from "../../picture/view";
import { useStudio } from "../../studio";
import { t } from "../../words";
import { Grips, type Handles } from "./Grips";
import type { Aim } from "./Handle";
import type { StageProps } from "./Stages";
import { SpacePainter } from "./space";
import { useLens } from "./useLens";
import { ViewTools } from "./ViewTools";

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
  const view = useRef<View>(NO_VIEW);
  const painter = useRef<SpacePainter | null>(null);
  const handles = useRef<Handles>([]);
  const lens = useRef<Lens>(WHOLE);
  const [following, setFollowing] = useState(false);
  const aim = useRef<Aim>({
    toPixels: (place) => flat(view.current, camera.current, place),
    toPlace: (x, y, from) => beside(view.current, camera.current, x, y, from),
  });
  const [shown, setShown] = useState<{ view: View; box: Box } | null>(null);
  const [trouble, setTrouble] = useState("");

  useEffect(() => {
    const arranged = (now: View, box: Box): void => {
      view.current = now;
      setShown({ view: now, box });
    };
    try {
      painter.current = new SpacePainter(studio, root.current!, which, camera, lens, handles.current, arranged);
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error));
    }
    return () => painter.current?.stop();
  }, []);

  const turn = (dx: number, dy: number): void => {
    camera.current = turned(camera.current, dx, dy);
    painter.current?.arrange();
  };
  const follow = (on: boolean): void => {
    setFollowing(on);
    painter.current?.follow(on);
  };
  const tools = useLens({ root, lens, single: "turn", changed: () => painter.current?.arrange(), fitted: () => follow(false) });
  const title = t(laboratory.pictures[which]?.title || laboratory.title);
  return (
    <div
      class="stage space"
      data-stage={which}
      ref={root}
      role="group"
      tabIndex={0}
      aria-label={t("Picture: {}. Turn it with the arrow keys.", title)}
      onPointerDown={(event) => {
        if (event.button !== 0 || (event.target as Element).closest("button")) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        hold.current = event.isPrimary && !event.shiftKey ? [event.clientX, event.clientY] : null;
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
        if (!way || event.target !== event.currentTarget || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        turn(...way);
      }}
    >
      {laboratory.pictures.length > 1 && <p class="caption">{title}</p>}
      {shown && <Labels view={shown.view} box={shown.box} />}
      {trouble && <p class="trouble">{trouble}</p>}
      <Grips lab={laboratory} picture={which} scale={shown?.view.scale ?? 1} aim={aim} handles={handles.current} />
      <ViewTools root={root} lens={tools} follow={{ on: following, set: follow }} />
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

function flat(view: View, camera: Camera, place: Triple): [number, number] {
  const { right, up } = basisOf(camera);
  return toPixels(view, dot(right, ...place), dot(up, ...place));
}

/** The place under a pixel that is as far from the eye as the body was when it was taken. */
function beside(view: View, camera: Camera, x: number, y: number, from: Triple): Triple {
  const { right, up, toward } = basisOf(camera);
  const [u, v] = toMetres(view, x, y);
  const depth = dot(toward, ...from);
  return [0, 1, 2].map((i) => u * right[i]! + v * up[i]! + depth * toward[i]!) as unknown as Triple;
}
