// The page that all labs share: plots, readouts, keys, shape, door.

import assert from "node:assert/strict";
import { describe } from "node:test";
import { shared, slowTest, withPage } from "./harness.mjs";
import {
  becomes,
  button,
  changed,
  newContext,
  noticeShown,
  openPage,
  pixels,
  playing,
  settled,
  startStudio,
  stateOf,
  stride,
  timeOf,
  timePast,
  unfoldNumerics,
  until,
  withoutWebgl,
} from "./studio.mjs";

/** Runs in a page: by how much a colour of a pixel differs at most between two images of one size, in base64. */
async function largestDifference(images) {
  const [first, second] = await Promise.all(
    images.map(async (text) => {
      const image = await createImageBitmap(new Blob([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))]));
      const pen = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height }).getContext("2d");
      pen.drawImage(image, 0, 0);
      return pen.getImageData(0, 0, image.width, image.height).data;
    }),
  );
  return first.reduce((most, part, i) => Math.max(most, Math.abs(part - second[i])), 0);
}

describe("plots", () => {
  withPage("draw a curve of each colour, and their axes can be chosen", async (page) => {
    await page.getByLabel("Seconds shown in plot 1").selectOption("5");
    await stride(page, 12);
    const vertical = page.getByLabel("Vertical axis of plot 1");
    const horizontal = page.getByLabel("Horizontal axis of plot 1");
    const colours = () =>
      page.evaluate(() => [...document.querySelector(".plot").querySelectorAll(".swatch")].map((s) => getComputedStyle(s).backgroundColor));
    await vertical.selectOption("all:Energy");
    await until(page, async () => (await colours()).length === 3, "three kinds of energy in the first plot");
    const drawn = (colour) => until(page, async () => (await pixels(page, ".plot canvas", colour)) > 25, `a curve in ${colour}`);
    for (const colour of await colours()) await drawn(colour);
    // One angle against the other: the curve of the first plot moves, and its name says so.
    // A plot with other axes is drawn on a new canvas: one that is just being replaced has no picture.
    const picture = () =>
      page
        .locator(".plot canvas")
        .first()
        .screenshot()
        .catch(() => null);
    let time = null;
    await until(page, async () => (time = await picture()) !== null, "a picture of the first plot");
    await vertical.selectOption("theta2");
    await horizontal.selectOption("omega1");
    await page.locator('.plot .canvas[aria-label^="Angle 2 against Angular velocity 1"]').first().waitFor();
    const another = async () => {
      const now = await picture();
      return now !== null && !time.equals(now);
    };
    await until(page, another, "another curve in the first plot");
    const body = await page.evaluate(() => [...document.querySelectorAll(".state .dot")].map((s) => getComputedStyle(s).backgroundColor));
    await drawn(body[1]); // in the colour of its body
  });

  withPage("can be added, closed and given another length of time", async (page) => {
    const count = await page.locator(".plot").count();
    const plots = (wanted) => until(page, async () => (await page.locator(".plot").count()) === wanted, `${wanted} plots`);
    await button(page, "Add a plot");
    await plots(count + 1);
    await page.getByLabel(`Seconds shown in plot ${count + 1}`).selectOption("5");
    await page.locator(`.plot:nth-of-type(${count + 1}) .canvas[aria-label*="the last 5 seconds"]`).waitFor();
    await button(page, `Close plot ${count + 1}`);
    await plots(count);
  });
});

describe("readouts", () => {
  withPage("show energies as bars by kind whose parts make up the total", async (page) => {
    await page.keyboard.press("Shift+ArrowRight");
    await timePast(page, 0.1);
    await settled(page);
    const part = async (name) => Number(await page.locator(`[data-bar="${name}"]`).getAttribute("data-part"));
    const [kinetic, potential, total] = [await part("kinetic"), await part("potential"), await part("total")];
    assert.ok(kinetic > 0);
    assert.ok(Math.abs(kinetic + potential - total) <= 0.2, `${kinetic} + ${potential} = ${total}`);
  });

  withPage("certify the motion", async (page) => {
    await page.keyboard.press("Shift+ArrowRight");
    await timePast(page, 0.1);
    await settled(page);
    await unfoldNumerics(page);
    const read = (name) => page.locator(`[data-readout="${name}"]`).innerText();
    assert.equal(await read("verdict"), "good");
    assert.match(await read("method"), /RK4|Gauss/);
    assert.notEqual(await read("engine"), "–");
    assert.match(await read("drift"), /10\s*−\d+|^0/, "the energy keeps its value to many digits");
    assert.ok(Number((await read("steps")).replace(/\D/g, "")) > 0);
    assert.equal(await read("clock"), "held");
  });

  withPage(
    "warn when physics cannot keep up with the clock",
    async (page) => {
      await page.getByText("Physics cannot keep up with the clock").waitFor();
      await unfoldNumerics(page);
      await page.waitForFunction(() => /^behind/.test(document.querySelector('[data-readout="clock"]').innerText));
      await button(page, "Pause");
      await page.getByText("Physics cannot keep up with the clock").waitFor({ state: "detached" });
    },
    {
      playing: true,
      init: () => {
        // Every frame says that it is late: bit 4 of its flags, the second number of its head.
        let kind = WebSocket.prototype;
        while (!Object.hasOwn(kind, "onmessage")) kind = Object.getPrototypeOf(kind);
        const own = Object.getOwnPropertyDescriptor(kind, "onmessage");
        Object.defineProperty(kind, "onmessage", {
          set(listener) {
            own.set.call(this, (event) => {
              if (typeof event.data !== "string")
                new DataView(event.data).setUint32(4, new DataView(event.data).getUint32(4, true) | 4, true);
              listener(event);
            });
          },
        });
      },
    },
  );
});

describe("the keyboard", () => {
  withPage("plays, steps, undoes, redoes, resets", async (page) => {
    const start = await stateOf(page);
    await page.keyboard.press("ArrowRight");
    const one = await changed(page, start);
    await page.keyboard.press("Shift+ArrowRight");
    const eleven = await changed(page, one);
    assert.equal(await timeOf(page), 11 / 60);
    await page.keyboard.press("ArrowLeft");
    await changed(page, eleven);
    await page.keyboard.press("Control+z");
    await becomes(page, eleven);
    await page.keyboard.press("Control+z");
    await becomes(page, one);
    await page.keyboard.press("Control+Shift+z");
    await becomes(page, eleven);
    await page.keyboard.press("Space");
    await playing(page, true);
    await page.keyboard.press("Space");
    await playing(page, false);
    await page.keyboard.press("r");
    await becomes(page, start);
    await page.keyboard.press("t");
    await page.waitForFunction(() => document.querySelector(".trails input").checked);
  });

  withPage("reaches everything in the order of the page, and moves bobs with the arrows", async (page) => {
    const names = [];
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press("Tab");
      names.push(
        await page.evaluate(() => {
          const e = document.activeElement;
          return e.getAttribute("aria-label") ?? e.labels?.[0]?.innerText ?? e.innerText;
        }),
      );
    }
    const order = [
      /^bob 1/,
      /^bob 2/,
      /^Step back/,
      /^Play/,
      /^Step forward/,
      /^Speed/,
      /^Reset/,
      /^Restore defaults/,
      /^Help/,
      /^Equations/,
      /^Share/,
      /^Export/,
      /^View/,
      /^Double pendulum/,
      /^Story/,
      /^Number of links/,
      /^Gravity/,
      /^Ghost/,
      /^Trails/,
      /^Lengths/,
      /^Masses/,
      /^State/,
      /^Numerics/,
      /^Vertical axis of plot 1/,
    ];
    let last = -1;
    for (const name of order) {
      const at = names.findIndex((found, i) => i > last && name.test(found));
      assert.ok(at > last, `${name} after ${names[last]} in ${names.join(", ")}`);
      last = at;
    }
    const before = await stateOf(page);
    const bob = page.locator('[data-body="1"]');
    const y = Number(await bob.getAttribute("data-y"));
    await bob.focus();
    await page.keyboard.press("Shift+ArrowDown");
    await changed(page, before);
    await settled(page);
    assert.ok(Number(await bob.getAttribute("data-y")) < y - 0.1);
    await page.keyboard.press("Control+z");
    await becomes(page, before);
    await page.keyboard.press("PageUp");
    await page.waitForFunction(() => document.activeElement.dataset.body === "0");
  });

  withPage("moves a bob on and on while an arrow is held, as one action", async (page) => {
    const start = await stateOf(page);
    await page.locator('[data-body="1"]').focus();
    for (let i = 0; i < 5; i++) await page.keyboard.down("ArrowDown");
    await page.keyboard.up("ArrowDown");
    await changed(page, start);
    await settled(page);
    await page.keyboard.press("Control+z");
    await becomes(page, start);
  });

  withPage("presses a focused button once", async (page) => {
    await page.getByRole("button", { name: "Play" }).focus();
    await page.keyboard.press("Space");
    await playing(page, true);
    await settled(page);
    assert.equal(await page.locator("[data-studio]").getAttribute("data-playing"), "true");
    await page.getByRole("button", { name: "Step forward" }).focus();
    await page.keyboard.press("Enter");
    await playing(page, false);
  });
});

describe("the page", () => {
  withPage(
    "fits a phone, with picture and time in sight",
    async (page) => {
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.equal(width, 390);
      for (const place of [".stage", ".player"]) {
        const box = await page.locator(place).boundingBox();
        assert.ok(box.x >= 0 && box.x + box.width <= 390, place);
        assert.ok(box.y + box.height <= 844, place);
      }
      const stage = await page.locator(".stage").boundingBox();
      assert.ok(stage.height > 0.4 * 844);
      for (const target of await page.locator(".player button, .handle").all()) {
        const box = await target.boundingBox();
        assert.ok(Math.min(box.width, box.height) >= 44, "large enough for a finger");
      }
    },
    { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  );

  withPage(
    "gives the picture most of a large screen",
    async (page) => {
      const box = await page.locator(".stage").boundingBox();
      assert.ok(box.width * box.height > 0.5 * 1440 * 900);
      const scrolls = await page.evaluate(() => document.documentElement.scrollHeight > innerHeight);
      assert.ok(!scrolls);
    },
    { viewport: { width: 1440, height: 900 } },
  );

  for (const [scheme, dark] of [
    ["light", false],
    ["dark", true],
  ]) {
    withPage(
      `is ${scheme} where ${scheme} is wanted`,
      async (page) => {
        const luminance = await page.evaluate(() => {
          const [r, g, b] = getComputedStyle(document.querySelector(".holonomy")).backgroundColor.match(/\d+/g).map(Number);
          return (r + g + b) / 3;
        });
        assert.equal(luminance < 128, dark);
      },
      { colorScheme: scheme },
    );
  }

  withPage(
    "draws on a plain canvas where there is no WebGL",
    async (page) => {
      assert.equal(await page.locator(".stage").getAttribute("data-renderer"), "canvas");
      const before = await page.locator(".stage").screenshot();
      await page.keyboard.press("Shift+ArrowRight");
      await timePast(page, 0);
      await settled(page);
      assert.notDeepEqual(await page.locator(".stage").screenshot(), before);
    },
    { init: withoutWebgl },
  );

  slowTest("has edges in WebGL as smooth as on a plain canvas", async () => {
    const smooth = await openPage(shared.browser, shared.studio.address);
    const other = await openPage(shared.browser, shared.studio.address, { init: withoutWebgl });
    const images = [];
    for (const { page } of [smooth, other]) {
      await page.locator(".hint").evaluateAll((hints) => hints.forEach((hint) => hint.remove())); // it fades in
      images.push((await page.locator(".stage").screenshot()).toString("base64"));
    }
    assert.equal(await smooth.page.locator(".stage").getAttribute("data-renderer"), "webgl");
    // Edges in steps differ by 157 of 255, those of the renderer's own four samples by 95, and ours by 49.
    const most = await other.page.evaluate(largestDifference, images);
    assert.ok(most < 80, `A pixel differs by ${most}.`);
    await smooth.close();
    await other.close();
  });

  slowTest("runs no script but its own", async () => {
    const opened = await openPage(shared.browser, shared.studio.address, { expectErrors: true });
    const ran = await opened.page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "window.intruder = true";
      document.body.append(script);
      return window.intruder === true;
    });
    assert.equal(ran, false);
    const told = () => opened.errors.some((error) => error.includes("Content Security Policy"));
    await until(opened.page, told, "the browser should say that its policy forbids it");
    await opened.close();
  });
});

describe("the door", () => {
  slowTest("is closed to a wrong token and to none", async () => {
    const context = await newContext(shared.browser);
    const page = await context.newPage();
    for (const address of [shared.studio.address.replace(/token=.*/, "token=wrong"), shared.studio.address.replace(/\?.*/, "")]) {
      const answer = await page.goto(address);
      assert.equal(answer.status(), 403);
      assert.match(await page.innerText("body"), /token/);
    }
    await context.close();
  });

  withPage("lets a page whose line was cut come back to the same motion", async (page) => {
    const start = await stateOf(page);
    await page.keyboard.press("Shift+ArrowRight");
    const before = await changed(page, start);
    await page.evaluate(() => globalThis.probe.socket.close());
    await noticeShown(page, /^The studio does not answer/);
    await page.getByText("The studio does not answer").waitFor({ state: "hidden" });
    await page.waitForFunction(() => globalThis.probe.socket.readyState === WebSocket.OPEN);
    await settled(page);
    await page.keyboard.press("ArrowRight");
    await changed(page, before);
    assert.equal(await timeOf(page), 11 / 60);
    await button(page, "Undo");
    await becomes(page, before);
  });

  slowTest("tells a page that its studio is gone", async (test) => {
    const other = await startStudio();
    test.after(() => other.stop()); // also when the test fails, or the runner would wait for it
    const opened = await openPage(shared.browser, other.address, { expectErrors: true });
    await other.stop();
    await opened.page.getByText("The studio does not answer").waitFor();
    await opened.close();
  });
});
