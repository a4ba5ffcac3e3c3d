// A plot as a file: an image, a drawing, or the numbers in it.

import { palette } from "../../colours";
import { saveBlob } from "../../picture/compose";
import type { Pen } from "../../picture/pen";
import { SvgPen } from "../../picture/svg";
import { axisTitle, type PlotSpec } from "../../plot/axis";
import type { Chart } from "../../plot/chart";
import { frameOf, type Look, paint } from "../../plot/paint";
import { plotTable } from "../../plot/table";
import type { Studio } from "../../studio";

/** Size of a file's plot in pixels, those of a column of print at twice the resolution of a screen. */
const [WIDTH, HEIGHT, SIDE] = [900, 560, 640];
const RATIO = 2;
const NUMBERS = 15;

export async function savePlot(kind: "png" | "svg" | "csv", chart: Chart, studio: Studio, spec: PlotSpec): Promise<void> {
  const view = studio.lab.value!;
  const name = `${view.name}-plot.${kind}`;
  if (kind === "csv") {
    saveBlob(new Blob([plotTable(studio.history, chart.plotted())], { type: "text/csv" }), name);
    return;
  }
  const [width, height] = chart.square ? [SIDE, SIDE] : [WIDTH, HEIGHT];
  const look: Look = {
    palette: palette.value,
    size: NUMBERS,
    names: { x: axisTitle(view, spec.x), y: axisTitle(view, spec.y) },
  };
  const draw = (pen: Pen): void => {
    pen.fillStyle = palette.value.paper;
    pen.fillRect(0, 0, width, height);
    paint(pen, studio.history, chart.plotted(), frameOf(width, height, chart.square, look), look);
  };
  if (kind === "svg") {
    const pen = new SvgPen(width, height);
    draw(pen);
    saveBlob(new Blob([pen.toString()], { type: "image/svg+xml" }), name);
    return;
  }
  const canvas = Object.assign(document.createElement("canvas"), { width: RATIO * width, height: RATIO * height });
  const pen = canvas.getContext("2d")!;
  pen.scale(RATIO, RATIO);
  draw(pen);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (!blob) throw new Error("The browser could not make an image of the plot.");
  saveBlob(blob, name);
}
