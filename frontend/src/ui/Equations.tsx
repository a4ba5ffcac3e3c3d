// The equations of motion, set by KaTeX, which is fetched from our own server when it is first wanted.

import { useEffect, useRef, useState } from "preact/hooks";
import { useStudio } from "../studio";
import { Dialog } from "./Dialog";

type Katex = typeof import("../formula").default;

export function EquationsDialog({ close }: { close: () => void }) {
  const studio = useStudio();
  const known = studio.equations.value;
  const revision = studio.lab.value?.revision;
  useEffect(() => {
    if (studio.equations.value?.revision !== revision) studio.send({ type: "ask-equations" });
  }, [revision]);
  return (
    <Dialog title="Equations of motion" wide close={close}>
      {!known && <p role="status">Deriving them from the system that is simulated.</p>}
      {known?.message && <p>{known.message}</p>}
      {known?.items.map((item) => (
        <section key={item.title} class="equation">
          {known.items.length > 1 && <h3>{item.title}</h3>}
          <Formula latex={item.latex} />
        </section>
      ))}
    </Dialog>
  );
}

function Formula({ latex }: { latex: string }) {
  const place = useRef<HTMLDivElement>(null);
  const [katex, setKatex] = useState<Katex | null>(null);
  useEffect(() => void import("../formula").then((module) => setKatex(() => module.default)), []);
  useEffect(() => {
    if (katex && place.current) katex(latex, place.current);
  }, [katex, latex]);
  return <div class="formula" ref={place} tabIndex={0} role="group" aria-label="Formula" data-latex={latex} />;
}
