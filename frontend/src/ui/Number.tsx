// A number: a slider to feel with and a box that keeps the exact value.

import { useId } from "preact/hooks";
import { fromSlider, type Scale, sliderSteps, toSlider } from "../slider";
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
  readonly value: number;
  readonly disabled: boolean;
  readonly set: (value: number, settled: boolean) => void;
}

export function NumberControl({
  name,
  label,
  symbol,
  unit,
  spoken = unit ? `${label} in ${unit}` : label,
  scale,
  most,
  value,
  disabled,
  set,
}: Props) {
  const id = useId();
  return (
    <div class="number" data-parameter={name}>
      <label for={id}>
        {label} {symbol && <MathSymbol of={symbol} />}
      </label>
      <span class="value">
        <input
          type="number"
          min={scale.low}
          max={most ?? scale.high}
          step={scale.integer ? 1 : "any"}
          value={value}
          disabled={disabled}
          aria-label={spoken}
          onChange={(event) => {
            const box = event.currentTarget;
            if (box.value.trim() !== "" && Number.isFinite(box.valueAsNumber)) set(box.valueAsNumber, true);
            box.value = String(value); // until the new one has been accepted
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
    </div>
  );
}
