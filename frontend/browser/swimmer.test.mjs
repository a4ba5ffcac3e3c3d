// The Swimmer lab: gaits drawn with mouse and by touch move as Python says, and every control that the lab has.

import assert from "node:assert/strict";
import { describe } from "node:test";
import { withPage as onPage } from "./harness.mjs";
import {
  button,
  noticeShown,
  numbersIn,
  restructured,
  revisionOf,
  runPython,
  setNumber,
  settled,
  stateOf,
  stride,
  until,
} from "./studio.mjs";

const withPage = (name, test, options) => onPage(name, test, { lab: "#/swimmer", ...options });
const textOf = (page) => page.evaluate(() => globalThis.probe.controls.texts.gait);
const shapes = (page) => page.locator('[data-stage="1"]');
const field = (page) => shapes(page).getAttribute("data-field");
const TOUCH = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

/** Change the gait by `act` and wait until the studio has it. */
async function changesGait(page, act) {
  const old = await textOf(page);
  await act();
  await until(page, async () => (await textOf(page)) !== old, "The gait should change.");
  await settled(page);
  return textOf(page);
}

/** A point of a loop around the middle of the picture of shapes, in pixels, and how many there are. */
const POINTS = 90;
async function around(page, part = 0.16) {
  const { x, y, width, height } = await shapes(page).boundingBox();
  const size = part * Math.min(width, height);
  return (i) => {
    const turn = (2 * Math.PI * i) / POINTS;
    const far = size * (1 + 0.25 * Math.sin(3 * turn));
    return { x: x + width / 2 + far * Math.cos(turn), y: y + height / 2 + far * Math.sin(turn) };
  };
}

/** Draw such a loop with the mouse. */
async function draws(page, part) {
  const at = await around(page, part);
  await button(page, "Draw");
  await page.mouse.move(at(0).x, at(0).y);
  await page.mouse.down();
  for (let i = 1; i < POINTS; i++) await page.mouse.move(at(i).x, at(i).y);
  await page.mouse.up();
}

/** The exported program computes what one stroke of motion on the page does, to 1e-9. */
async function movesAsPythonSays(page) {
  await setNumber(page, "period", 0.5);
  await button(page, "Reset");
  await settled(page);
  await stride(page, 3); // thirty frames are half a second
  const place = numbersIn(await stateOf(page)).slice(2, 5);
  await page.locator("summary", { hasText: "Export" }).click();
  await page.locator(".menu button", { hasText: "Python" }).click();
  const code = await page.locator("dialog pre").innerText();
  const points = JSON.parse(await textOf(page));
  assert.ok(
    points.every(([x, y]) => code.includes(`[${x}, ${y}]`)),
    "The program should hold every digit of the points.",
  );
  const out = await runPython(`${code}\nimport json\nprint(json.dumps(np.asarray(found.displacement).tolist()))`);
  const wanted = JSON.parse(out.trim().split("\n").at(-1));
  assert.ok(Math.hypot(...wanted) > 1e-3, `${wanted}`);
  for (const [i, value] of wanted.entries()) assert.ok(Math.abs(place[i] - value) < 1e-9, `${place} should be ${wanted}`);
}

describe("a drawn gait", () => {
  withPage("drawn with the mouse moves the swimmer as Python says", async (page) => {
    await changesGait(page, () => draws(page, 0.16));
    await movesAsPythonSays(page);
  });

  withPage(
    "drawn by touch on a phone moves the swimmer as Python says",
    async (page) => {
      await page.getByRole("button", { name: "Draw" }).tap();
      const at = await around(page);
      await changesGait(page, async () => {
        const session = await page.context().newCDPSession(page);
        await session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [at(0)] });
        for (let i = 1; i < POINTS; i++) await session.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: [at(i)] });
        await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
      });
      await movesAsPythonSays(page);
    },
    TOUCH,
  );

  withPage("is refused in a sentence where links would cross, and the motion goes on", async (page) => {
    await draws(page, 0.36); // joint angles of half a turn and more
    await page.getByText("overlap or cross").first().waitFor();
    await changesGait(page, () => button(page, "Figure eight"));
    await until(page, async () => (await page.getByText("overlap or cross").count()) === 0, "The refusal should go.");
  });
});

describe("the controls of the Swimmer lab", () => {
  withPage("the curve that is drawn is the spline of its points, or straight lines", async (page) => {
    const path = () => shapes(page).locator(".curve path.line").getAttribute("d");
    /** The size of the second derivative within each piece; straight ones have none. */
    const bend = async () => {
      const numbers = (await path()).match(/-?[\d.]+/g).map(Number);
      let most = 0;
      for (let i = 0; i + 7 < numbers.length; i += 6) {
        const [ax, ay, bx, by, cx, cy] = numbers.slice(i, i + 6);
        most = Math.max(most, Math.hypot(ax - 2 * bx + cx, ay - 2 * by + cy));
      }
      return most;
    };
    assert.ok((await bend()) > 0.1, await path());
    await page.getByLabel("Smooth gait").click();
    await settled(page);
    assert.ok((await bend()) < 0.05, await path()); // numbers are written with two decimals
  });

  withPage("what takes some seconds is said, and is no mistake", async (page) => {
    await button(page, "Optimise");
    await noticeShown(page, /takes some seconds/);
    assert.equal(await page.locator(".refusal").count(), 0);
  });

  withPage("buttons set the gait; choices colour the shapes; each can be undone", async (page) => {
    const first = await textOf(page);
    for (const name of ["Figure eight", "Reverse", "Ellipse"]) await changesGait(page, () => button(page, name));
    assert.equal(await textOf(page), first);
    for (const [label, option] of [
      ["Curvature along", "θ"],
      ["Curvature along", "y"],
      ["Frame", "Body"],
    ]) {
      const old = await field(page);
      await page
        .getByRole("group", { name: label })
        .or(page.getByRole("radiogroup", { name: label }))
        .getByText(option, { exact: true })
        .click();
      await until(page, async () => (await field(page)) !== old, `${label} ${option} should colour the shapes anew.`);
    }
    await page.getByLabel("Smooth gait").click();
    await settled(page);
    assert.equal(await page.evaluate(() => globalThis.probe.controls.toggles.smooth), false);
    await button(page, "Undo");
    await settled(page);
    assert.equal(await page.evaluate(() => globalThis.probe.controls.toggles.smooth), true);
    await setNumber(page, "purcell_drag_ratio", 1.5);
    await setNumber(page, "purcell_drag", 2);
    await setNumber(page, "purcell_length", 0.8);
  });

  withPage("another mover has its own controls, picture and gait", async (page) => {
    const [before, gait] = [await revisionOf(page), await textOf(page)];
    await page.getByLabel("Mover").selectOption("spheres");
    await restructured(page, before);
    await settled(page);
    assert.notEqual(await textOf(page), gait);
    await setNumber(page, "spheres_radius", 0.15);
    assert.equal(await page.locator("[data-parameter=purcell_length]").count(), 0);
    await until(page, async () => /B/.test(await field(page)), "a curvature of the body's frame");
  });
});
