// Late answers: each kind is asked for, the system is changed while it is under way, and what the page shows is of the system
// that it shows. In the lab of these tests, `tests/studio/labs/late_lab.py`, answers say what they are of and take long where
// they are told to.

import assert from "node:assert/strict";
import { describe } from "node:test";
import { withLab } from "./harness.mjs";
import { box, button, closed, noticeShown, opened, setNumber, settled, until } from "./studio.mjs";

const withLate = (name, test) => withLab("late", name, test);

const shownEquations = (page) => page.locator("dialog .equation").allInnerTexts();
const of = (page, stiffness) =>
  until(
    page,
    async () => (await shownEquations(page)).some((text) => text.includes(`stiffness ${stiffness}`)),
    async () => `equations of stiffness ${stiffness}, but there are ${await shownEquations(page)}`,
  );

/** Everything that a page has shown in a place, from now on. */
const watch = (page, selector) =>
  page.evaluate((where) => {
    globalThis.seen = [];
    const look = () => {
      for (const { innerText } of document.querySelectorAll(where)) globalThis.seen.push(innerText);
    };
    new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true });
    look();
  }, selector);

const seen = (page) => page.evaluate(() => globalThis.seen);

/** Close the page's connection, and wait until there is another one. */
async function cutLine(page) {
  await page.evaluate(() => {
    globalThis.cut = globalThis.probe.socket;
    globalThis.cut.close();
  });
  await page.waitForFunction(() => globalThis.probe.socket !== globalThis.cut && globalThis.probe.socket.readyState === 1);
  await settled(page);
}

/** Ask for equations that take long, and leave their dialog. */
async function askAndLeave(page) {
  await opened(page, "Equations");
  await page.getByText("Deriving them").waitFor();
  await closed(page);
}

describe("equations that are under way", () => {
  withLate("are not shown of another preset, two quick changes, undo, a reset or another lab", async (page) => {
    await setNumber(page, "stiffness", 900); // its equations take longer than any test
    await askAndLeave(page);
    await button(page, "Stiff spring");
    await watch(page, "dialog .equation");
    await opened(page, "Equations");
    await of(page, 9);
    await closed(page);
    await setNumber(page, "stiffness", 901);
    await askAndLeave(page);
    await setNumber(page, "stiffness", 902);
    await setNumber(page, "stiffness", 3);
    await opened(page, "Equations");
    await of(page, 3);
    await closed(page);
    await setNumber(page, "stiffness", 903);
    await askAndLeave(page);
    await button(page, "Undo");
    await opened(page, "Equations");
    await of(page, 3);
    await closed(page);
    await setNumber(page, "stiffness", 904);
    await askAndLeave(page);
    await page.evaluate(() => (location.hash = "#/toy"));
    await page.locator('[data-lab="toy"][data-state]').waitFor();
    await page.evaluate(() => (location.hash = "#/late"));
    await page.locator('[data-lab="late"][data-state]').waitFor();
    await settled(page);
    await button(page, "Restore defaults");
    await opened(page, "Equations");
    await of(page, 4);
    assert.deepEqual([...new Set((await seen(page)).map((text) => /stiffness (\d+)/.exec(text)?.[1]))], ["9", "3", "4"]);
  });

  withLate("come to a page whose line was cut meanwhile, if they still are of it", async (page) => {
    await opened(page, "Equations");
    await of(page, 4);
    await cutLine(page);
    await of(page, 4);
    await closed(page);
    await setNumber(page, "stiffness", 900);
    await opened(page, "Equations");
    await page.getByText("Deriving them").waitFor();
    await cutLine(page);
    await page.getByText("Deriving them").waitFor();
    assert.deepEqual(await shownEquations(page), []);
  });
});

describe("what a button computes", () => {
  withLate("is dropped where its settings are changed, and done where they are not", async (page) => {
    await setNumber(page, "mass", 2);
    await button(page, "Heavier");
    await noticeShown(page, /takes some seconds/);
    await setNumber(page, "mass", 1);
    await noticeShown(page, /search was dropped/);
    await button(page, "Heavier");
    await page.waitForFunction(() => globalThis.probe.controls.parameters.mass === 1.5);
    assert.equal(await box(page, "mass").inputValue(), "1.5");
  });
});

describe("colours behind the motion", () => {
  withLate("are those of the numbers beside them", async (page) => {
    const field = page.locator("[data-field]");
    const wrong = page.evaluate(
      () =>
        new Promise((resolve) => {
          const look = () => {
            const shown = document.querySelector("[data-field]")?.dataset.field;
            const { stiffness } = globalThis.probe.controls.parameters;
            if (stiffness === 7) resolve(null);
            else if (shown && !shown.endsWith(` ${stiffness}`)) resolve(`${shown} beside ${stiffness}`);
            requestAnimationFrame(look);
          };
          look();
        }),
    );
    for (const value of [5, 6, 7]) {
      await setNumber(page, "stiffness", value);
      await until(page, async () => (await field.getAttribute("data-field"))?.endsWith(` ${value}`), `a field of ${value}`);
    }
    assert.equal(await wrong, null);
  });
});

describe("a file of a motion that is left", () => {
  withLate("is not saved, which is said", async (page) => {
    await setNumber(page, "mass", 4.5); // rows of this mass come slowly
    await page.evaluate(() => globalThis.probe.socket.send(JSON.stringify({ type: "step", frames: 600, repeat: false })));
    await settled(page);
    let files = 0;
    page.on("download", () => files++);
    await page.getByText("Export", { exact: true }).click();
    await page.locator(".menu").getByText("CSV").click();
    await setNumber(page, "mass", 1);
    await noticeShown(page, /file was dropped/);
    await button(page, "Reset"); // a file has the whole motion, and so those rows
    await settled(page);
    const saved = page.waitForEvent("download");
    await page.getByText("Export", { exact: true }).click();
    await page.locator(".menu").getByText("CSV").click();
    await saved;
    assert.equal(files, 1);
  });
});

describe("a link", () => {
  withLate("is of the state under its dialog", async (page) => {
    await page.evaluate(() => {
      const { socket } = globalThis.probe;
      socket.send(JSON.stringify({ type: "share" })); // as the page does by itself; answered just before the change
      socket.send(JSON.stringify({ type: "set-parameter", name: "stiffness", value: 2, settled: true }));
    });
    await page.waitForFunction(() => globalThis.probe.controls.parameters.stiffness === 2);
    await opened(page, "Share");
    await page.waitForFunction(() => {
      const kept = sessionStorage.getItem("holonomy.work.late"); // the document of the last link
      const linked = document.querySelector(".share input").value.includes("?s=");
      return linked && JSON.parse(JSON.parse(kept).document).parameters.stiffness === globalThis.probe.controls.parameters.stiffness;
    });
    assert.equal(await page.evaluate(() => globalThis.probe.controls.parameters.stiffness), 2);
  });
});
