// A picture of a plane, with a handle on every body.

import { useEffect, useRef, useState } from "preact/hooks";
import { bodyColour, inkOn, palette } from "../../colours";
import { toMetres, toPixels, type View } from "../../picture/view";
import { useStudio } from "../../studio";
import { Axes } from "./Axes";
import { type Aim, Handle } from "./Handle";
import { type Handles, PlanePainter } from "./plane";
import type { StageProps } from "./Stages";
import { StrainKey } from "./StrainKey";

/** Up to this many bodies, each can be reached by Tab; of more, one at a time. */
const ALL_BY_TAB = 12;
/** Smaller bobs carry no number. */
const ROOM_FOR_NUMBER = 7;

export function PlaneStage({ view: laboratory, picture: which }: StageProps) {
  const studio = useStudio();
  const root = useRef<HTMLDivElement>(null);
  const view = useRef<View>({ width: 1, height: 1, scale: 1 });
  const aim = useRef<Aim>({
    toPixels: ([x, y]) => toPixels(view.current, x, y),
    toPlace: (x, y) => [...toMetres(view.current, x, y), 0],
  });
  const handles = useRef<Handles>([]);
  const [axes, setAxes] = useState<View>(view.current);
  const [trouble, setTrouble] = useState("");
  const [taken, setTaken] = useState(0);

  useEffect(() => {
    const arranged = (now: View): void => {
      view.current = now;
      setAxes(now);
    };
    try {
      const painter = new PlanePainter(studio, root.current!, which, handles.current, arranged);
      return () => painter.stop();
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error));
      return;
    }
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
            aim={aim}
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

/** "bob 3" is 3; other bodies are counted. */
function numberOf(label: string, index: number): string {
  return /\d+$/.exec(label)?.[0] ?? String(index + 1);
}
