// A picture of a plane, with a handle on every body.

import { useEffect, useRef, useState } from "preact/hooks";
import { type Lens, WHOLE } from "../../picture/lens";
import { NO_VIEW, toMetres, toPixels, type View } from "../../picture/view";
import { useStudio } from "../../studio";
import { t } from "../../words";
import { Axes } from "./Axes";
import { Grips, type Handles } from "./Grips";
import type { Aim } from "./Handle";
import { PlanePainter } from "./plane";
import type { StageProps } from "./Stages";
import { StrainKey } from "./StrainKey";
import { useLens } from "./useLens";
import { ViewTools } from "./ViewTools";

export function PlaneStage({ view: laboratory, picture: which }: StageProps) {
  const studio = useStudio();
  const root = useRef<HTMLDivElement>(null);
  const view = useRef<View>(NO_VIEW);
  const aim = useRef<Aim>({
    toPixels: ([x, y]) => toPixels(view.current, x, y),
    toPlace: (x, y) => [...toMetres(view.current, x, y), 0],
  });
  const handles = useRef<Handles>([]);
  const lens = useRef<Lens>(WHOLE);
  const painter = useRef<PlanePainter | null>(null);
  const [following, setFollowing] = useState(false);
  const [axes, setAxes] = useState<View>(view.current);
  const [trouble, setTrouble] = useState("");

  useEffect(() => {
    const arranged = (now: View): void => {
      view.current = now;
      setAxes(now);
    };
    try {
      painter.current = new PlanePainter(studio, root.current!, which, lens, handles.current, arranged);
      return () => painter.current?.stop();
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error));
      return;
    }
  }, []);

  const follow = (on: boolean): void => {
    setFollowing(on);
    painter.current?.follow(on);
  };
  const tools = useLens({ root, lens, single: "move", changed: () => painter.current?.look(), fitted: () => follow(false) });
  const own = laboratory.pictures[which];
  const title = t(own?.title || laboratory.title);
  return (
    <div class={tools.zoomed ? "stage zoomed" : "stage"} data-stage={which} ref={root} role="group" aria-label={t("Picture: {}", title)}>
      {laboratory.pictures.length > 1 && <p class="caption">{title}</p>}
      {(own?.boundary ?? "none") === "none" && <Axes view={axes} />}
      {laboratory.rods.some((rod) => rod.elastic) && which === 0 && <StrainKey />}
      {trouble && <p class="trouble">{trouble}</p>}
      <Grips lab={laboratory} picture={which} scale={axes.scale} aim={aim} handles={handles.current} />
      <ViewTools root={root} lens={tools} follow={{ on: following, set: follow }} />
    </div>
  );
}
