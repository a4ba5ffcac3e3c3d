// How the motion is computed, and how far it can be trusted.

import { NUMERICS } from "../catalogue";
import { fixed, scientific, withUnit } from "../format";
import { useStudio } from "../studio";
import { type Verdict, verdictOn } from "../verdict";
import type { LabView } from "../wire";
import { t, translated } from "../words";
import { Section } from "./Section";
import { Choice, Parameter } from "./Settings";

export function Numerics({ view }: { view: LabView }) {
  const studio = useStudio();
  const verdict = verdictOn(studio.readout.value, view, studio.controls.value?.certificate);
  const settable = studio.can("set-parameter");
  return (
    <section class="trust" aria-label={t(NUMERICS)}>
      <details class="numerics">
        <summary>
          <span>{t(NUMERICS)}</span>
          <span class={verdict.word === "good" ? "" : "warning"}>{t(verdict.word)}</span>
        </summary>
        {settable && view.choices.filter((choice) => choice.group === NUMERICS).map((choice) => <Choice key={choice.name} of={choice} />)}
        {settable &&
          view.parameters
            .filter((parameter) => parameter.group === NUMERICS)
            .map((parameter) => <Parameter key={parameter.name} of={parameter} />)}
        <Certificate view={view} verdict={verdict} />
      </details>
      {verdict.reason && (
        <p class="note warning" data-readout="reason">
          {t(verdict.reason)}
        </p>
      )}
      {studio.behind.value && (
        <p class="note warning" role="alert">
          {t("Physics cannot keep up with the clock: the motion is slower than asked, and none of it is left out.")}
        </p>
      )}
    </section>
  );
}

function Certificate({ view, verdict }: { view: LabView; verdict: Verdict }) {
  const studio = useStudio();
  const frame = studio.readout.value;
  const certificate = studio.controls.value?.certificate;
  const slow = studio.behind.value;
  return (
    <Section name="certificate" title={t("Certificate")}>
      <dl>
        <dt>{t("Verdict")}</dt>
        <dd class={verdict.word === "good" ? "" : "warning"} data-readout="verdict">
          {t(verdict.word)}
        </dd>
        <dt>{t("Method")}</dt>
        <dd data-readout="method">{certificate?.method ?? view.method}</dd>
        {certificate && certificate.traits.length > 0 && (
          <>
            <dt>{t("Traits")}</dt>
            <dd>{certificate.traits.map((trait) => t(trait)).join(", ")}</dd>
          </>
        )}
        <dt>{t("Step")}</dt>
        <dd>{withUnit(fixed(1000 * view.dt, 3), "ms")}</dd>
        <dt>{t("Engine")}</dt>
        <dd data-readout="engine">{certificate?.engine ?? "–"}</dd>
        <dt>{t("Steps taken")}</dt>
        <dd data-readout="steps">{frame ? frame.steps.toLocaleString("en").replaceAll(",", "\u202f") : "–"}</dd>
        <dt>{t("Energy drift")}</dt>
        <dd data-readout="drift">{frame ? <Scientific of={frame.drift} unit="J" /> : "–"}</dd>
        <dt>{t("Clock")}</dt>
        <dd class={slow ? "warning" : ""} data-readout="clock">
          {frame ? clock(frame.rate, slow, studio.controls.value?.playing ?? false) : "–"}
        </dd>
      </dl>
      {certificate?.note && <p class="note">{translated(certificate.note)}</p>}
    </Section>
  );
}

function clock(rate: number, slow: boolean, playing: boolean): string {
  if (!playing) return t("held");
  return slow ? t("behind: runs at {}×", fixed(rate, 2)) : t("in time");
}

/** In powers of ten: 1.2·10⁻¹³. */
function Scientific({ of: value, unit }: { of: number; unit: string }) {
  if (!Number.isFinite(value)) return <>{value > 0 ? "∞" : t("not a number")}</>;
  const { mantissa, exponent } = scientific(value);
  return (
    <>
      {exponent === null ? (
        mantissa
      ) : (
        <>
          {mantissa}·10<sup>{exponent}</sup>
        </>
      )}
      {withUnit("", unit)}
    </>
  );
}
