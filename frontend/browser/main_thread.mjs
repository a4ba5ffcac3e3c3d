// From a trace of the browser to the time of the page's main thread, by what it was spent on.

/** What an event's own time counts as; an event that is not here counts as the one around it. */
const KINDS = {
  FunctionCall: "script",
  "v8.callFunction": "script",
  RunMicrotasks: "script",
  MinorGC: "script",
  MajorGC: "script",
  UpdateLayoutTree: "layout",
  Layout: "layout",
  PrePaint: "paint",
  Paint: "paint",
  Layerize: "paint",
  Commit: "paint",
  UpdateLayer: "paint",
  "LocalFrameView::RunStyleAndLayoutLifecyclePhases": "layout",
  "WebFrameWidgetImpl::UpdateLifecycle": "paint",
  "LayerTreeHost::DoUpdateLayers": "paint",
  "CanvasResourceProviderSharedImage::ProduceCanvasResource": "pixels",
  "CommandBufferProxyImpl::WaitForGetOffset": "wait",
};

/** Categories that a trace needs. */
export const CATEGORIES = ["toplevel", "devtools.timeline", "blink", "cc", "gpu", "v8", "__metadata"];

/** Microseconds of processor time of each event less those of the events in it, and of the clock likewise. */
function* ownTimes(events) {
  const open = [];
  for (const event of [...events].sort((a, b) => a.ts - b.ts || b.dur - a.dur)) {
    while (open.length > 0 && open.at(-1).end <= event.ts) yield open.pop();
    const [around, busy] = [open.at(-1), event.tdur ?? 0];
    if (around) {
      around.busy -= busy;
      around.clock -= event.dur;
    }
    open.push({ end: event.ts + event.dur, busy, clock: event.dur, kind: KINDS[event.name] ?? around?.kind ?? "other" });
  }
  yield* open.reverse();
}

/**
 * Milliseconds of the main thread of the page in a trace: processor time for one frame in all and by kind, how long a frame
 * waited for the renderer of WebGL by the clock, and of each task both times.
 */
export function mainThread(trace) {
  const { traceEvents: all } = JSON.parse(trace);
  const threads = all.filter((event) => event.name === "thread_name" && event.args.name === "CrRendererMain");
  const count = ({ pid, tid }) => all.reduce((sum, event) => sum + Number(event.pid === pid && event.tid === tid), 0);
  const [{ pid, tid }] = threads.sort((a, b) => count(b) - count(a));
  const events = all.filter((event) => event.pid === pid && event.tid === tid && event.ph === "X");
  const frames = events.filter((event) => event.name === "FireAnimationFrame").length;
  const tasks = events.filter((event) => event.name === "ThreadControllerImpl::RunTask");
  const busy = {};
  let waited = 0;
  for (const own of ownTimes(events)) {
    busy[own.kind] = (busy[own.kind] ?? 0) + own.busy / 1000 / frames;
    if (own.kind === "wait") waited += (own.clock - own.busy) / 1000 / frames;
  }
  return { frames, busy, waited, tasks: tasks.map(({ dur, tdur = 0 }) => ({ clock: dur / 1000, busy: tdur / 1000 })) };
}
