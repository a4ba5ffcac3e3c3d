// A slow and uneven machine, made on purpose, to find tests that depend on luck.
//
//     HOLONOMY_JITTER=200 npm run browser
//
// Messages between page and studio, and the page's pictures, are then held up by up to so many milliseconds, each by
// another time, but never in another order: everything that is seen could happen on a busy machine.

/** The longest that something is held up, in milliseconds; nothing is where it is zero. */
export const JITTER = Number(process.env.HOLONOMY_JITTER ?? 0);

/** Runs in the page before its own scripts, and before those that watch its socket. */
export function holdUp(longest) {
  /** Does one thing after another, each as late as chance wants. */
  const line = () => {
    let last = Promise.resolve();
    return (act) => {
      const wait = Math.random() < 0.5 ? 0 : Math.random() * longest;
      last = last.then(() => (wait === 0 ? undefined : new Promise((resolve) => setTimeout(resolve, wait)))).then(act);
    };
  };

  const Plain = WebSocket;
  globalThis.WebSocket = class extends Plain {
    #out = line();
    constructor(...rest) {
      super(...rest);
      const come = line();
      const late = new WeakSet();
      this.addEventListener("message", (event) => {
        if (late.has(event)) return;
        event.stopImmediatePropagation();
        const again = new MessageEvent("message", { data: event.data });
        late.add(again);
        come(() => this.readyState === Plain.OPEN && this.dispatchEvent(again));
      });
    }
    send(data) {
      this.#out(() => this.readyState === Plain.OPEN && super.send(data));
    }
  };

  const ask = requestAnimationFrame.bind(globalThis);
  let [waiting, drawing] = [new Map(), new Map()];
  let [number, asked, until] = [0, false, 0];
  const picture = (now) => {
    asked = now < until;
    if (asked) {
      ask(picture);
      return;
    }
    if (Math.random() < 0.15) until = now + Math.random() * longest;
    [waiting, drawing] = [new Map(), waiting];
    for (const [key, draw] of drawing) {
      if (!drawing.delete(key)) continue; // one drawn before has taken it back
      try {
        draw(now);
      } catch (error) {
        reportError(error);
      }
    }
  };
  globalThis.requestAnimationFrame = (draw) => {
    waiting.set(++number, draw);
    if (!asked) ask(picture);
    asked = true;
    return number;
  };
  globalThis.cancelAnimationFrame = (key) => {
    waiting.delete(key);
    drawing.delete(key);
  };
}
