// Time, hand and undo, in a real browser with the real physics behind it.

import assert from "node:assert/strict";
import { describe } from "node:test";
import { withPage } from "./harness.mjs";
import {
  arrives,
  becomes,
  box,
  button,
  changed,
  drag,
  grab,
  handle,
  hasNumber,
  noticeShown,
  pictures,
  playing,
  restructured,
  revisionOf,
  setNumber,
  settled,
  slider,
  stateOf,
  tapped,
  timeOf,
  timePast,
  unfold,
  unfoldNumerics,
  until,
  velocitiesOf,
} from "./studio.mjs";

describe("time", () => {
  withPage(
    "runs by itself: the clock and the picture move",
    async (page) => {
      await timePast(page, 0.3);
      const first = await page.locator(".stage").screenshot();
      await timePast(page, (await timeOf(page)) + 0.3);
      await until(page, async () => !first.equals(await page.locator(".stage").screenshot()), "another picture than the first");
      assert.match(await page.locator('[data-readout="time"]').innerText(), /^\d+\.\d{3}.s$/);
      assert.equal(await page.locator(".stage").getAttribute("data-renderer"), "webgl");
    },
    { playing: true },
  );

  withPage(
    "stops on pause and goes on with play",
    async (page) => {
      await playing(page, true);
      await button(page, "Pause");
      await playing(page, false);
      await settled(page);
      const held = await stateOf(page);
      await pictures(page, 20);
      assert.equal(await stateOf(page), held);
      await button(page, "Play");
      await changed(page, held);
    },
    { playing: true },
  );

  withPage("is held at first where less motion is wanted, and no path is drawn", async (page) => {
    await settled(page);
    assert.equal(await timeOf(page), 0);
    assert.equal(await page.locator("[data-studio]").getAttribute("data-playing"), "false");
    assert.equal(await page.getByLabel("Trails", { exact: true }).isChecked(), false);
  });

  withPage("steps forward by a sixtieth of a second, and back to the very same bits", async (page) => {
    const states = [await stateOf(page)];
    for (let i = 0; i < 5; i++) {
      await tapped(page, "Step forward");
      states.push(await changed(page, states.at(-1)));
    }
    assert.equal(await timeOf(page), 5 / 60);
    assert.equal(new Set(states).size, 6);
    for (const earlier of states.slice(0, -1).reverse()) {
      await tapped(page, "Step back");
      await becomes(page, earlier);
    }
    await tapped(page, "Step back");
    await noticeShown(page, /^The motion starts here/);
  });

  withPage("steps on while a step button is held, as one action", async (page) => {
    const start = await stateOf(page);
    await page.getByRole("button", { name: "Step forward" }).hover();
    await page.mouse.down();
    await timePast(page, 0.1);
    await page.mouse.up();
    await settled(page);
    await button(page, "Undo");
    await becomes(page, start);
    await settled(page);
    assert.ok(await page.getByRole("button", { name: "Undo" }).isDisabled());
  });

  withPage("can be gone through on its line, exactly, and a whole scrub is one action", async (page) => {
    const start = await stateOf(page);
    const states = [start];
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press("ArrowRight");
      states.push(await changed(page, states.at(-1)));
    }
    const line = page.getByLabel("Timeline");
    const { x, y, width, height } = await line.boundingBox();
    await page.mouse.move(x + width - 8, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width / 2, y + height / 2, { steps: 5 });
    await page.mouse.move(x + 1, y + height / 2, { steps: 5 });
    await becomes(page, start);
    await page.mouse.up();
    await button(page, "Undo");
    await becomes(page, states[12]);
    await settled(page);
    await line.focus();
    await page.keyboard.press("Home");
    await becomes(page, start);
    await page.keyboard.press("End");
    await becomes(page, states[12]);
  });

  withPage("goes back to the start on reset, which clears the plots", async (page) => {
    const start = await stateOf(page);
    await button(page, "Play");
    await timePast(page, 0.4);
    await button(page, "Pause");
    await playing(page, false);
    await page.waitForFunction(() => Number(document.querySelector(".plot .canvas").dataset.rows) > 10);
    await button(page, "Reset");
    await becomes(page, start);
    await page.waitForFunction(() => Number(document.querySelector(".plot .canvas").dataset.rows) <= 1);
  });

  withPage("runs at the speed that was chosen, by box or slider, from a tenth to five times", async (page) => {
    await slider(page, "speed").focus();
    await page.keyboard.press("End");
    await hasNumber(page, "speed", 5);
    await setNumber(page, "speed", 0.1);
    // The motion begins after the first look at the clock, and what the page shows was computed before the second: a slow
    // machine makes the rate smaller, never larger.
    const read = () => page.evaluate(() => [Number(document.querySelector("[data-studio]").dataset.time), performance.now() / 1000]);
    const [time, clock] = await read();
    await button(page, "Play");
    await timePast(page, time + 0.1);
    const [timeAfter, clockAfter] = await read();
    const rate = (timeAfter - time) / (clockAfter - clock);
    assert.ok(rate < 0.101, `a tenth of real time was asked for, ${rate} seen`);
  });
});

describe("dragging", () => {
  withPage("moves the bob to the pointer, at rest, with time held; undo and redo are exact", async (page) => {
    const start = await stateOf(page);
    await tapped(page, "Step forward");
    const before = await changed(page, start);
    const time = await timeOf(page);
    const goal = await drag(page, 1, -120, 150);
    await arrives(page, 1, goal);
    await page.mouse.up();
    await settled(page);
    assert.equal(await timeOf(page), time);
    assert.deepEqual(await velocitiesOf(page), [0, 0]);
    const after = await stateOf(page);
    await button(page, "Undo");
    await becomes(page, before);
    await button(page, "Redo");
    await becomes(page, after);
  });

  withPage("goes as near as the rods let it when the pointer is out of reach", async (page) => {
    const before = await stateOf(page);
    await drag(page, 0, 40, 280);
    await changed(page, before);
    await page.mouse.up();
    await settled(page);
    const bob = page.locator('[data-body="0"]');
    const [x, y] = [Number(await bob.getAttribute("data-x")), Number(await bob.getAttribute("data-y"))];
    assert.ok(Math.abs(Math.hypot(x, y) - 1) < 1e-12);
  });

  withPage("holds a running motion and lets it go on from there", async (page) => {
    await setNumber(page, "speed", 0.1); // slow enough to be caught
    await button(page, "Play");
    await playing(page, true);
    const { x, y } = await grab(page, 1);
    await page.mouse.move(x + 30, y + 30);
    await settled(page);
    const held = await timeOf(page);
    await pictures(page, 15);
    assert.equal(await timeOf(page), held);
    await page.mouse.up();
    await timePast(page, held);
  });

  withPage(
    "follows a finger",
    async (page) => {
      const before = await stateOf(page);
      const { x, y } = await handle(page, 1);
      const session = await page.context().newCDPSession(page);
      const touch = (type, points) => session.send("Input.dispatchTouchEvent", { type, touchPoints: points });
      await touch("touchStart", [{ x, y }]);
      await touch("touchMove", [{ x: x - 30, y: y + 40 }]);
      await changed(page, before);
      await touch("touchEnd", []);
      await settled(page);
      assert.deepEqual(await velocitiesOf(page), [0, 0]);
    },
    { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  );
});

describe("undo and redo", () => {
  const setGhost = async (page) => {
    const before = await revisionOf(page);
    await page.getByLabel("Ghost", { exact: true }).click();
    await restructured(page, before);
  };
  // Each does something, and says what must be seen again after undo and after redo.
  const ACTIONS = {
    "a step": async (page, before) => {
      await tapped(page, "Step forward");
      await changed(page, before);
    },
    "a drag": async (page, before) => {
      await drag(page, 1, -60, 40);
      await changed(page, before);
      await page.mouse.up();
    },
    "a number": async (page) => setNumber(page, "gravity", 3.7),
    "a length": async (page) => setNumber(page, "length2", 1.5),
    "the number of links": async (page) => {
      const before = await revisionOf(page);
      await setNumber(page, "links", 3);
      await restructured(page, before);
    },
    "a choice": async (page) => {
      await unfoldNumerics(page);
      await page.getByLabel("Method").selectOption("gauss3");
      await page.waitForFunction(() => document.querySelector("[data-readout=method]").innerText.includes("Gauss"));
    },
    "rods into springs": async (page) => {
      const before = await revisionOf(page);
      await page.getByText("Springs", { exact: true }).click();
      await restructured(page, before);
    },
    "the ghost": setGhost,
    "the speed": async (page) => setNumber(page, "speed", 2),
    "a reset": async (page) => button(page, "Reset"),
    "first settings": async (page) => button(page, "Restore defaults"),
  };
  /** State and every setting that the page shows. */
  const whole = (page) =>
    page.evaluate(() =>
      JSON.stringify({
        state: document.querySelector("[data-studio]").dataset.state,
        numbers: [...document.querySelectorAll("[data-parameter]")].map((e) => [e.dataset.parameter, e.querySelector("input.box").value]),
        checks: [...document.querySelectorAll("aside input[type=checkbox], aside input[type=radio]")].map((e) => e.checked),
        lists: [...document.querySelectorAll("aside .list select")].map((e) => e.value),
      }),
    );
  const isAgain = (page, wanted, what) =>
    page
      .waitForFunction((want) => {
        const now = JSON.stringify({
          state: document.querySelector("[data-studio]").dataset.state,
          numbers: [...document.querySelectorAll("[data-parameter]")].map((e) => [e.dataset.parameter, e.querySelector("input.box").value]),
          checks: [...document.querySelectorAll("aside input[type=checkbox], aside input[type=radio]")].map((e) => e.checked),
          lists: [...document.querySelectorAll("aside .list select")].map((e) => e.value),
        });
        return now === want;
      }, wanted)
      .catch(async (error) => {
        throw new Error(`${what} should give\n${wanted}\nand gave\n${await whole(page)}`, { cause: error });
      });
  withPage("restore the very state before each kind of action, settings and time included", async (page) => {
    const start = await stateOf(page);
    await page.keyboard.press("Shift+ArrowRight");
    await changed(page, start);
    await setNumber(page, "gravity", 5); // so that a reset has something to take back
    for (const [name, act] of Object.entries(ACTIONS)) {
      await settled(page);
      const before = await whole(page);
      await act(page, JSON.parse(before).state);
      await settled(page);
      const after = await whole(page);
      assert.notEqual(after, before, name);
      await button(page, "Undo");
      await isAgain(page, before, `Undo of ${name}`);
      await button(page, "Redo");
      await isAgain(page, after, `Redo of ${name}`);
      await button(page, "Undo");
      await isAgain(page, before, `Undo of ${name}, again,`);
    }
  });
});

describe("numbers", () => {
  withPage("keep the exact value that was typed, whatever the slider can show", async (page) => {
    await box(page, "gravity").fill("3.7000000000000006");
    await box(page, "gravity").press("Enter");
    await page.waitForFunction(() =>
      document.querySelector('[data-parameter="gravity"] input[type=range]').getAttribute("aria-valuetext").startsWith("3.7"),
    );
    assert.equal(await box(page, "gravity").inputValue(), "3.7000000000000006");
    await button(page, "Undo");
    await hasNumber(page, "gravity", 9.81);
  });

  withPage("change the picture by slider; first settings bring it back", async (page) => {
    const before = await page.locator('[data-body="1"]').getAttribute("data-y");
    await unfold(page, "length2");
    await slider(page, "length2").focus();
    await page.keyboard.press("End");
    await page.waitForFunction((y) => document.querySelector('[data-body="1"]').dataset.y !== y, before);
    await hasNumber(page, "length2", 3);
    await button(page, "Restore defaults");
    await page.waitForFunction((y) => document.querySelector('[data-body="1"]').dataset.y === y, before);
  });

  withPage("outside their interval are refused in a sentence, and the old value stays", async (page) => {
    await unfold(page, "mass1");
    for (const bad of ["-1", "0"]) {
      await box(page, "mass1").fill(bad);
      await box(page, "mass1").press("Enter");
      await page
        .locator('[data-parameter="mass1"] .error')
        .getByText(/^Mass 1 must be/)
        .waitFor();
      assert.equal(await page.evaluate(() => globalThis.probe.controls.parameters.mass1), 1);
    }
  });
});
