// The Workbench: systems that are no presets, typed and moving; mistakes told at their characters.

import assert from "node:assert/strict";
import { describe } from "node:test";
import { withPage as onPage } from "./harness.mjs";
import { axe, box, button, hasNumber, numbersIn, setNumber, settled, slider, stateOf, timePast, until } from "./studio.mjs";

const withPage = (name, test) => onPage(name, test, { lab: "#/workbench" });
const EMPTY = { positions: "", masses: "", potential: "", lines: "", constraints: "", forces: "", definitions: "" };

const SYSTEMS = {
  "a bead on a parabola": {
    coordinates: "s length",
    lagrangian: "m*(1 + 4*a^2*s^2)*s_dot^2/2 - m*g*a*s^2",
    parameters: "m = 1, a = 0.5, g = 9.81",
    start: "s = 1",
  },
  "a particle on a rod, in Cartesian coordinates": {
    coordinates: "u length, w length",
    lagrangian: "",
    positions: "u, w",
    masses: "m",
    potential: "m*g*w",
    constraints: "u^2 + w^2 = l^2",
    parameters: "m = 1, g = 9.81, l = 1",
    start: "u = l, w = 0",
  },
  "a damped cart with a spring": {
    coordinates: "z length, chi angle",
    lagrangian: "(M + m)*z_dot^2/2 + m*l*cos(chi)*z_dot*chi_dot + m*l^2*chi_dot^2/2 + m*g*l*cos(chi) - k*z^2/2",
    forces: "z = -c*z_dot",
    parameters: "M = 2, m = 1, l = 1, g = 9.81, k = 10, c = 0.3",
    start: "z = 0.3, chi = 1",
  },
};

/** Open the groups of texts that are closed, since a box must be seen to be typed into. */
async function open(page) {
  await page.locator('[data-text="coordinates"] textarea:enabled').waitFor({ state: "attached", timeout: 600_000 });
  await page.evaluate(() => {
    for (const group of document.querySelectorAll("details.group")) group.open = true;
  });
  const widths = await page.$$eval("[data-text]", (all) => all.map((e) => e.querySelector("textarea").clientWidth / e.clientWidth));
  assert.ok(Math.min(...widths) > 0.9, `boxes take ${widths} of the column`);
}

/** Type a text as one would: all of it, then leave the box. */
async function type(page, name, value) {
  await page.evaluate(() => {
    for (const group of document.querySelectorAll("details.group")) group.open = true;
  });
  const box = page.locator(`[data-text="${name}"] textarea`);
  await box.fill(value);
  await box.blur();
  await settled(page);
}

const text = (page, name) => page.locator(`[data-text="${name}"] textarea`);
const refusals = (page) => page.locator("[data-refusal]").count();

describe("the Workbench", () => {
  for (const [name, texts] of Object.entries(SYSTEMS))
    withPage(`moves ${name}, typed one text after the other`, async (page) => {
      await open(page);
      let began = 0;
      for (const [setting, value] of Object.entries({ ...EMPTY, ...texts })) {
        began = Date.now();
        await type(page, setting, value);
      }
      await until(page, async () => (await refusals(page)) === 0);
      const size = texts.coordinates.split(",").length;
      const numbers = async () => numbersIn(await stateOf(page));
      await until(
        page,
        async () => (await numbers()).length === 1 + 2 * size,
        async () => `a state of ${size} coordinates, but it is ${await numbers()}`,
      );
      await settled(page);
      const start = await numbers();
      console.log(`# ${name}: from the last text to its picture in ${Date.now() - began} ms`);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Play" }).click();
      await timePast(page, start[0] + 0.2);
      const moved = async () => (await numbers()).some((value, i) => i >= 1 && i <= size && value !== start[i]);
      await until(page, moved, "the coordinates should change with time");
    });

  withPage("marks the characters that are wrong, and keeps what was typed", async (page) => {
    await open(page);
    const wrong = "m*l^2*(theta_dot^2 + sin(theta)^2*phi_dot^2)/2 + m*h*l*cos(theta)";
    await type(page, "lagrangian", wrong);
    const box = page.locator('[data-text="lagrangian"]');
    await box.locator("mark").waitFor();
    assert.equal(await box.locator("mark").innerText(), "h");
    assert.match(await page.locator('[data-refusal="lagrangian"]').innerText(), /uses "h", which is not defined/);
    assert.equal(await box.locator("textarea").inputValue(), wrong);
    await type(page, "lagrangian", wrong.replace("h*l", "g*l"));
    await until(page, async () => (await refusals(page)) === 0);
  });

  withPage("what the library refuses does not run: the reason stays at its field until it is mended", async (page) => {
    const banner = page.locator(".notice.shown");
    await open(page);
    await type(page, "parameters", "m = -1, g = 9.81, l = 1");
    const refusal = page.locator('[data-refusal="parameters"]');
    assert.match(await refusal.innerText(), /negative kinetic energy/);
    assert.match(await banner.innerText(), /^Not running, because: Some velocities have negative kinetic energy/);
    assert.equal(await box(page, "m").inputValue(), "-1", "the box and the text say the same");
    assert.ok(await page.getByRole("button", { name: "Play" }).isDisabled());
    assert.ok(await page.getByRole("button", { name: "Equations", exact: true }).isDisabled());
    const state = await stateOf(page);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Space"); // as if to play
    await settled(page);
    assert.equal(await stateOf(page), state, "nothing moves");
    assert.equal(await refusals(page), 1);
    assert.match(await banner.innerText(), /^Not running/);
    await axe(page, "a system that does not run");
    await setNumber(page, "m", 2);
    assert.equal(await refusals(page), 0);
    assert.equal(await text(page, "parameters").inputValue(), "m = 2, g = 9.81, l = 1");
    assert.equal(await banner.count(), 0);
    assert.ok(await page.getByRole("button", { name: "Equations", exact: true }).isEnabled());
  });

  withPage("a slider, its box and the text are one number", async (page) => {
    await open(page);
    const written = () => text(page, "parameters").inputValue();
    const m = slider(page, "m");
    await m.press("End");
    await until(
      page,
      async () => /^m = 3,/.test(await written()),
      async () => `the text should have m = 3: ${await written()}`,
    );
    await hasNumber(page, "m", 3);
    await type(page, "parameters", (await written()).replace("m = 3", "m = 0.5"));
    await hasNumber(page, "m", 0.5);
    await setNumber(page, "m", 20); // beyond the slider
    await until(page, async () => /^m = 20,/.test(await written()), "the text should have m = 20");
    await type(page, "lagrangian", `${await text(page, "lagrangian").inputValue()} + h`); // wrong, and told so meanwhile:
    await m.press("Home");
    await settled(page);
    await type(page, "lagrangian", (await text(page, "lagrangian").inputValue()).replace(" + h", ""));
    const fault = page.locator("[data-refusal]"); // at zero nothing resists a force
    await until(
      page,
      async () => /a mass is zero/.test((await fault.allInnerTexts()).join()),
      () => fault.allInnerTexts(),
    );
    assert.match(await written(), /^m = 0,/);
    await button(page, "Undo");
    await settled(page);
  });

  withPage("constraints that contradict each other have no nearest start", async (page) => {
    await open(page);
    await button(page, "Particle on an elliptical wire");
    await settled(page);
    await type(page, "constraints", "x^2/a^2 + y^2/b^2 = 1, y = 2*b");
    const said = () => page.locator("[data-refusal]").allInnerTexts();
    await until(page, async () => (await said()).some((one) => /contradict each other/.test(one)), said);
    assert.ok(!(await said()).some((one) => /nearest/.test(one)), await said());
    await type(page, "constraints", "x^2/a^2 + y^2/b^2 = 1");
    await until(page, async () => (await refusals(page)) === 0);
  });
});
