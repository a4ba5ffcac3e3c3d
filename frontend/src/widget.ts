// The viewer in a notebook, as a widget of anywidget; the same file replays a run in a page that holds its recording.

import { mount } from "./mount";
import { type Head, Recording, type Supply } from "./recording";
import { replayPage } from "./replay";
import type { Command, Controls } from "./wire";

/** What anywidget hands over: the traits of the Python object, and messages both ways. */
interface Model {
  get(name: "head"): Head;
  get(name: "numbers"): DataView;
  get(name: "height"): number;
  get(name: "autoplay"): boolean;
  get(name: "commands"): readonly string[];
  on(event: "msg:custom", hear: (content: Answer, buffers: readonly DataView[]) => void): void;
  off(event: "msg:custom", hear: (content: Answer, buffers: readonly DataView[]) => void): void;
  send(content: Request): void;
}

type Request =
  | { readonly type: "more"; readonly epoch: number; readonly first: number; readonly rows: number }
  | { readonly type: "change"; readonly row: number; readonly command: Command };

/** `holonomy.show.notebook_widget` writes these. */
type Answer =
  | { readonly type: "rows"; readonly epoch: number; readonly first: number; readonly rows: number; readonly message: string }
  | { readonly type: "turn"; readonly epoch: number; readonly row: number; readonly controls: Partial<Controls> }
  | { readonly type: "refused"; readonly message: string; readonly command: string };

function bytes(view: DataView): ArrayBuffer {
  return view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength) as ArrayBuffer;
}

/** Show the model in an element. The function returned takes it away again. */
function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const place = document.createElement("div");
  place.style.height = `${model.get("height")}px`;
  place.style.overflow = "auto"; // a narrow notebook shows one part below the other
  place.dataset.lmSuppressShortcuts = "true"; // letters are the viewer's while it has the focus, not JupyterLab's
  place.addEventListener("keydown", keep);
  el.append(place);
  const commands = model.get("commands");
  const live = commands.length > 0;
  let epoch = 0;
  const supply: Supply = {
    can: (command) => commands.includes(command),
    ask: (first, rows) => model.send({ type: "more", epoch, first, rows }),
    change: (command, row) => model.send({ type: "change", row, command }),
  };
  const recording = new Recording(model.get("head"), bytes(model.get("numbers")), live ? supply : null);
  const hear = (answer: Answer, buffers: readonly DataView[]): void => {
    if (answer.type === "refused") recording.refuse(answer.message, answer.command);
    else if (answer.type === "turn") {
      epoch = answer.epoch;
      recording.turn(answer.row, bytes(buffers[0]!), answer.controls);
    } else if (answer.epoch === epoch && answer.first === recording.length) {
      if (answer.rows > 0) recording.append(answer.rows, bytes(buffers[0]!));
      if (answer.message) recording.end(answer.message);
    }
  };
  model.on("msg:custom", hear);
  const remove = mount(place, recording, { autoplay: model.get("autoplay") });
  return () => {
    model.off("msg:custom", hear);
    remove();
    place.remove();
  };
}

function keep(event: Event): void {
  event.stopPropagation();
}

export default { render };

replayPage();
