// The Pendulum lab: every control that it names.

import assert from "node:assert/strict";
import { describe } from "node:test";
import { withPage } from "./harness.mjs";
import {
  arrives,
  box,
  button,
  changed,
  drag,
  handle,
  hasNumber,
  pixels,
  playing,
  restructured,
  revisionOf,
  setNumber,
  settled,
  slider,
  stateOf,
  stride,
  timePast,
  unfoldNumerics,
  until,
  velocitiesOf,
  withoutWebgl,
} from "./studio.mjs";

/** Do what changes the structure, and wait for its first picture. */
async function restructure(page, act) {
  const before = await revisionOf(page);
  await act();
  await restructured(page, before);
  await settled(page);
}

const springs = (page) => restructure(page, () => page.getByText("Springs", { exact: true }).click());
const rods = (page) => restructure(page, () => page.getByText("Rods", { exact: true }).click());
const ghost = (page) => restructure(page, () => page.getByLabel("Ghost", { exact: true }).click());
const links = (page, count) => restructure(page, () => setNumber(page, "links", count));

const places = (page) =>
  page.evaluate(() => [...document.querySelectorAll("[data-body]")].map((e) => [Number(e.dataset.x), Number(e.dataset.y)]));

const energy = async (page, name) => {
  const text = await page.locator(`[data-energy="${name}"]`).innerText();
  if (/·10⁻/.test(text)) return 0; // less than a thousandth
  return Number(text.replace("−", "-").replace(/[^\d.-]/g, ""));
};

const plotsOf = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll(".plot")].map((plot) =>
      [...plot.querySelectorAll("select.axis-list")]
        .map((list) => list.value)
        .concat(plot.querySelector(".foot select").value)
        .join(" | "),
    ),
  );

describe("links", () => {
  withPage("are one to ten by slider and more by box, with a number on every bob", async (page) => {
    const range = slider(page, "links");
    await range.focus();
    await restructure(page, () => page.keyboard.press("End"));
    await hasNumber(page, "links", 10);
    assert.equal(await page.locator("[data-body]").count(), 10);
    await restructure(page, () => page.keyboard.press("Home"));
    await hasNumber(page, "links", 1);
    assert.equal(await page.locator("[data-body]").count(), 1);
    await links(page, 12);
    assert.equal(await page.locator("[data-body]").count(), 12);
    await stride(page);
    const there = await places(page);
    for (let i = 0; i < 12; i++) {
      const [x, y] = [there[i][0] - (there[i - 1]?.[0] ?? 0), there[i][1] - (there[i - 1]?.[1] ?? 0)];
      assert.ok(Math.abs(Math.hypot(x, y) - 1) < 1e-9, `rod ${i + 1} keeps its length`);
    }
  });

  withPage("can be no fewer than one, and a sentence says so", async (page) => {
    await box(page, "links").fill("0");
    await box(page, "links").press("Enter");
    await page
      .locator('[data-parameter="links"] .error')
      .getByText(/^Number of links must be/)
      .waitFor();
    assert.equal(await page.evaluate(() => globalThis.probe.controls.parameters.links), 2);
  });

  withPage("have a length and a mass each", async (page) => {
    await setNumber(page, "length1", 0.5);
    await setNumber(page, "length2", 2);
    await settled(page);
    const [[x1, y1], [x2, y2]] = await places(page);
    assert.ok(Math.abs(Math.hypot(x1, y1) - 0.5) < 1e-12);
    assert.ok(Math.abs(Math.hypot(x2 - x1, y2 - y1) - 2) < 1e-12);
    const before = await energy(page, "potential");
    await setNumber(page, "mass2", 4);
    await settled(page);
    assert.notEqual(await energy(page, "potential"), before);
  });

  withPage("are dragged by inverse kinematics: the whole chain follows, at rest", async (page) => {
    await links(page, 5);
    await stride(page);
    const before = await stateOf(page);
    const old = await places(page);
    const goal = await drag(page, 4, -90, 60);
    await changed(page, before);
    await arrives(page, 4, goal, 2);
    await page.mouse.up();
    await settled(page);
    assert.deepEqual(await velocitiesOf(page), [0, 0, 0, 0, 0]);
    const moved = (await places(page)).filter(([x, y], i) => Math.hypot(x - old[i][0], y - old[i][1]) > 1e-6);
    assert.ok(moved.length >= 3, "more than the bob itself has moved");
  });
});

describe("physics", () => {
  withPage("has gravity and damping: friction takes energy away", async (page) => {
    await setNumber(page, "gravity", 0);
    await settled(page);
    assert.equal(await energy(page, "potential"), 0);
    await setNumber(page, "gravity", 20);
    await setNumber(page, "damping", 1);
    await settled(page);
    const first = await energy(page, "total");
    await stride(page, 5);
    assert.ok((await energy(page, "total")) < first - 0.5);
  });

  withPage("has a choice of methods, and explicit Euler explodes", async (page) => {
    const drift = async (method) => {
      await button(page, "Reset");
      await page.getByLabel("Method").selectOption(method);
      await settled(page);
      const start = await energy(page, "total");
      await stride(page, 20);
      return Math.abs((await energy(page, "total")) - start);
    };
    await unfoldNumerics(page);
    const options = await page.getByLabel("Method").locator("option").allInnerTexts();
    assert.ok(options.length >= 5, options.join(", "));
    assert.ok((await drift("gauss2")) < 0.01);
    const euler = await drift("euler");
    assert.ok(euler > 0.05, `explicit Euler gains energy: ${euler}`);
    while ((await page.locator('[data-readout="verdict"]').innerText()) !== "doubtful") await stride(page, 20);
    assert.match(await page.locator('[data-readout="reason"]').innerText(), /energy .* drifted by .* Reduce the step/);
  });
});

describe("springs", () => {
  withPage("take over the state of the rods, and give it back", async (page) => {
    await stride(page);
    const [rigid, kinetic] = [await places(page), await energy(page, "kinetic")];
    await springs(page);
    const elastic = await places(page);
    elastic.forEach(([x, y], i) => assert.ok(Math.hypot(x - rigid[i][0], y - rigid[i][1]) < 1e-12));
    assert.ok(Math.abs((await energy(page, "kinetic")) - kinetic) <= 0.001 + 1e-9);
    assert.equal(await energy(page, "elastic"), 0);
    await rods(page);
    (await places(page)).forEach(([x, y], i) => assert.ok(Math.hypot(x - rigid[i][0], y - rigid[i][1]) < 1e-12));
  });

  withPage(
    "are of stiffness 10 to 1000, and their colours show strain: red stretched, blue compressed",
    async (page) => {
      await springs(page);
      await slider(page, "stiffness").focus();
      await page.keyboard.press("End");
      await hasNumber(page, "stiffness", 1000);
      await page.keyboard.press("Home");
      await hasNumber(page, "stiffness", 10);
      await page.getByLabel(/^Springs: blue and thick/).waitFor();
      const [red, blue] = ["rgb(205, 20, 30)", "rgb(0, 92, 190)"].map((colour) => () => pixels(page, ".stage canvas", colour));
      await drag(page, 1, 0, 240);
      await until(
        page,
        async () => (await red()) > 200,
        async () => `red when stretched: ${await red()}`,
      );
      await page.mouse.up();
      await button(page, "Undo");
      await settled(page);
      const { x, y } = await handle(page, 0);
      const low = await handle(page, 1);
      await drag(page, 1, (x - low.x) * 0.75, (y - low.y) * 0.75);
      await until(
        page,
        async () => (await blue()) > 100,
        async () => `blue when compressed: ${await blue()}`,
      );
      await page.mouse.up();
    },
    { init: withoutWebgl },
  );
});

describe("pictures and plots", () => {
  withPage(
    "give each mass its colour, in bob, path and curve",
    async (page) => {
      await links(page, 3);
      await page.getByLabel("Trails", { exact: true }).check();
      const colours = await page.evaluate(() =>
        [...document.querySelectorAll(".state .dot")].map((s) => getComputedStyle(s).backgroundColor),
      );
      assert.equal(new Set(colours).size, 3);
      for (const colour of colours)
        await until(page, async () => (await pixels(page, ".stage canvas", colour)) > 200, `a bob in ${colour}`);
      await page.waitForFunction(() => document.querySelector(".stage").dataset.trails === "3");
      await page.getByLabel("Trails of which bodies").selectOption("last");
      await page.waitForFunction(() => document.querySelector(".stage").dataset.trails === "1");
      await page.getByLabel("Length of the trails").selectOption("8");
      await page.getByLabel("Trails", { exact: true }).uncheck();
      await page.waitForFunction(() => document.querySelector(".stage").dataset.trails === "0");
    },
    { init: withoutWebgl },
  );

  withPage(
    "draw paths that fade",
    async (page) => {
      await setNumber(page, "gravity", 9.81);
      await page.getByLabel("Trails", { exact: true }).check();
      await page.getByLabel("Length of the trails").selectOption("1");
      await stride(page, 8);
      // Along the path of the last bob, the strength of its colour falls with age: some pixels are strong, more are faint.
      const tints = () =>
        page.evaluate(() => {
          const canvas = document.querySelector(".stage canvas");
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          let [strong, faint] = [0, 0];
          for (let i = 0; i < data.length; i += 4) {
            const warmth = data[i] - data[i + 2]; // the path of the second bob is orange, the paper is not
            if (warmth > 90) strong++;
            else if (warmth > 20) faint++;
          }
          return [strong, faint];
        });
      await until(
        page,
        async () => (await tints()).every((count) => count > 100),
        async () => `strong and faint: ${await tints()}`,
      );
    },
    { init: withoutWebgl },
  );

  withPage("show angles over 40 s, angles and rates, and each angle with the next", async (page) => {
    const two = await plotsOf(page);
    assert.ok(two.includes("all:Angles | t | 40"), two.join("; "));
    assert.ok(two.includes("all:Angular velocities | all:Angles | 40"), two.join("; "));
    assert.ok(
      two.some((plot) => plot === "theta2 | theta1 | 40" || plot === "next:Angles | all:Angles | 40"),
      two.join("; "),
    );
    await links(page, 4);
    assert.ok((await plotsOf(page)).includes("next:Angles | all:Angles | 40"), (await plotsOf(page)).join("; "));
    await links(page, 1);
    const one = await plotsOf(page);
    assert.ok(one.includes("theta1 | t | 40") && one.includes("omega1 | theta1 | 40"), one.join("; "));
  });
});

describe("the ghost", () => {
  withPage("starts at its offset and drifts away: meter, both energies, Lyapunov estimate", async (page) => {
    await ghost(page);
    await setNumber(page, "ghost_offset", 0.01);
    await button(page, "Restart the ghost");
    await settled(page);
    const meter = () => page.locator('[data-meter="divergence"] meter').getAttribute("value").then(Number);
    const near = await meter();
    assert.ok(near > 0 && near < 0.1, `${near}`);
    await page.getByText("Ghost", { exact: true }).first().waitFor();
    const apart = Math.abs((await energy(page, "ghost_total")) - (await energy(page, "total")));
    assert.ok(apart < 1, `two energies side by side, ${apart} J apart`);
    for (const name of ["ghost_kinetic", "ghost_potential", "ghost_total"])
      assert.equal(await page.locator(`[data-bar="${name}"]`).count(), 1);
    await setNumber(page, "speed", 5);
    await button(page, "Play");
    // They come near each other again at times, so the distance at some later moment says nothing.
    await until(
      page,
      async () => (await meter()) > 10 * near,
      async () => `${await meter()} after ${near}`,
    );
    await timePast(page, 12);
    await button(page, "Pause");
    await playing(page, false);
    await settled(page);
    assert.match(await page.locator('[data-meter="lyapunov"] .amount').innerText(), /\d/);
    assert.ok(
      (await plotsOf(page)).some((plot) => plot.startsWith("divergence | t")),
      "its distance is plotted",
    );
  });
});
