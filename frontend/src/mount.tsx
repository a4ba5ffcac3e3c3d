// The way in, for a page of its own, a notebook or a file that replays a run.

import { render } from "preact";
import type { Source } from "./source";
import "./styles";
import { type Options, Studio, StudioContext } from "./studio";
import { Shell } from "./ui/Shell";

export interface MountOptions extends Options {
  /** Where keys are listened for; the element itself unless it is said. */
  readonly keys?: Document | HTMLElement;
}

/** Show what a source sends in an element, which gets the class `holonomy`. The function returned takes it away again. */
export function mount(element: HTMLElement, source: Source, { keys = element, ...options }: MountOptions = {}): () => void {
  const studio = new Studio(source, options);
  element.classList.add("holonomy");
  render(
    <StudioContext.Provider value={studio}>
      <Shell keys={keys} />
    </StudioContext.Provider>,
    element,
  );
  studio.open();
  return () => {
    studio.close();
    render(null, element);
    element.classList.remove("holonomy");
  };
}
