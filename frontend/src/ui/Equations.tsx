// The equations of motion, set by KaTeX, which is fetched from our own server when it is first wanted.

import { useEffect, useRef, useState } from "preact/hooks";
import { useStudio } from "../studio";
import { t, translated } from "../words";
import { Dialog } from "./Dialog";

type Katex = typeof import("../formula").default;

export function EquationsDialog({ close }: { close: () => void }) {
  return (
    <Dialog title={t("Equations of motion")} wide close={close}>
      <EquationList close={close} />
    </Dialog>
  );
}

/** The same beside the pictures, for labs whose formulas are the point; it can be folded away. */
export function FormulaPanel() {
  const studio = useStudio();
  if (!studio.lab.value?.formulas || !studio.can("ask-equations")) return null;
  return (
    <details class="formulas" open>
      <summary>{t("Formulas")}</summary>
      <EquationList />
    </details>
  );
}

/** `close` is called when one of the systems that were found is taken up. */
function EquationList({ close }: { close?: () => void }) {
  const studio = useStudio();
  const known = studio.equations.value;
  const current = studio.controls.value?.current.equations;
  const wanted = !known && studio.moves && studio.link.value.state === "open";
  useEffect(() => {
    if (wanted) studio.send({ type: "ask-equations" });
  }, [wanted, current]);
  const resume = (document: string): void => {
    studio.send({ type: "restore", document });
    close?.();
  };
  return (
    <>
      {!known && (
        <p role="status">
          {studio.moves || !studio.ready
            ? t("Deriving them from the system that is simulated.")
            : t("There is no motion of these settings: correct what is marked, or undo.")}
        </p>
      )}
      {known?.message && <p>{translated(known.message)}</p>}
      {known?.items.map((item) => (
        <section key={item.title} class="equation">
          {known.items.length > 1 && <h3>{t(item.title)}</h3>}
          {item.latex && <Formula latex={item.latex} />}
          {item.text && <p>{item.text}</p>}
          {item.state && (
            <button type="button" onClick={() => resume(item.state)}>
              {t("Continue with this system")}
            </button>
          )}
        </section>
      ))}
    </>
  );
}

function Formula({ latex }: { latex: string }) {
  const place = useRef<HTMLDivElement>(null);
  const [katex, setKatex] = useState<Katex | null>(null);
  useEffect(() => void import("../formula").then((module) => setKatex(() => module.default)), []);
  useEffect(() => {
    if (katex && place.current) katex(latex, place.current);
  }, [katex, latex]);
  return <div class="formula" ref={place} tabIndex={0} role="group" aria-label={t("Formula")} data-latex={latex} />;
}
