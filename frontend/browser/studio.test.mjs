// The studio in a real browser, with the real physics behind it.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { launchChromium } from "./chromium.mjs";
import { becomes, button, changed, handle, openPage, pictures, startStudio, stateOf, timeOf, velocitiesOf } from "./studio.mjs";

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

async function drag(page, body, dx, dy) {
  const { x, y } = await handle(page, body);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + dx / 2, y + dy / 2);
  await page.mouse.move(x + dx, y + dy);
  return { x: x + dx, y: y + dy };
}

describe("time", () => {
  withPage("runs by itself: the clock and the picture move", async (page) => {
    await page.waitForFunction(() => Number(document.querySelector("#stage").dataset.time) > 0.3);
    const first = await page.locator("#stage").screenshot();
    const time = await timeOf(page);
    await page.waitForFunction((t) => Number(document.querySelector("#stage").dataset.time) > t + 0.3, time);
    assert.notDeepEqual(await page.locator("#stage").screenshot(), first);
    assert.match(await page.locator('[data-readout="time"]').innerText(), /^\d+\.\d{3}.s$/);
    assert.equal(await page.locator("#stage").getAttribute("data-renderer"), "webgl");
  }, { playing: true });

  withPage("stops on pause and goes on with play", async (page) => {
    await page.waitForFunction(() => document.querySelector("#stage").dataset.playing === "true");
    await button(page, "Pause");
    await page.waitForFunction(() => document.querySelector("#stage").dataset.playing === "false");
    const held = await stateOf(page);
    await pictures(page, 20);
    assert.equal(await stateOf(page), held);
    await button(page, "Play");
    await changed(page, held);
  }, { playing: true });

  withPage("is held at first where less motion is wanted", async (page) => {
    await pictures(page, 10);
    assert.equal(await timeOf(page), 0);
    assert.equal(await page.locator("#stage").getAttribute("data-playing"), "false");
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
    await page.waitForFunction(() => Number(document.querySelector("#stage").dataset.time) > 0.1);
    await page.mouse.up();
    await pictures(page, 10);
    await button(page, "Undo");
    await becomes(page, start);
    assert.ok(await page.getByRole("button", { name: "Undo" }).isDisabled());
  });

  withPage("goes back to the start on reset", async (page) => {
    const start = await stateOf(page);
    await button(page, "Play");
    await page.waitForFunction(() => Number(document.querySelector("#stage").dataset.time) > 0.2);
    await button(page, "Pause");
    await button(page, "Reset");
    await becomes(page, start);
  });

  withPage("runs at the speed that was chosen", async (page) => {
    await page.getByLabel("Speed").selectOption("0.1");
    await button(page, "Play");
    const rate = await page.evaluate(async () => {
      const stage = document.querySelector("#stage");
      const read = () => [performance.now() / 1000, Number(stage.dataset.time)];
      const past = (t) => new Promise((resolve) => {
        const look = () => (Number(stage.dataset.time) > t ? resolve(undefined) : requestAnimationFrame(look));
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

  withPage("moves the upper bob on its circle, whatever the pointer does", async (page) => {
    const before = await stateOf(page);
    await drag(page, 0, 40, 250);
    await changed(page, before);
    await page.mouse.up();
    await pictures(page, 5);
    const bob = page.locator('[data-body="0"]');
    const [x, y] = [Number(await bob.getAttribute("data-x")), Number(await bob.getAttribute("data-y"))];
    assert.ok(Math.abs(Math.hypot(x, y) - 1) < 1e-12);
  });

  withPage("holds a running motion and lets it go on from there", async (page) => {
    await page.getByLabel("Speed").selectOption("0.1"); // slow enough to be caught
    await button(page, "Play");
    await page.waitForFunction(() => document.querySelector("#stage").dataset.playing === "true");
    await drag(page, 1, 30, 30);
    await pictures(page, 15);
    const held = await stateOf(page);
    assert.deepEqual(await velocitiesOf(page), [0, 0]);
    await pictures(page, 15);
    assert.equal(await stateOf(page), held);
    await page.mouse.up();
    await changed(page, held);
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

describe("parameters", () => {
  withPage("keep the exact value that was typed, and undo brings back the old one", async (page) => {
    const box = page.getByLabel("Gravity in m/s²");
    await box.fill("3.7000000000000006");
    await box.press("Enter");
    await page.waitForFunction(() => document.querySelector("#slider-g").getAttribute("aria-valuetext").startsWith("3.7"));
    assert.equal(await box.inputValue(), "3.7000000000000006");
    await button(page, "Undo");
    await page.waitForFunction(() => document.querySelector("#slider-g").getAttribute("aria-valuetext") === "9.81 m/s²");
    assert.equal(await box.inputValue(), "9.81");
  });

  withPage("change the picture by slider", async (page) => {
    const before = await page.locator('[data-body="1"]').getAttribute("data-y");
    await page.locator("#slider-l2").focus();
    await page.keyboard.press("End");
    await page.waitForFunction((y) => document.querySelector('[data-body="1"]').dataset.y !== y, before);
    assert.equal(await page.getByLabel("Lower length in m").inputValue(), "3");
    await button(page, "Back to first values");
    await page.waitForFunction((y) => document.querySelector('[data-body="1"]').dataset.y === y, before);
  });

  withPage("outside their interval are refused in a sentence, and the old value stays", async (page) => {
    const box = page.getByLabel("Upper mass in kg");
    await box.fill("-1");
    await box.press("Enter");
    await page.getByText("Upper mass lies between 0.1 and 10 kg, but -1 was given.").waitFor();
    assert.equal(await box.inputValue(), "1");
  });
});

describe("the energy plot", () => {
  withPage("draws a curve of each kind in its colour, and the total is level", async (page) => {
    await page.waitForFunction(() => Number(document.querySelector(".plot .canvas").dataset.rows) > 40, null, { timeout: 60_000 });
    await button(page, "Pause");
    await pictures(page, 5);
    const counts = await page.evaluate(() => {
      const canvas = document.querySelector(".plot canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const colours = [...document.querySelectorAll(".swatch")].map((s) => getComputedStyle(s).backgroundColor.match(/\d+/g).map(Number));
      return colours.map((colour) => {
        let count = 0;
        for (let i = 0; i < data.length; i += 4) {
          if (data[i + 3] > 200 && colour.every((value, k) => Math.abs(data[i + k] - value) < 24)) count++;
        }
        return count;
      });
    });
    assert.equal(counts.length, 3);
    for (const count of counts) assert.ok(count > 25, `pixels of each curve: ${counts}`);
    const drift = await page.locator('[data-readout="drift"]').innerText();
    assert.match(drift, /10\s*−\d+|^0/, "the energy keeps its value to many digits");
  }, { playing: true });
});

describe("the keyboard", () => {
  withPage("plays, steps, undoes and redoes", async (page) => {
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
    await page.waitForFunction(() => document.querySelector("#stage").dataset.playing === "true");
    await page.keyboard.press("Space");
    await page.waitForFunction(() => document.querySelector("#stage").dataset.playing === "false");
    await page.keyboard.press("r");
    await becomes(page, start);
  });

  withPage("reaches everything in the order of the page, and moves bobs with the arrows", async (page) => {
    const names = [];
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press("Tab");
      names.push(await page.evaluate(() => {
        const e = document.activeElement;
        return e.getAttribute("aria-label") ?? e.labels?.[0]?.innerText ?? e.innerText;
      }));
    }
    assert.match(names[0], /^upper bob/);
    assert.match(names[1], /^lower bob/);
    assert.deepEqual(names.slice(2, 6), ["Step back", "Play", "Step forward", "Reset"]);
    assert.match(names[6], /^Speed/);
    assert.equal(names[7], "Gravity in m/s²");
    const before = await stateOf(page);
    const bob = page.locator('[data-body="1"]');
    const y = Number(await bob.getAttribute("data-y"));
    await bob.focus();
    await page.keyboard.press("Shift+ArrowDown");
    await changed(page, before);
    assert.ok(Number(await bob.getAttribute("data-y")) < y - 0.1);
    await page.keyboard.press("Control+z");
    await becomes(page, before);
  });

  withPage("presses a focused button once", async (page) => {
    await page.getByRole("button", { name: "Play" }).focus();
    await page.keyboard.press("Space");
    await page.waitForFunction(() => document.querySelector("#stage").dataset.playing === "true");
    await pictures(page, 10);
    assert.equal(await page.locator("#stage").getAttribute("data-playing"), "true");
    await page.getByRole("button", { name: "Step forward" }).focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector("#stage").dataset.playing === "false");
  });
});

describe("the page", () => {
  withPage("fits a phone, with picture and buttons in sight", async (page) => {
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.equal(width, 390);
    for (const place of ["#stage", ".transport"]) {
      const box = await page.locator(place).boundingBox();
      assert.ok(box.x >= 0 && box.x + box.width <= 390, place);
      assert.ok(box.y + box.height <= 844, place);
    }
    const stage = await page.locator("#stage").boundingBox();
    assert.ok(stage.height > 0.4 * 844);
    for (const target of await page.locator(".transport button, .handle").all()) {
      const box = await target.boundingBox();
      assert.ok(Math.min(box.width, box.height) >= 44, "large enough for a finger");
    }
  }, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  withPage("gives the picture most of a large screen", async (page) => {
    const box = await page.locator("#stage").boundingBox();
    assert.ok(box.width * box.height > 0.5 * 1440 * 900);
    const scrolls = await page.evaluate(() => document.documentElement.scrollHeight > innerHeight);
    assert.ok(!scrolls);
  });

  for (const [scheme, dark] of [["light", false], ["dark", true]]) {
    withPage(`is ${scheme} where ${scheme} is wanted`, async (page) => {
      const luminance = await page.evaluate(() => {
        const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number);
        return (r + g + b) / 3;
      });
      assert.equal(luminance < 128, dark);
    }, { colorScheme: scheme });
  }

  withPage("draws on a plain canvas where there is no WebGL", async (page) => {
    assert.equal(await page.locator("#stage").getAttribute("data-renderer"), "canvas");
    const before = await page.locator("#stage").screenshot();
    await page.keyboard.press("Shift+ArrowRight");
    await page.waitForFunction(() => Number(document.querySelector("#stage").dataset.time) > 0);
    await pictures(page, 3);
    assert.notDeepEqual(await page.locator("#stage").screenshot(), before);
  }, {
    init: () => {
      const plain = HTMLCanvasElement.prototype.getContext;
      HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
        return kind.startsWith("webgl") ? null : plain.call(this, kind, ...rest);
      };
    },
  });

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

  it("loads nothing from anywhere else", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const foreign = [];
    const own = new URL(studio.address).host;
    page.on("request", (request) => new URL(request.url()).host !== own && foreign.push(request.url()));
    await page.goto(studio.address);
    await page.locator("#stage[data-state]").waitFor();
    assert.deepEqual(foreign, []);
    assert.equal(new URL(page.url()).search, "", "the token does not stay in the address");
    await context.close();
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
