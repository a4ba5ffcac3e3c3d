// From a frame to what is painted of it in one picture of a plane.

import { bodyColour, type Palette } from "../colours";
import type { Controls, Frame, LabView } from "../wire";
import type { Past } from "./camera";
import type { Bob, Drawing, Rod, Trail } from "./picture";
import { labelsOf, marksOf } from "./shapes";
import { trailOf } from "./trail";

/** Beyond this many trails each is drawn with fewer pieces. */
const MANY_TRAILS = 6;

/** `pixel` is the width of one in metres. */
export function drawingOf(
  frame: Frame,
  view: LabView,
  settings: Controls,
  picture: number,
  palette: Palette,
  trails: readonly Trail[],
  pixel: number,
): Drawing {
  const extent = settings.extents[picture] ?? 1;
  const here = (point: number): boolean => pictureOf(view, point) === picture;
  const bobs: Bob[] = view.bodies.flatMap((body, i) =>
    body.picture === picture
      ? [
          {
            point: view.anchors + i,
            radius: (settings.radii[i] ?? 0) * extent,
            colour: bodyColour(palette, body.colour),
            ghost: body.ghost,
          },
        ]
      : [],
  );
  const rods: Rod[] = view.rods.flatMap((rod, i) =>
    here(rod.end) ? [{ ...rod, strain: rod.elastic ? (frame.strain[i] ?? 0) : null }] : [],
  );
  const anchors = picture === 0 ? Array.from({ length: view.anchors }, (_, i) => i) : [];
  return {
    points: frame.position,
    dimension: frame.dimension,
    anchors,
    bobs,
    rods,
    trails,
    marks: marksOf(frame, view, picture, palette, pixel),
    labels: labelsOf(frame, view, picture, palette),
  };
}

/** Anchors are in the first picture, a body where it says. */
function pictureOf(view: LabView, point: number): number {
  return view.bodies[point - view.anchors]?.picture ?? 0;
}

/** The paths of the traced bodies of one picture. Their columns follow those of the channels, in the order of the bodies. */
export function trailsOf(
  frame: Frame,
  view: LabView,
  history: Past,
  picture: number,
  palette: Palette,
  wanted: { seconds: number; all: boolean },
): Trail[] {
  const traced = view.bodies.filter((body) => body.trail);
  const last = (i: number): boolean => traced.slice(i + 1).every((body) => body.ghost !== traced[i]!.ghost || body.picture !== picture);
  return traced.flatMap((body, i) => {
    if (body.picture !== picture || !(wanted.all || last(i))) return [];
    const column = frame.channels + i * frame.dimension;
    const pieces = traced.length > MANY_TRAILS ? 2 : 4;
    const path = trailOf(history, [column, column + 1], frame.time, wanted.seconds, pieces);
    return [{ ...path, colour: bodyColour(palette, body.colour), ghost: body.ghost }];
  });
}
