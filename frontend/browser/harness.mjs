// One studio and one browser for all tests of a process, and pages in them.

import { after, before, it } from "node:test";
import { launchChromium } from "./chromium.mjs";
import { openPage, startStudio } from "./studio.mjs";

const TIMEOUT = 180_000;

/** Filled before the first test. */
export const shared = { browser: null, studio: null };

before(async () => {
  [shared.studio, shared.browser] = await Promise.all([startStudio(), launchChromium()]);
});

after(async () => {
  await shared.browser?.close();
  await shared.studio?.stop();
});

/** A test with a page of its own, which must end without a word in the console. `options` are those of `openPage`. */
export function withPage(name, test, options) {
  it(name, { timeout: TIMEOUT }, async () => {
    const opened = await openPage(shared.browser, shared.studio.address, options);
    await test(opened.page);
    await opened.close();
  });
}
