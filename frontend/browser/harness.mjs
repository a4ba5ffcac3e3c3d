// One studio and one browser for all tests of a process, and pages in them.

import { after, before, it } from "node:test";
import { launchChromium } from "./chromium.mjs";
import { openPage, reportFailure, startStudio, TEST_LIMIT } from "./studio.mjs";

/** Filled before the first test. */
export const shared = { browser: null, studio: null };
/** The studio that has the labs of `tests/studio/labs` too; started where a test wants one of them. */
let labs = null;

before(async () => {
  [shared.studio, shared.browser] = await Promise.all([startStudio(), launchChromium()]);
});

after(async () => {
  await shared.browser?.close();
  await shared.studio?.stop();
  await (await labs)?.stop();
});

/** A test with a time limit for a busy machine. */
export function slowTest(name, test) {
  it(name, { timeout: TEST_LIMIT }, async (context) => {
    try {
      await test(context);
    } catch (error) {
      reportFailure();
      throw error;
    }
  });
}

/**
 * A test with a page of its own, which must end without a word in the console. `options` are those of `openPage`, and
 * `lab`, the fragment of the address that selects a lab.
 */
export function withPage(name, test, { lab = "", ...options } = {}) {
  slowTest(name, () => onPage(`${shared.studio.address}${lab}`, test, options));
}

/** The same in one of the labs that were made for tests. */
export function withLab(lab, name, test, options) {
  slowTest(name, async () => {
    labs ??= startStudio("toy_lab", "gallery_lab", "late_lab");
    await onPage(`${(await labs).address}#/${lab}`, test, options);
  });
}

async function onPage(address, test, options) {
  const opened = await openPage(shared.browser, address, options);
  try {
    await test(opened.page);
  } catch (error) {
    await opened.abandon(); // an open page would go on drawing and slow down the other tests
    throw error;
  }
  await opened.close();
}
