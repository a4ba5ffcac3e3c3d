// Home and labs by the address of the page. A lab that is left keeps its state, here and in the studio.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { cardOf, catalogue } from "../catalogue";
import { fromLink, readFragment } from "../encode";
import { Socket } from "../socket";
import { Studio, StudioContext } from "../studio";
import { t } from "../words";
import { isNewLink, keptSession, Work } from "../work";
import { Home } from "./Home";
import { Shell } from "./Shell";

const address = signal(location.hash);
window.addEventListener("hashchange", () => (address.value = location.hash));

const studios = new Map<string, Studio>();

/** The studio of a lab: the same object each time it is opened, with its plots and its place in time. */
function studioOf(lab: string): Studio {
  const found = studios.get(lab);
  if (found) return found;
  const made = new Studio(new Socket(lab, keptSession(lab)), { work: new Work(lab) });
  studios.set(lab, made);
  return made;
}

export function App() {
  const { lab, state } = readFragment(address.value);
  const unknown = catalogue.value !== null && cardOf(lab) === null;
  useEffect(() => {
    if (lab !== "" && unknown) location.replace("#/");
  }, [lab, unknown]);
  useEffect(() => {
    const title = cardOf(lab)?.title;
    document.title = title ? `${t(title)} · Holonomy` : "Holonomy";
  });
  if (lab === "" || unknown) return <Home />;
  return <Laboratory key={lab} lab={lab} state={state} />;
}

function Laboratory({ lab, state }: { lab: string; state: string | null }) {
  const studio = studioOf(lab);
  useEffect(() => {
    studio.open();
    return () => studio.leave();
  }, []);
  useEffect(() => {
    // A link that cannot be read goes to the studio as it is, which then says what is wrong with it.
    if (state !== null && isNewLink(lab, state)) studio.restore(fromLink(state) ?? state);
  }, [state]);
  return (
    <StudioContext.Provider value={studio}>
      <Shell keys={document} />
    </StudioContext.Provider>
  );
}
