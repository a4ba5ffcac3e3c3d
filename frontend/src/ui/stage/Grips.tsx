// The handles of all bodies of one picture that can be held.

import type { RefObject } from "preact";
import { useState } from "preact/hooks";
import { bodyColour, inkOn, palette } from "../../colours";
import { useStudio } from "../../studio";
import type { LabView } from "../../wire";
import { type Aim, Handle } from "./Handle";

export type Handles = (HTMLButtonElement | null)[];

/** Up to this many bodies, each can be reached by Tab; of more, one at a time. */
const ALL_BY_TAB = 12;
/** Smaller bobs carry no number. */
const ROOM_FOR_NUMBER = 7;

interface Props {
  readonly lab: LabView;
  readonly picture: number;
  /** Pixels per metre. */
  readonly scale: number;
  readonly aim: RefObject<Aim>;
  readonly handles: Handles;
}

export function Grips({ lab, picture, scale, aim, handles }: Props) {
  const studio = useStudio();
  const [taken, setTaken] = useState(0);
  const settings = studio.controls.value;
  const own = lab.bodies.flatMap((body, index) => (body.picture === picture && body.grasp && !body.ghost ? [{ body, index }] : []));
  const take = (step: number, index: number): void => {
    const at = own.findIndex((entry) => entry.index === index);
    const next = own[(at + step + own.length) % own.length];
    if (!next) return;
    setTaken(next.index);
    handles[next.index]?.focus();
  };
  const isTaken = (index: number): boolean => index === taken || (index === own[0]?.index && !own.some((o) => o.index === taken));
  return (
    <>
      {own.map(({ body, index }) => {
        const radius = (settings?.radii[index] ?? 0) * (settings?.extents[picture] ?? 1) * scale;
        return (
          <Handle
            key={body.label}
            index={index}
            body={body}
            text={radius >= ROOM_FOR_NUMBER ? numberOf(body.label, index) : ""}
            ink={inkOn(bodyColour(palette.value, body.colour))}
            size={1.3 * radius}
            aim={aim}
            disabled={!studio.can("drag-begin")}
            reachable={own.length <= ALL_BY_TAB || isTaken(index)}
            take={(step) => take(step, index)}
            keep={(button) => (handles[index] = button)}
          />
        );
      })}
    </>
  );
}

/** "bob 3" is 3, and so is "vertex 3 from the centre"; bodies without a number are counted. */
function numberOf(label: string, index: number): string {
  return /\d+/.exec(label)?.[0] ?? String(index + 1);
}
