// A file that replays a run: the recording stands in the page itself, so nothing is fetched.

import { mount } from "./mount";
import { type Head, Recording } from "./recording";

/** The element that holds a recording as JSON, and the one where it is shown. */
const DATA = "script[data-holonomy-recording]";
const PLACE = "[data-holonomy-replay]";

/** Show the recording that stands in the page, where there is one. */
export function replayPage(page: Document = document): void {
  const [data, place] = [page.querySelector(DATA), page.querySelector<HTMLElement>(PLACE)];
  if (!data || !place) return;
  const { numbers, ...head } = JSON.parse(data.textContent ?? "") as Head & { numbers: string };
  mount(place, new Recording(head, fromBase64(numbers)), { keys: page });
}

export function fromBase64(text: string): ArrayBuffer {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i); // thrice as fast as Uint8Array.from
  return bytes.buffer;
}
