import { axisName, type PlotSpec } from "../../plot/axis";
import type { LabView } from "../../wire";
import { t, translated } from "../../words";

/** What a plot shows, in a sentence for those who do not see it. */
export function description(view: LabView, spec: PlotSpec): string {
  const name = (axis: string): string => translated(axisName(view, axis));
  const what = t("{} against {}", name(spec.y), name(spec.x));
  if (spec.section) return t("{}, where {} passes upwards through {}", what, name(spec.section.of), spec.section.at);
  return spec.seconds > 0 ? t("{}, the last {} seconds", what, spec.seconds) : t("{}, the whole run", what);
}
