// A number: a slider to feel with and a box that keeps what was typed.

import { useEffect, useId, useState } from "preact/hooks";
import { shortNumber } from "../format";
import { parseNumber } from "../number";
import { fromSlider, type Scale, sliderSteps, toSlider } from "../slider";
import { t, translated } from "../words";
import { MathSymbol } from "./MathSymbol";

interface Props {
  readonly name: string;
  readonly label: string;
  readonly symbol?: string;
  readonly unit: string;
  /** What the box is called aloud; its label and unit unless it is said. */
  readonly spoken?: string;
  readonly scale: Scale;
  /** What the box accepts, where that is more than the slider reaches. */
  readonly most?: number;
  readonly least?: number;
  readonly value: number;
  readonly disabled: boolean;
  readonly set: (value: number, settled: boolean) => void;
}

/** What stands in the box, the number that it was taken for, where it was, and what is wrong with it. */
interface Typed {
  readonly text: string;
  readonly value: number | null;
  readonly error: string;
}

export function NumberControl(props: Props) {
  const { name, symbol, unit, scale, value, disabled, set } = props;
  const label = translated(props.label);
  const id = useId();
  const [typed, setTyped] = useState<Typed | null>(null);
  useEffect(() => {
    // What was typed stays until the number becomes another one, by the slider or by undo.
    if (typed && typed.value !== value) setTyped(null);
  }, [value]);
  const [least, most] = [props.least ?? scale.low, props.most ?? scale.high];

  const take = (text: string): void => {
    const next = parseNumber(text);
    const error = problem(label, next, least, most, scale.integer);
    setTyped({ text, value: error ? null : next, error });
    if (!error && next !== value) set(next!, true);
  };
  const nudge = (steps: number): void => {
    const next = scale.logarithmic ? value * 1.1 ** steps : value + steps * (scale.integer ? 1 : scale.step);
    take(String(Number(Math.min(most, Math.max(least, next)).toPrecision(12))));
  };
  return (
    <div class="number" data-parameter={name}>
      <label for={id}>
        {label} {symbol && <MathSymbol of={symbol} />}
      </label>
      <span class="value">
        <input
          class="box"
          type="text"
          inputMode="decimal"
          autocomplete="off"
          value={typed?.text ?? String(value)}
          disabled={disabled}
          aria-label={props.spoken ?? (unit ? t("{} in {}", label, unit) : label)}
          aria-invalid={typed?.error ? "true" : undefined}
          aria-describedby={typed?.error ? `${id}-error` : undefined}
          onInput={(event) => setTyped({ text: event.currentTarget.value, value: null, error: "" })}
          onChange={(event) => take(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") setTyped(null);
            else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
              event.preventDefault();
              nudge(event.key === "ArrowUp" ? 1 : -1);
            }
          }}
        />
        <span class="unit">{unit}</span>
      </span>
      <input
        id={id}
        type="range"
        min={0}
        max={sliderSteps(scale)}
        step={1}
        value={toSlider(scale, value)}
        disabled={disabled}
        aria-valuetext={unit ? `${value} ${unit}` : String(value)}
        onInput={(event) => set(fromSlider(scale, event.currentTarget.valueAsNumber), false)}
        onChange={(event) => set(fromSlider(scale, event.currentTarget.valueAsNumber), true)}
      />
      {typed?.error && (
        <p class="error" id={`${id}-error`} role="alert">
          {typed.error}
        </p>
      )}
    </div>
  );
}

/** Why a number cannot be taken, in a sentence; empty where it can. */
function problem(label: string, value: number | null, least: number, most: number, whole: boolean): string {
  if (value === null) return t("Write a number such as 2.5, 9.81/6 or 1e6.");
  if (whole && value !== Math.round(value)) return t("{} must be a whole number.", label);
  if (value < least || value > most) return t("{} must be between {} and {}.", label, shortNumber(least), shortNumber(most));
  return "";
}
