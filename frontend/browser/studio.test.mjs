// What all labs share, in a real browser with the real physics behind it: time, hand, undo, plots, keys, door.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { launchChromium } from "./chromium.mjs";
import {
  becomes, box, button, changed, drag, handle, hasNumber, openPage, pictures, pixels, playing, restructured, revisionOf,
  setNumber, slider, startStudio, stateOf, stride, timeOf, timePast, unfold, velocitiesOf, withoutWebgl,
} from "./studio.mjs";

let browser;
let studio;

before(async () => {
  studio = await startStudio();
  browser = await launchChromium();
});

after(async () => {
  await browser?.close();
  await studio?.stop();
});

/** A test with a page of its own, which must end without a word in the console. */
function withPage(name, test, options) {
  it(name, async () => {
    const opened = await openPage(browser, studio.address, options);
    await test(opened.page);
    await opened.close();
  });
}

describe("time", () => {
  withPage("runs by itself: the clock and the picture move", async (page) => {
    await timePast(page, 0.3);
    const first = await page.locator(".stage").screenshot();
    await timePast(page, (await timeOf(page)) + 0.3);
    assert.notDeepEqual(await page.locator(".stage").screenshot(), first);
    assert.match(await page.locator('[data-readout="time"]').innerText(), /^\d+\.\d{3}.s$/);
    assert.equal(await page.locator(".stage").getAttribute("data-renderer"), "webgl");
  }, { playing: true });

  withPage("stops on pause and goes on with play", async (page) => {
    await playing(page, true);
    await button(page, "Pause");
    await playing(page, false);
    await pictures(page, 5);
    const held = await stateOf(page);
    await pictures(page, 20);
    assert.equal(await stateOf(page), held);
    await button(page, "Play");
    await changed(page, held);
  }, { playing: true });

  withPage("is held at first where less motion is wanted, and no path is drawn", async (page) => {
    await pictures(page, 10);
    assert.equal(await timeOf(page), 0);
    assert.equal(await page.locator("[data-studio]").getAttribute("data-playing"), "false");
    assert.equal(await page.getByLabel("Draw paths").isChecked(), false);
  });

  withPage("steps forward by a sixtieth of a second, and back to the very same bits", async (page) => {
    const states = [await stateOf(page)];
    for (let i = 0; i < 5; i++) {
      await button(page, "Step forward");
      states.push(await changed(page, states.at(-1)));
    }
    assert.equal(await timeOf(page), 5 / 60);
    assert.equal(new Set(states).size, 6);
    for (const earlier of states.slice(0, -1).reverse()) {
      await button(page, "Step back");
      await becomes(page, earlier);
    }
    await button(page, "Step back");
    await page.getByText("This motion starts here").waitFor();
  });

  withPage("steps on while a step button is held, as one action", async (page) => {
    const start = await stateOf(page);
    await page.getByRole("button", { name: "Step forward" }).hover();
    await page.mouse.down();
    await timePast(page, 0.1);
    await page.mouse.up();
    await pictures(page, 10);
    await button(page, "Undo");
    await becomes(page, start);
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
    assert.equal(await box(page, "speed").getAttribute("max"), "5");
    await slider(page, "speed").focus();
    await page.keyboard.press("End");
    await hasNumber(page, "speed", 5);
    await setNumber(page, "speed", 0.1);
    await button(page, "Play");
    const rate = await page.evaluate(async () => {
      const root = document.querySelector("[data-studio]");
      const read = () => [performance.now() / 1000, Number(root.dataset.time)];
      const past = (t) => new Promise((resolve) => {
        const look = () => (Number(root.dataset.time) > t ? resolve(undefined) : requestAnimationFrame(look));
        look();
      });
      await past(0.02);
      const [clock, time] = read();
      await past(time + 0.1);
      const [clockAfter, timeAfter] = read();
      return (timeAfter - time) / (clockAfter - clock);
    });
    assert.ok(rate < 0.15, `a tenth of real time was asked for, ${rate} seen`);
  });
});

describe("dragging", () => {
  withPage("moves the bob to the pointer, at rest, with time held; undo and redo are exact", async (page) => {
    const start = await stateOf(page);
    await button(page, "Step forward");
    const before = await changed(page, start);
    const time = await timeOf(page);
    const goal = await drag(page, 1, -120, 150);
    await changed(page, before);
    await page.mouse.up();
    await pictures(page, 5);
    const there = await handle(page, 1);
    assert.ok(Math.hypot(there.x - goal.x, there.y - goal.y) < 1.5, `${JSON.stringify(there)} ${JSON.stringify(goal)}`);
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
    await pictures(page, 5);
    const bob = page.locator('[data-body="0"]');
    const [x, y] = [Number(await bob.getAttribute("data-x")), Number(await bob.getAttribute("data-y"))];
    assert.ok(Math.abs(Math.hypot(x, y) - 1) < 1e-12);
  });

  withPage("holds a running motion and lets it go on from there", async (page) => {
    await setNumber(page, "speed", 0.1); // slow enough to be caught
    await button(page, "Play");
    await playing(page, true);
    await drag(page, 1, 30, 30);
    await pictures(page, 20);
    const held = await timeOf(page);
    await pictures(page, 15);
    assert.equal(await timeOf(page), held);
    await page.mouse.up();
    await timePast(page, held);
  });

  withPage("follows a finger", async (page) => {
    const before = await stateOf(page);
    const { x, y } = await handle(page, 1);
    const session = await page.context().newCDPSession(page);
    const touch = (type, points) => session.send("Input.dispatchTouchEvent", { type, touchPoints: points });
    await touch("touchStart", [{ x, y }]);
    await touch("touchMove", [{ x: x - 30, y: y + 40 }]);
    await changed(page, before);
    await touch("touchEnd", []);
    assert.deepEqual(await velocitiesOf(page), [0, 0]);
  }, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
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
      await button(page, "Step forward");
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
    "first settings": async (page) => button(page, "Back to first settings"),
  };
  /** State and every setting that the page shows. */
  const whole = (page) => page.evaluate(() => JSON.stringify({
    state: document.querySelector("[data-studio]").dataset.state,
    numbers: [...document.querySelectorAll("[data-parameter]")].map((e) => [e.dataset.parameter, e.querySelector("input[type=number]").value]),
    checks: [...document.querySelectorAll(".settings input[type=checkbox], .settings input[type=radio]")].map((e) => e.checked),
    lists: [...document.querySelectorAll(".settings .list select")].map((e) => e.value),
  }));
  const isAgain = (page, wanted, what) =>
    page.waitForFunction((want) => {
      const now = JSON.stringify({
        state: document.querySelector("[data-studio]").dataset.state,
        numbers: [...document.querySelectorAll("[data-parameter]")].map((e) => [e.dataset.parameter, e.querySelector("input[type=number]").value]),
        checks: [...document.querySelectorAll(".settings input[type=checkbox], .settings input[type=radio]")].map((e) => e.checked),
        lists: [...document.querySelectorAll(".settings .list select")].map((e) => e.value),
      });
      return now === want;
    }, wanted, { timeout: 15_000 }).catch(async (error) => {
      throw new Error(`${what} should give\n${wanted}\nand gave\n${await whole(page)}`, { cause: error });
    });
  it("restore the very state before each kind of action, settings and time included", async () => {
    const opened = await openPage(browser, studio.address);
    const { page } = opened;
    const start = await stateOf(page);
    await page.keyboard.press("Shift+ArrowRight");
    await changed(page, start);
    await setNumber(page, "gravity", 5); // so that a reset has something to take back
    for (const [name, act] of Object.entries(ACTIONS)) {
      await pictures(page, 4);
      const before = await whole(page);
      await act(page, JSON.parse(before).state);
      await pictures(page, 8);
      const after = await whole(page);
      assert.notEqual(after, before, name);
      await button(page, "Undo");
      await isAgain(page, before, `Undo of ${name}`);
      await button(page, "Redo");
      await isAgain(page, after, `Redo of ${name}`);
      await button(page, "Undo");
      await isAgain(page, before, `Undo of ${name}, again,`);
    }
    await opened.close();
  });
});

describe("numbers", () => {
  withPage("keep the exact value that was typed, whatever the slider can show", async (page) => {
    await box(page, "gravity").fill("3.7000000000000006");
    await box(page, "gravity").press("Enter");
    await page.waitForFunction(() => document.querySelector('[data-parameter="gravity"] input[type=range]').getAttribute("aria-valuetext").startsWith("3.7"));
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
    await button(page, "Back to first settings");
    await page.waitForFunction((y) => document.querySelector('[data-body="1"]').dataset.y === y, before);
  });

  withPage("outside their interval are refused in a sentence, and the old value stays", async (page) => {
    await unfold(page, "mass1");
    for (const bad of ["-1", "0"]) {
      await box(page, "mass1").fill(bad);
      await box(page, "mass1").press("Enter");
      await page.getByText(/^Mass 1 lies between .* was given\.$/).waitFor();
      assert.equal(await box(page, "mass1").inputValue(), "1");
    }
  });
});

describe("plots", () => {
  withPage("draw a curve of each colour, and their axes can be chosen", async (page) => {
    await page.getByLabel("Seconds shown in plot 1").selectOption("5");
    await stride(page, 12);
    const vertical = page.getByLabel("Vertical axis of plot 1");
    const horizontal = page.getByLabel("Horizontal axis of plot 1");
    const colours = () => page.evaluate(() => [...document.querySelector(".plot").querySelectorAll(".swatch")].map((s) => getComputedStyle(s).backgroundColor));
    await vertical.selectOption("all:Energy");
    await pictures(page, 6);
    assert.equal((await colours()).length, 3);
    for (const colour of await colours()) assert.ok((await pixels(page, ".plot canvas", colour)) > 25, `a curve in ${colour}`);
    // One angle against the other: the curve of the first plot moves, and its name says so.
    const time = await page.locator(".plot canvas").first().screenshot();
    await vertical.selectOption("theta2");
    await horizontal.selectOption("omega1");
    await pictures(page, 6);
    assert.notDeepEqual(await page.locator(".plot canvas").first().screenshot(), time);
    assert.match(await page.locator(".plot .canvas").first().getAttribute("aria-label"), /^Angle 2 against Angular velocity 1/);
    const body = await page.evaluate(() => [...document.querySelectorAll(".state .dot")].map((s) => getComputedStyle(s).backgroundColor));
    assert.ok((await pixels(page, ".plot canvas", body[1])) > 25, "in the colour of its body");
  });

  withPage("can be added, closed and given another length of time", async (page) => {
    const count = await page.locator(".plot").count();
    await button(page, "Add a plot");
    assert.equal(await page.locator(".plot").count(), count + 1);
    await page.getByLabel(`Seconds shown in plot ${count + 1}`).selectOption("5");
    assert.match(await page.locator(".plot .canvas").last().getAttribute("aria-label"), /the last 5 seconds/);
    await button(page, `Close plot ${count + 1}`);
    assert.equal(await page.locator(".plot").count(), count);
  });
});

describe("readouts", () => {
  withPage("show energies as bars by kind whose parts make up the total", async (page) => {
    await page.keyboard.press("Shift+ArrowRight");
    await timePast(page, 0.1);
    await pictures(page, 3);
    const part = async (name) => Number(await page.locator(`[data-bar="${name}"]`).getAttribute("data-part"));
    const [kinetic, potential, total] = [await part("kinetic"), await part("potential"), await part("total")];
    assert.ok(kinetic > 0);
    assert.ok(Math.abs(kinetic + potential - total) <= 0.2, `${kinetic} + ${potential} = ${total}`);
  });

  withPage("certify the motion", async (page) => {
    await page.keyboard.press("Shift+ArrowRight");
    await timePast(page, 0.1);
    await pictures(page, 3);
    const read = (name) => page.locator(`[data-readout="${name}"]`).innerText();
    assert.match(await read("method"), /RK4|Gauss/);
    assert.notEqual(await read("engine"), "–");
    assert.match(await read("drift"), /10\s*−\d+|^0/, "the energy keeps its value to many digits");
    assert.ok(Number((await read("steps")).replace(/\D/g, "")) > 0);
    assert.equal(await read("clock"), "held");
  });

  withPage("warn when physics cannot keep up with the clock", async (page) => {
    await page.getByText("Physics cannot keep up with the clock").waitFor();
    assert.match(await page.locator('[data-readout="clock"]').innerText(), /^behind/);
    await button(page, "Pause");
    await page.getByText("Physics cannot keep up with the clock").waitFor({ state: "detached" });
  }, {
    playing: true,
    init: () => {
      // Every frame says that it is late: bit 4 of its flags, the second number of its head.
      const own = Object.getOwnPropertyDescriptor(WebSocket.prototype, "onmessage");
      Object.defineProperty(WebSocket.prototype, "onmessage", {
        set(listener) {
          own.set.call(this, (event) => {
            if (typeof event.data !== "string") new DataView(event.data).setUint32(4, new DataView(event.data).getUint32(4, true) | 4, true);
            listener(event);
          });
        },
      });
    },
  });
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
    for (let i = 0; i < 40; i++) {
      await page.keyboard.press("Tab");
      names.push(await page.evaluate(() => {
        const e = document.activeElement;
        return e.getAttribute("aria-label") ?? e.labels?.[0]?.innerText ?? e.innerText;
      }));
    }
    const order = [
      /^bob 1/, /^bob 2/, /^Step back/, /^Play/, /^Step forward/, /^Speed/, /^Reset/, /^Back to first settings/, /^Equations/, /^Share/, /^Export/,
      /^Help/, /^Number of links/, /^Gravity/, /^Lengths/, /^Masses/, /^Ghost/, /^Draw paths/, /^State/, /^Vertical axis of plot 1/,
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
    assert.ok(Number(await bob.getAttribute("data-y")) < y - 0.1);
    await page.keyboard.press("Control+z");
    await becomes(page, before);
    await page.keyboard.press("PageUp");
    assert.equal(await page.evaluate(() => document.activeElement.dataset.body), "0");
  });

  withPage("moves a bob on and on while an arrow is held, as one action", async (page) => {
    const start = await stateOf(page);
    await page.locator('[data-body="1"]').focus();
    for (let i = 0; i < 5; i++) await page.keyboard.down("ArrowDown");
    await page.keyboard.up("ArrowDown");
    await changed(page, start);
    await pictures(page, 5);
    await page.keyboard.press("Control+z");
    await becomes(page, start);
  });

  withPage("presses a focused button once", async (page) => {
    await page.getByRole("button", { name: "Play" }).focus();
    await page.keyboard.press("Space");
    await playing(page, true);
    await pictures(page, 10);
    assert.equal(await page.locator("[data-studio]").getAttribute("data-playing"), "true");
    await page.getByRole("button", { name: "Step forward" }).focus();
    await page.keyboard.press("Enter");
    await playing(page, false);
  });
});

describe("the page", () => {
  withPage("fits a phone, with picture and time in sight", async (page) => {
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
  }, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  withPage("gives the picture most of a large screen", async (page) => {
    const box = await page.locator(".stage").boundingBox();
    assert.ok(box.width * box.height > 0.5 * 1440 * 900);
    const scrolls = await page.evaluate(() => document.documentElement.scrollHeight > innerHeight);
    assert.ok(!scrolls);
  }, { viewport: { width: 1440, height: 900 } });

  for (const [scheme, dark] of [["light", false], ["dark", true]]) {
    withPage(`is ${scheme} where ${scheme} is wanted`, async (page) => {
      const luminance = await page.evaluate(() => {
        const [r, g, b] = getComputedStyle(document.querySelector(".holonomy")).backgroundColor.match(/\d+/g).map(Number);
        return (r + g + b) / 3;
      });
      assert.equal(luminance < 128, dark);
    }, { colorScheme: scheme });
  }

  withPage("draws on a plain canvas where there is no WebGL", async (page) => {
    assert.equal(await page.locator(".stage").getAttribute("data-renderer"), "canvas");
    const before = await page.locator(".stage").screenshot();
    await page.keyboard.press("Shift+ArrowRight");
    await timePast(page, 0);
    await pictures(page, 3);
    assert.notDeepEqual(await page.locator(".stage").screenshot(), before);
  }, { init: withoutWebgl });

  it("runs no script but its own", async () => {
    const opened = await openPage(browser, studio.address, { expectErrors: true });
    const ran = await opened.page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "window.intruder = true";
      document.body.append(script);
      return window.intruder === true;
    });
    assert.equal(ran, false);
    assert.ok(opened.errors.some((error) => error.includes("Content Security Policy")));
    await opened.close();
  });
});

describe("the door", () => {
  it("is closed to a wrong token and to none", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    for (const address of [studio.address.replace(/token=.*/, "token=wrong"), studio.address.replace(/\?.*/, "")]) {
      const answer = await page.goto(address);
      assert.equal(answer.status(), 403);
      assert.match(await page.innerText("body"), /token/);
    }
    await context.close();
  });

  it("tells a page that its studio is gone", async (test) => {
    const other = await startStudio();
    test.after(() => other.stop()); // also when the test fails, or the runner would wait for it
    const opened = await openPage(browser, other.address, { expectErrors: true });
    await other.stop();
    await opened.page.getByText("The studio does not answer").waitFor();
    await opened.close();
  });
});
