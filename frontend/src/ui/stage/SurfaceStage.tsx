// A coloured sphere or another surface that can be turned, with points on it that can be dragged and thrown.

import { useEffect, useRef, useState } from "preact/hooks";
import { bodyColour, inkOn, palette } from "../../colours";
import { basisOf, type Camera, dot, type Triple, turned } from "../../picture/camera";
import { type Lens, WHOLE } from "../../picture/lens";
import { NO_VIEW, toMetres, toPixels, type View } from "../../picture/view";
import { useStudio } from "../../studio";
import { t, translated } from "../../words";
import { ColourKey } from "./ColourKey";
import { type Aim, Handle } from "./Handle";
import type { StageProps } from "./Stages";
import { SurfacePainter } from "./surface";
import { useLens } from "./useLens";
import { ViewTools } from "./ViewTools";

const OPENING: Camera = { azimuth: -0.9, elevation: 0.38 };
/** Pixels that an arrow key turns by. */
const NUDGE = 12;
const ARROWS: Record<string, readonly [number, number]> = {
  ArrowLeft: [-NUDGE, 0],
  ArrowRight: [NUDGE, 0],
  ArrowUp: [0, -NUDGE],
  ArrowDown: [0, NUDGE],
};
/** Where the axes' names stand, in radii. */
const NAMES: readonly (readonly [string, Triple])[] = [
  ["x₂", [1.09, 0, 0]],
  ["x₃", [0, 1.09, 0]],
  ["x₁", [0, 0, 1.2]],
];

export function SurfaceStage({ view: laboratory, picture: which }: StageProps) {
  const studio = useStudio();
  const root = useRef<HTMLDivElement>(null);
  const camera = useRef<Camera>(OPENING);
  const view = useRef<View>(NO_VIEW);
  const painter = useRef<SurfacePainter | null>(null);
  const lens = useRef<Lens>(WHOLE);
  const hold = useRef<[number, number] | null>(null);
  const handles = useRef<(HTMLButtonElement | null)[]>([]);
  const [shown, setShown] = useState<{ view: View; camera: Camera }>({ view: view.current, camera: OPENING });
  const aim = useRef<Aim>({
    toPixels: (place) => flat(view.current, camera.current, place),
    toPlace: (x, y, from) => {
      if (!(studio.surface.value?.points && studio.surface.value.picture === which))
        return onSphere(view.current, camera.current, x, y, from);
      return painter.current?.pick(x, y) ?? from;
    },
  });

  useEffect(() => {
    painter.current = new SurfacePainter(studio, root.current!, which, camera, lens, handles.current, (now) => {
      view.current = now;
      setShown({ view: now, camera: camera.current });
    });
    return () => painter.current?.stop();
  }, []);

  const turn = (dx: number, dy: number): void => {
    camera.current = turned(camera.current, dx, dy);
    painter.current?.arrange();
  };
  const tools = useLens({ root, lens, single: "turn", changed: () => painter.current?.arrange() });
  const bodies = laboratory.bodies.flatMap((body, index) => (body.picture === which && body.grasp && !body.ghost ? [{ body, index }] : []));
  const title = t(laboratory.pictures[which]?.title || laboratory.title);
  const curves = studio.curves.value?.picture === which ? studio.curves.value : null;
  const surface = studio.surface.value?.picture === which && studio.surface.value.rows > 0 ? studio.surface.value : null;
  return (
    <div
      class="stage space"
      data-stage={which}
      data-lines={curves?.curves.length ?? 0}
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
      <p class="caption">{title}</p>
      {surface && <ColourKey of={surface} />}
      {curves?.note && <p class="caption below">{translated(curves.note)}</p>}
      <div class="axes" aria-hidden="true">
        {(surface?.points ? [] : NAMES).map(([name, place]) => (
          <Name key={name} text={name} italic at={flat(shown.view, shown.camera, place)} back={behind(shown.camera, place)} />
        ))}
        {(curves?.marks ?? []).map(({ label, x, y, z }) => {
          const [left, top] = flat(shown.view, shown.camera, [x, y, z]);
          return <Name key={label} text={label} at={[left + 16, top - 14]} back={behind(shown.camera, [x, y, z])} />;
        })}
      </div>
      {bodies.map(({ body, index }) => (
        <Handle
          key={body.label}
          index={index}
          body={body}
          text=""
          ink={inkOn(bodyColour(palette.value, body.colour))}
          size={12}
          aim={aim}
          disabled={!studio.can("drag-begin")}
          reachable
          take={() => {}}
          keep={(button) => (handles.current[index] = button)}
        />
      ))}
      <ViewTools root={root} lens={tools} />
    </div>
  );
}

function Name({
  text,
  at: [left, top],
  back,
  italic = false,
}: {
  text: string;
  at: readonly [number, number];
  back: boolean;
  italic?: boolean;
}) {
  return (
    <span class="axis free" data-back={back} style={{ left: `${left}px`, top: `${top}px` }}>
      {italic ? <i>{text}</i> : <b>{text}</b>}
    </span>
  );
}

function flat(view: View, camera: Camera, place: Triple): [number, number] {
  const { right, up } = basisOf(camera);
  return toPixels(view, dot(right, ...place), dot(up, ...place));
}

function behind(camera: Camera, place: Triple): boolean {
  return dot(basisOf(camera).toward, ...place) < -0.05;
}

/** The point of the sphere under a pixel, on the side where the body was taken; beside the sphere, the nearest on its edge. */
function onSphere(view: View, camera: Camera, x: number, y: number, from: Triple): Triple {
  const { right, up, toward } = basisOf(camera);
  let [u, v] = toMetres(view, x, y);
  const far = Math.hypot(u, v);
  if (far > 1) [u, v] = [u / far, v / far];
  const depth = Math.sqrt(Math.max(0, 1 - u * u - v * v)) * (dot(toward, ...from) < 0 ? -1 : 1);
  return [0, 1, 2].map((i) => u * right[i]! + v * up[i]! + depth * toward[i]!) as unknown as Triple;
}
