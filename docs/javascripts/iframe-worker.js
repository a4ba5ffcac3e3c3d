// Browsers start no workers for a page that was opened from disk. The search of the site runs in one, so there its
// script runs in a hidden frame instead, with the same messages.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.inside = new Promise((started) => {
        frame.addEventListener("load", () => {
          const inner = frame.contentWindow;
          inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
          const script = inner.document.createElement("script");
          script.src = address;
          script.addEventListener("load", () => started(inner));
          inner.document.body.append(script);
        });
      });
      frame.srcdoc = "<!doctype html><title>search</title><body></body>";
      document.body.append(frame);
    }

    async postMessage(data) {
      const inner = await this.inside;
      inner.dispatchEvent(new inner.MessageEvent("message", { data }));
    }
  };
}
