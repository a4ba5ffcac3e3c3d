// Plots: any variable against any, formulas, sections, one of them enlarged, and what becomes of them by undo and links.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe } from "node:test";
import { withPage } from "./harness.mjs";
import { axe, button, closed, restructured, revisionOf, setNumber, settled, sharedLink, shown, stateOf, stride, until } from "./studio.mjs";

const rows = (page, place = 0) => page.locator(".plot .canvas").nth(place).getAttribute("data-rows").then(Number);
const name = (page, place = 0) => page.locator(".plot .canvas").nth(place).getAttribute("aria-label");
const called = (page, wanted, place = 0) =>
  until(
    page,
    async () => wanted.test(await name(page, place)),
    async () => `${wanted}, but it is ${await name(page, place)}`,
  );
const saved = async (page, kind) => {
  const [file] = await Promise.all([page.waitForEvent("download"), button(page, `Save ${kind}`)]);
  return readFileSync(await file.path());
};

describe("a plot", () => {
  withPage("is enlarged by a click, takes typed formulas, shows a section, and is saved", async (page) => {
    await stride(page, 30);
    const box = await page.locator(".plot .canvas").first().boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    const readout = page.locator(".plot .readout").first();
    await until(
      page,
      async () => /^t = [\d.]+\u202fs\nθ₁ = /.test(await readout.innerText()),
      async () => readout.innerText(),
    );
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    const sheet = page.locator("dialog[open]");
    await sheet.getByLabel("Vertical axis, enlarged").selectOption("=");
    const formula = sheet.getByLabel("Vertical formula");
    assert.equal(await formula.inputValue(), "theta1"); // a formula starts from what was there
    await formula.fill("p1 + p3*t");
    assert.equal(await sheet.locator(".formula-error mark").innerText(), "p3");
    assert.match(await sheet.locator(".formula-error").innerText(), /There is no variable “p3”\.$/);
    await axe(page);
    await formula.press("Enter");
    await settled(page);
    assert.match(await name(page), /^theta1 against/); // what cannot be computed is not taken
    await formula.fill("p1 + p2*t");
    await formula.press("Enter");
    await called(page, /^p1 \+ p2\*t against time/);
    await settled(page);
    const table = (await saved(page, "CSV")).toString().trim().split("\r\n");
    assert.equal(table[0], "t / s,p1 + p2*t");
    assert.equal(table.length - 1, await rows(page));
    await sheet.getByLabel("Horizontal axis, enlarged").selectOption("bob2_x");
    await called(page, /against x of bob 2/);
    await sheet.getByLabel("Poincaré section").check();
    await sheet.getByLabel("Value of the section").fill("pi/2");
    await sheet.getByLabel("Value of the section").press("Enter");
    await called(page, /where Angle 1 passes upwards through 1\.57/);
    await settled(page); // the chart, of which the file is made, follows by an effect
    const drawing = (await saved(page, "SVG")).toString();
    assert.match(drawing, /^<svg [^>]*width="640" height="640"/); // not over time, so square
    assert.match(drawing, />p1 \+ p2\*t<\/text>/);
    const image = await saved(page, "PNG");
    assert.equal(image.readUInt32BE(16), 1280);
    await page.keyboard.press("Escape");
    await until(page, async () => (await page.locator("dialog[open]").count()) === 0, "the sheet is closed");
  });

  withPage("keeps its place in undo and in links, and starts anew with another structure", async (page) => {
    await page.getByLabel("Vertical axis of plot 1").selectOption("tension2");
    await called(page, /^Tension of link 2 against time/);
    await page.getByLabel("Seconds shown in plot 1").selectOption("0");
    await called(page, /the whole run/);
    await settled(page);
    await button(page, "Undo");
    await called(page, /^Tension of link 2 against time, the last 40 seconds/);
    await button(page, "Undo");
    await called(page, /^Angles against time/);
    await button(page, "Redo");
    await called(page, /^Tension of link 2/);
    const link = await sharedLink(page);
    await closed(page);
    const other = await page.context().newPage();
    await other.goto(link);
    await shown(other);
    await called(other, /^Tension of link 2/);
    await other.close();
    await stride(page, 2);
    await until(page, async () => (await rows(page)) >= 3, "three rows");
    const before = await revisionOf(page);
    await setNumber(page, "links", 3);
    await restructured(page, before);
    await settled(page); // charts are drawn in turns, and the last of them is waited for
    assert.ok((await rows(page)) <= 1, `${await rows(page)} rows of a motion with three links that has just begun`);
    await called(page, /^Tension of link 2/);
  });

  withPage("stays with a preset that has its variables, and is undone without the motion", async (page) => {
    await page.getByLabel("Vertical axis of plot 1").selectOption("tension2");
    await page.getByLabel("Vertical axis of plot 2").selectOption("tension1");
    await settled(page);
    await page.locator('[data-preset="rewind"]').click();
    await page.waitForFunction(() => globalThis.probe.controls.parameters.links === 4);
    await settled(page);
    await called(page, /^Tension of link 2/);
    await page.locator('[data-preset="moon"]').click();
    await page.waitForFunction(() => globalThis.probe.controls.parameters.gravity === 1.62);
    await settled(page);
    const links = await page.evaluate(() => globalThis.probe.controls.parameters.links);
    await called(page, links === 1 ? /^Tension of link 1/ : /^Tension of link 2/);
    await page.getByLabel("Vertical axis of plot 1").selectOption("kinetic");
    await settled(page);
    await stride(page, 2);
    const state = await stateOf(page);
    await button(page, "Undo"); // the second stride
    await button(page, "Undo"); // the first
    await button(page, "Undo"); // the plot
    await settled(page);
    await called(page, /^Tension/);
    await button(page, "Redo");
    await called(page, /^Kinetic/);
    await stride(page, 2);
    assert.equal(await stateOf(page), state);
    await page.getByLabel("Vertical axis of plot 1").selectOption("potential");
    await settled(page);
    await stride(page, 1);
    const later = await stateOf(page);
    await page.getByLabel("Vertical axis of plot 1").selectOption("total");
    await settled(page);
    await button(page, "Undo");
    await called(page, /^Potential/);
    assert.equal(await stateOf(page), later);
  });
});

describe("sound", () => {
  withPage("is off until it is wanted, and its two variables are part of the layout", async (page) => {
    const sound = page.locator(".sound");
    assert.equal(await page.getByLabel("Sound", { exact: true }).isChecked(), false);
    await page.getByLabel("Sound", { exact: true }).check();
    await sound.getByLabel("pitch").selectOption("omega2");
    await stride(page, 6);
    const hertz = () => sound.getAttribute("data-hertz").then(Number);
    await until(
      page,
      async () => (await hertz()) >= 110 && (await hertz()) <= 880,
      async () => `${await hertz()} Hz`,
    );
    await settled(page);
    assert.match(await page.evaluate(() => globalThis.probe.controls.texts.page), /"sound":{"pitch":"omega2","loudness":"kinetic"}/);
    await page.getByLabel("Sound", { exact: true }).uncheck();
    await until(page, async () => (await sound.getAttribute("data-hertz")) === null, "silence");
  });
});
