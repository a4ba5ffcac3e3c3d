// A function of two coordinates as a heat map, what moves over it, and curves that are drawn on it.

import { useEffect, useRef, useState } from "preact/hooks";
import { fixed } from "../../format";
import { type FieldView, fieldTicks, toField, toScreen } from "../../picture/fieldview";
import { type Lens, WHOLE } from "../../picture/lens";
import { useStudio } from "../../studio";
import type { Field } from "../../wire";
import { t } from "../../words";
import { MathSymbol } from "../MathSymbol";
import { ColourKey } from "./ColourKey";
import { CurveEditor } from "./CurveEditor";
import { FieldPainter } from "./field";
import { Grips, type Handles } from "./Grips";
import type { Aim } from "./Handle";
import type { StageProps } from "./Stages";
import { useLens } from "./useLens";
import { ViewTools } from "./ViewTools";

export function FieldStage({ view: laboratory, picture: which }: StageProps) {
  const studio = useStudio();
  const root = useRef<HTMLDivElement>(null);
  const view = useRef<FieldView | null>(null);
  const lens = useRef<Lens>(WHOLE);
  const painter = useRef<FieldPainter | null>(null);
  const handles = useRef<Handles>([]);
  const [shown, setShown] = useState<FieldView | null>(null);
  const aim = useRef<Aim>({
    toPixels: ([x, y]) => (view.current ? toScreen(view.current, x, y) : [0, 0]),
    toPlace: (x, y) => (view.current ? [...toField(view.current, x, y), 0] : [0, 0, 0]),
  });

  useEffect(() => {
    painter.current = new FieldPainter(studio, root.current!, which, lens, handles.current, (now) => {
      view.current = now;
      setShown(now);
    });
    return () => painter.current?.stop();
  }, []);

  const middle = (): [number, number] => {
    const now = view.current;
    return now ? [now.left + now.right, now.top + now.bottom] : [1, 1];
  };
  const tools = useLens({ root, lens, single: "move", middle, changed: () => painter.current?.arrange() });
  const title = t(laboratory.pictures[which]?.title || laboratory.title);
  const field = studio.field.value?.picture === which ? studio.field.value : null;
  const curves = laboratory.texts.filter((text) => text.kind === "curve" && text.picture === which);
  return (
    <div class="stage field" data-stage={which} ref={root} role="group" aria-label={t("Picture: {}", title)}>
      {laboratory.pictures.length > 1 && curves.length === 0 && <p class="caption">{title}</p>}
      {shown && <FieldAxes view={shown} field={field} />}
      {field && <ColourKey of={field} />}
      {shown && studio.can("set-text") && curves.map((text) => <CurveEditor key={text.name} of={text} view={shown} stage={root} />)}
      <Grips lab={laboratory} picture={which} scale={1} aim={aim} handles={handles.current} />
      <ViewTools root={root} lens={tools} />
    </div>
  );
}

function FieldAxes({ view, field }: { view: FieldView; field: Field | null }) {
  const { left, right, top, bottom } = view;
  const [x, y] = [fieldTicks(view.x, right - left), fieldTicks(view.y, bottom - top)];
  return (
    <div class="axes" aria-hidden="true">
      {x.values.map((value) => (
        <span key={`x${value}`} class="tick free" style={{ left: `${toScreen(view, value, 0)[0]}px`, top: `${bottom + 12}px` }}>
          {fixed(value, x.decimals)}
        </span>
      ))}
      {y.values.map((value) => (
        <span key={`y${value}`} class="tick left" style={{ left: `${left - 6}px`, top: `${toScreen(view, 0, value)[1]}px` }}>
          {fixed(value, y.decimals)}
        </span>
      ))}
      {field && (
        <>
          <span class="axis free" style={{ left: `${(left + right) / 2}px`, top: `${bottom + 30}px` }}>
            <MathSymbol of={field.x_symbol} />
            {field.x_unit && ` / ${field.x_unit}`}
          </span>
          <span class="axis free" style={{ left: `${left}px`, top: `${top - 14}px` }}>
            <MathSymbol of={field.y_symbol} />
            {field.y_unit && ` / ${field.y_unit}`}
          </span>
        </>
      )}
    </div>
  );
}
