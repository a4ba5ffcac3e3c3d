// The lab of curved spaces: every control that it names, in the browser.

import assert from "node:assert/strict";
import { describe } from "node:test";
import { withPage as onPage } from "./harness.mjs";
import {
  becomes,
  box,
  button,
  changed,
  drag,
  handle,
  letGo,
  noticeShown,
  numbersIn,
  restructured,
  revisionOf,
  setNumber,
  settled,
  stateOf,
  stride,
  velocitiesOf,
} from "./studio.mjs";

const withPage = (name, test, options) => onPage(name, test, { lab: "#/curved", ...options });

const places = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("[data-body]")].map((e) => ["x", "y", "z"].map((axis) => Number(e.dataset[axis] ?? 0))),
  );

/** Do what changes the view, and wait for its first picture. */
async function restructure(page, act) {
  const old = await revisionOf(page);
  await act();
  await restructured(page, old);
  await settled(page);
}

const choose = (page, label, value) => restructure(page, () => page.getByLabel(label, { exact: true }).selectOption(value));
const model = (page, name) => restructure(page, () => page.getByRole("radio", { name }).click());
const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-12, `${a} for ${b}`);

describe("the space and its model", () => {
  withPage("a rod lies in the ball, and is seen from its centre beside it", async (page) => {
    assert.equal(await page.locator(".stage").count(), 2);
    assert.equal(await page.locator("[data-body]").count(), 4);
    const ends = await places(page);
    for (const [i, y] of [Math.tanh(0.25), -Math.tanh(0.25)].entries()) {
      close(ends[i][1], y);
      close(ends[2 + i][1], y);
    }
    await stride(page, 3);
    const [out, , near] = await places(page);
    assert.ok(out[0] > 0.2, "it moves along x");
    close(near[0], 0);
  });

  withPage("each model shows the same state in its own way", async (page) => {
    await stride(page);
    const state = await stateOf(page);
    const [ball] = await places(page);
    await model(page, "Klein");
    assert.equal(await stateOf(page), state);
    const [klein] = await places(page);
    const square = ball.reduce((sum, x) => sum + x * x, 0);
    for (const k of [0, 1, 2]) close(klein[k], (2 * ball[k]) / (1 + square));
    await model(page, "Half-space");
    assert.equal(await stateOf(page), state);
    assert.ok((await places(page))[0][2] > 0);
    await model(page, "Poincaré");
    assert.deepEqual((await places(page))[0], ball);
  });

  withPage("spaces of each kind have their body and their models", async (page) => {
    for (const [space, models] of [
      ["s3", ["Orthographic", "Stereographic"]],
      ["h2", ["Klein", "Half-space", "Poincaré"]],
      ["hxe", ["Klein", "Poincaré"]],
      ["inhomogeneous", []],
    ]) {
      await choose(page, "Space", space);
      for (const name of models) await model(page, name);
      const old = await places(page);
      await stride(page);
      const now = await places(page);
      assert.equal(now.length, 4, space);
      assert.ok(now.flat().every(Number.isFinite), space);
      assert.notDeepEqual(now, old, space);
    }
  });

  withPage("a body comes with its vertices, and what a space cannot hold is refused", async (page) => {
    await choose(page, "Space", "s2");
    for (const [body, count] of [
      ["lattice", 18],
      ["ring", 16],
    ]) {
      await choose(page, "Body", body);
      assert.equal(await page.locator("[data-body]").count(), count, body);
    }
    await page.getByLabel("Body", { exact: true }).selectOption("tetrahedron");
    await noticeShown(page, /needs a space of three dimensions/);
    await choose(page, "Space", "s3");
    await choose(page, "Body", "tetrahedron");
    assert.equal(await page.locator("[data-body]").count(), 8);
  });
});

describe("the numbers", () => {
  withPage("say how the body starts, or act on the motion as it is", async (page) => {
    await stride(page);
    for (const [name, value] of [
      ["stiffness", 2.5],
      ["rest", 0.8],
      ["mass", 2],
    ]) {
      const before = numbersIn(await stateOf(page));
      await setNumber(page, name, value);
      await settled(page);
      assert.deepEqual(numbersIn(await stateOf(page)).slice(1), before.slice(1), `${name} changes no state`);
    }
    for (const [name, value] of [
      ["size", 0.6],
      ["radius", 2],
      ["along", 0.5],
      ["rise", 0.4],
      ["spin", 1],
      ["roll", -1],
    ]) {
      const before = await stateOf(page);
      await setNumber(page, name, value);
      await changed(page, before);
      await settled(page);
    }
    const [, , , vz] = (await velocitiesOf(page)).slice(0, 4).map(Math.abs);
    assert.ok(vz < 1, "the last is that of the time-like coordinate");
    await stride(page);
  });

  withPage("gravity has its own", async (page) => {
    await restructure(page, () => button(page, "Kepler in S³"));
    for (const [name, value] of [
      ["distance", 0.4],
      ["orbit", 4],
      ["gravity", 1.5],
    ]) {
      await setNumber(page, name, value);
      await settled(page);
    }
    close((await velocitiesOf(page))[1], 4 * Math.sin(0.4));
    assert.equal(await box(page, "stiffness").count(), 0);
  });
});

describe("rods and balls", () => {
  withPage("rods take the place of springs, and their forces are plotted", async (page) => {
    await model(page, "Rods");
    assert.equal(await box(page, "stiffness").count(), 0);
    await page.locator('.plot .canvas[aria-label^="Force of the rod 1–2"]').first().waitFor();
    await stride(page, 3);
    const [, , a, b] = await places(page);
    for (const y of [a[1], -b[1]]) close(y, Math.tanh(0.25));
    const before = await stateOf(page);
    await drag(page, 0, 25, -18);
    await changed(page, before);
    await letGo(page);
    await settled(page);
    await page.getByLabel("Space", { exact: true }).selectOption("inhomogeneous");
    await noticeShown(page, /choose springs first/);
  });

  withPage("balls bounce in as many as are asked for, and those that overlap are refused", async (page) => {
    await restructure(page, () => button(page, "Balls in S³"));
    assert.equal(await page.locator("[data-body]").count(), 16);
    await restructure(page, () => setNumber(page, "balls", 9));
    assert.equal(await page.locator("[data-body]").count(), 9);
    await setNumber(page, "inward", 2);
    await setNumber(page, "restitution", 0.8);
    const before = await places(page);
    await stride(page, 3);
    assert.notDeepEqual(await places(page), before);
    await box(page, "size").fill("0.2");
    await box(page, "size").press("Enter");
    await noticeShown(page, /overlap by/);
  });
});

describe("the hand", () => {
  withPage("brings a vertex where it points; the body then rests; undo brings all back", async (page) => {
    await stride(page);
    const before = await stateOf(page);
    const goal = await drag(page, 0, 25, -18);
    await changed(page, before);
    await letGo(page);
    await settled(page);
    const there = await handle(page, 0);
    assert.ok(Math.hypot(there.x - goal.x, there.y - goal.y) < 3, `${JSON.stringify(there)} for ${JSON.stringify(goal)}`);
    assert.ok((await velocitiesOf(page)).every((v) => v === 0));
    await button(page, "Undo");
    await becomes(page, before);
  });
});

describe("what the lab tells", () => {
  withPage("presets set the stage", async (page) => {
    await restructure(page, () => button(page, "Detector"));
    close((await places(page))[0][0], -25);
    await restructure(page, () => button(page, "Rod in H³"));
    close((await places(page))[0][1], Math.tanh(0.25));
    await restructure(page, () => button(page, "Rigid triangle in H² × E"));
    assert.equal(await page.locator("[data-body]").count(), 6);
    await stride(page, 3);
    assert.ok(Math.max(...(await places(page)).slice(0, 3).map((p) => Math.abs(p[2]))) > 0, "it leaves the plane");
  });

  withPage("equations are set by KaTeX", async (page) => {
    await button(page, "Equations");
    await page.locator("dialog .katex").nth(3).waitFor();
    assert.equal(await page.locator("dialog .katex-error").count(), 0);
  });
});
