// The lab of sphere linkages: every control that it names, and what can be done with hand and keyboard.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "node:test";
import { withPage as onPage } from "./harness.mjs";
import {
  axe,
  becomes,
  box,
  button,
  changed,
  drag,
  handle,
  letGo,
  noticeShown,
  numbersIn,
  playing,
  restructured,
  revisionOf,
  runPython,
  setNumber,
  settled,
  sharedLink,
  shown,
  slider,
  stateOf,
  stride,
  tapped,
  timeOf,
  timePast,
  until,
  velocitiesOf,
} from "./studio.mjs";

const POINT = 3;
const withPage = (name, test, options) => onPage(name, test, { lab: "#/linkage", ...options });

const sphere = (page) => page.locator('[data-stage="1"]');
const surface = (page) => sphere(page).getAttribute("data-surface");
const lines = async (page, count) =>
  page.waitForFunction((n) => document.querySelector('[data-stage="1"]').dataset.lines === String(n), count);

const places = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("[data-body]")].map((e) => ["x", "y", "z"].map((axis) => Number(e.dataset[axis] ?? 0))),
  );

async function rodLengths(page, base = 3) {
  const hinges = (await places(page)).slice(0, 3);
  const chain = [[-base / 2, 0], ...hinges, [base / 2, 0]];
  return chain.slice(1).map(([x, y], i) => Math.hypot(x - chain[i][0], y - chain[i][1]));
}

async function rodsKept(page, base) {
  for (const length of await rodLengths(page, base)) assert.ok(Math.abs(length - 1) < 1e-12, `${length}`);
}

/** Do what changes the structure, and wait for its first picture. */
async function restructure(page, act) {
  const old = await revisionOf(page);
  await act();
  await restructured(page, old);
  await settled(page);
}

/** Wait for another picture of the sphere than this one, and return it. */
async function another(page, picture) {
  const look = async () => {
    const now = await sphere(page).screenshot();
    return picture.equals(now) ? null : now;
  };
  return until(page, look, "another picture of the sphere");
}

const reading = async (page, name) =>
  Number(
    (await page.locator(`[data-meter="${name}"] .amount`).innerText())
      .replace("−", "-")
      .replace(/\s.*$/s, "")
      .replace(/[^\d.eE-].*$/s, ""),
  );

/** Take a body, swing it by so many pixels within 32 milliseconds by the clock of the events, and let go while it moves. */
async function toss(page, body, dx, dy) {
  const { x, y } = await handle(page, body);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.evaluate(
    ([index, left, top, right, down]) => {
      const button = document.querySelector(`[data-body="${index}"]`);
      const start = performance.now();
      const say = (type, part) => {
        const event = new PointerEvent(type, { pointerId: 1, bubbles: true, clientX: left + part * right, clientY: top + part * down });
        Object.defineProperty(event, "timeStamp", { value: start + 32 * part });
        button.dispatchEvent(event);
      };
      for (let i = 1; i <= 8; i++) say("pointermove", i / 8);
      say("pointerup", 1);
    },
    [body, x, y, dx, dy],
  );
  await page.mouse.up();
}

describe("the linkage and its sphere", () => {
  withPage("stand side by side: three hinges and a point, which move together", async (page) => {
    assert.equal(await page.locator(".stage").count(), 2);
    assert.equal(await page.locator('[data-stage="0"] [data-body]').count(), 3);
    assert.equal(await sphere(page).locator("[data-body]").count(), 1);
    const old = await places(page);
    await stride(page, 2);
    await rodsKept(page);
    const now = await places(page);
    for (const i of [0, 1, 2, POINT]) assert.notDeepEqual(now[i], old[i]);
    const [, x1, x2, x3] = numbersIn(await stateOf(page));
    assert.deepEqual(now[POINT], [x2, x3, x1]);
    assert.ok(Math.abs(Math.hypot(...now[POINT]) - 1) < 1e-12);
  });

  withPage(
    "move by themselves, and leave paths",
    async (page) => {
      await timePast(page, 0.4);
      assert.equal(await sphere(page).getAttribute("data-trails"), "1");
      assert.equal(await page.locator('[data-stage="0"]').getAttribute("data-trails"), "3");
      await button(page, "Pause");
      await playing(page, false);
      await settled(page);
      await rodsKept(page);
    },
    { playing: true },
  );

  withPage("step back through the very states, and reset to the first", async (page) => {
    const states = [await stateOf(page)];
    for (let i = 0; i < 3; i++) {
      await tapped(page, "Step forward");
      states.push(await changed(page, states.at(-1)));
    }
    for (const earlier of states.slice(0, -1).reverse()) {
      await tapped(page, "Step back");
      await becomes(page, earlier);
    }
    await stride(page);
    await page.keyboard.press("r");
    await becomes(page, states[0]);
  });
});

describe("the hand", () => {
  withPage("brings a hinge where it points; the rods keep their lengths, the linkage rests; undo brings all back", async (page) => {
    await stride(page);
    const before = await stateOf(page);
    const [x, y] = (await places(page))[1]; // towards the middle of the base, which every chain can reach
    const goal = await drag(page, 1, (-18 * x) / Math.hypot(x, y), (18 * y) / Math.hypot(x, y));
    await changed(page, before);
    await letGo(page);
    await settled(page);
    const there = await handle(page, 1);
    assert.ok(Math.hypot(there.x - goal.x, there.y - goal.y) < 3, `${JSON.stringify(there)} for ${JSON.stringify(goal)}`);
    await rodsKept(page);
    await button(page, "Undo");
    await becomes(page, before);
  });

  withPage("brings the point where it points, on its side of the sphere", async (page) => {
    const before = await stateOf(page);
    const goal = await drag(page, POINT, 30, 40);
    await changed(page, before);
    await letGo(page);
    await settled(page);
    const there = await handle(page, POINT);
    assert.ok(Math.hypot(there.x - goal.x, there.y - goal.y) < 1.5, `${JSON.stringify(there)} for ${JSON.stringify(goal)}`);
    await rodsKept(page);
  });

  withPage("throws the point along a geodesic", async (page) => {
    const before = await stateOf(page);
    await toss(page, POINT, 60, 30);
    await changed(page, before);
    await settled(page);
    const thrown = await velocitiesOf(page);
    assert.ok(Math.hypot(...thrown) > 0.3, `${thrown}`);
    const energy = await page.locator('[data-energy="kinetic"]').innerText();
    await stride(page, 3);
    assert.equal(await page.locator('[data-energy="kinetic"]').innerText(), energy, "free motion keeps its energy");
    assert.notDeepEqual(await velocitiesOf(page), thrown);
  });

  withPage("throws a hinge too", async (page) => {
    const before = await stateOf(page);
    await toss(page, 1, 25, -20);
    await changed(page, before);
    await settled(page);
    assert.ok(Math.hypot(...(await velocitiesOf(page))) > 0.05);
    await rodsKept(page);
  });

  withPage("turns the sphere beside its points", async (page) => {
    const camera = () => sphere(page).getAttribute("data-camera");
    const [first, state] = [await camera(), await stateOf(page)];
    const area = await sphere(page).boundingBox();
    await page.mouse.move(area.x + area.width / 2, area.y + 0.85 * area.height);
    await page.mouse.down();
    await page.mouse.move(area.x + area.width / 2 + 80, area.y + 0.85 * area.height - 20);
    await page.mouse.up();
    const turned = await until(page, async () => (await camera()) !== first && camera(), "another view of the sphere");
    await sphere(page).focus();
    await page.keyboard.press("ArrowLeft");
    await until(page, async () => (await camera()) !== turned, "another view of the sphere");
    assert.equal(await stateOf(page), state, "the motion does not care");
  });

  withPage("can be the keyboard alone", async (page) => {
    const before = await stateOf(page);
    for (let i = 0; i < 60 && !(await page.evaluate(() => document.activeElement?.dataset?.body === "0")); i++)
      await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowUp");
    await changed(page, before);
    await settled(page); // taken, moved and let go, each of which may be shown by itself
    const moved = await stateOf(page);
    for (let i = 0; i < 24 && !(await page.evaluate(() => document.activeElement?.dataset?.body === "3")); i++)
      await page.keyboard.press("Tab");
    await page.keyboard.press("Shift+ArrowLeft");
    await changed(page, moved);
    await settled(page);
    await page.keyboard.press("Control+z");
    await becomes(page, moved);
    await page.keyboard.press("Control+z");
    await becomes(page, before);
  });
});

describe("settings", () => {
  withPage("colour the sphere by K or by |II|², with numbers on the scale", async (page) => {
    await until(page, async () => /^K /.test((await surface(page)) ?? ""), "the sphere should be coloured by K");
    const key = sphere(page).locator(".key.colours");
    assert.match(await key.getAttribute("aria-label"), /^Colours: Gaussian curvature from .* to /);
    const first = await sphere(page).screenshot();
    await page.getByText("|II|²", { exact: true }).click();
    await page.waitForFunction(() => document.querySelector('[data-stage="1"]').dataset.surface?.startsWith("|II|²"));
    await settled(page);
    await until(page, async () => /^Colours: Total bending/.test(await key.getAttribute("aria-label")), "its key should say so");
    await another(page, first);
    await button(page, "Undo");
    await page.waitForFunction(() => document.querySelector('[data-stage="1"]').dataset.surface?.startsWith("K"));
  });

  withPage("of base and masses change colours and motion at once, and compile nothing", async (page) => {
    const revision = await revisionOf(page);
    for (const [name, value] of [
      ["base", 3.6],
      ["base", 2.3],
      ["rod_mass", 1.5],
      ["hinge_mass", 0.2],
    ]) {
      const old = await surface(page);
      await setNumber(page, name, value);
      await page.waitForFunction((was) => document.querySelector('[data-stage="1"]').dataset.surface !== was, old);
      await settled(page);
      if (name === "base") await rodsKept(page, value);
    }
    const old = await surface(page);
    await slider(page, "base").focus();
    await page.keyboard.press("End");
    await page.waitForFunction((was) => document.querySelector('[data-stage="1"]').dataset.surface !== was, old);
    await settled(page);
    assert.equal(await revisionOf(page), revision);
    await rodsKept(page, 3.98);
  });

  withPage("that make no sense are refused in a sentence", async (page) => {
    await box(page, "base").fill("4.5");
    await box(page, "base").press("Enter");
    await page
      .locator('[data-parameter="base"] .error')
      .getByText(/^Length of the base must be between/)
      .waitFor();
    await box(page, "hinge_mass").fill("0");
    await box(page, "hinge_mass").press("Enter");
    await noticeShown(page, /cannot both be without mass/);
    assert.equal(await page.evaluate(() => globalThis.probe.controls.parameters.hinge_mass), 1);
  });

  withPage("have other numbers of rods: three make a circle, and that is said", async (page) => {
    await restructure(page, () => setNumber(page, "rods", 3));
    assert.equal(await page.locator('[data-stage="0"] [data-body]').count(), 2);
    await page.getByText("With three rods the configurations form a circle.").first().waitFor();
    assert.equal(await surface(page), null);
    const before = await stateOf(page);
    await drag(page, 2, 30, 40);
    await changed(page, before);
    await letGo(page);
    await settled(page);
    const [[x1, y1], [x2, y2]] = await places(page);
    for (const span of [Math.hypot(x1 + 1, y1), Math.hypot(x2 - x1, y2 - y1), Math.hypot(1 - x2, y2)])
      assert.ok(Math.abs(span - 1) < 1e-12);
    await button(page, "Undo");
    await becomes(page, before);
    await settled(page);
    await restructure(page, () => button(page, "Undo"));
    assert.equal(await page.locator('[data-stage="0"] [data-body]').count(), 3);
  });
});

// One route, because each compiles for seconds: the numbers of all are tests/studio/labs/test_linkage.py.
describe("two routes", () => {
  withPage("at once: the sphere beside rods, and their distance", async (page) => {
    await restructure(page, () => page.getByLabel("Compare with").selectOption("rods"));
    await stride(page, 3);
    const axes = await page.locator("select.axis-list").evaluateAll((lists) => lists.map((list) => list.value));
    assert.ok(axes.includes("divergence"), axes.join(", "));
    const apart = await page.locator(".plot .canvas").last().getAttribute("aria-label");
    assert.match(apart, /Distance of the two routes/);
    assert.equal(await page.locator("[data-body]").count(), 4, "the second motion cannot be held");
  });
});

describe("geodesics", () => {
  withPage("leave in a fan of any length, from where the motion began or from here", async (page) => {
    await page.getByLabel("Geodesic fan").click();
    await lines(page, 32);
    await settled(page);
    const first = await sphere(page).screenshot();
    await setNumber(page, "fan_length", 1.5);
    await settled(page);
    const shorter = await another(page, first);
    await stride(page);
    await button(page, "Fan from here");
    await settled(page);
    await another(page, shorter);
    await page.getByLabel("Geodesic fan").click();
    await lines(page, 0);
  });

  withPage("join two marks by the shortest motion, which can be played", async (page) => {
    const start = (await places(page))[POINT];
    await button(page, "Mark A here");
    await stride(page, 5);
    const goal = (await places(page))[POINT];
    await button(page, "Mark B here");
    await lines(page, 1);
    await page.getByText(/^A to B: length \d/).waitFor();
    await settled(page);
    assert.deepEqual(await sphere(page).locator(".axes b").allInnerTexts(), ["A", "B"]);
    await setNumber(page, "speed", 5);
    await settled(page);
    const marked = await stateOf(page);
    /** The motion takes four seconds and then stops by itself: nothing has to be caught while it runs. */
    const moves = async () => {
      const time = await timeOf(page);
      await button(page, "Move from A to B");
      await timePast(page, time + 3.9);
      await playing(page, false);
      await settled(page);
      const there = (await places(page))[POINT];
      assert.ok(Math.hypot(...there.map((x, i) => x - goal[i])) < 1e-3, `${there} for ${goal}`);
    };
    await moves();
    await button(page, "Undo"); // to where B was marked
    await becomes(page, marked);
    await settled(page);
    await moves();
    await button(page, "Clear marks");
    await lines(page, 0);
    await page.getByRole("button", { name: "Move from A to B" }).waitFor({ state: "detached" });
    await button(page, "Undo");
    await lines(page, 1);
    assert.notDeepEqual(start, goal);
  });
});

describe("forces", () => {
  withPage("of the rods are plotted, and together they are what bends the path", async (page) => {
    const axes = await page.locator("select.axis-list").evaluateAll((lists) => lists.map((list) => list.value));
    assert.ok(axes.includes("all:Rod tensions"), axes.join(", "));
    for (let i = 0; i < 3; i++) {
      await stride(page);
      const [bending, pull] = [await reading(page, "bending"), await reading(page, "pull")];
      assert.ok(bending > 0);
      assert.equal(pull, bending);
    }
  });
});

describe("taking it along", () => {
  /** A state with everything in it. */
  async function someState(page) {
    await setNumber(page, "rod_mass", 0.7);
    await button(page, "Mark A here");
    await stride(page, 2);
    return stateOf(page);
  }

  withPage("a link opens the very state again, marks and all", async (page) => {
    const state = await someState(page);
    await button(page, "Mark B here");
    await lines(page, 1);
    const link = await sharedLink(page);
    assert.match(new URL(link).hash, /^#\/linkage\?s=[\w-]+$/);
    const other = await page.context().newPage();
    await other.goto(link);
    await shown(other);
    await becomes(other, state);
    await lines(other, 1);
    await other.close();
  });

  withPage("a Python program holds the same state", async (page) => {
    const state = numbersIn(await someState(page));
    await page.locator("summary", { hasText: "Export" }).click();
    await page.locator(".menu button", { hasText: "Python" }).click();
    const folder = await mkdtemp(join(tmpdir(), "holonomy-linkage-"));
    const file = join(folder, "state.py");
    await writeFile(file, (await page.locator("dialog pre").innerText()).split("run = ")[0]);
    const out = await runPython(
      "import sys, json, runpy, numpy as np; n = runpy.run_path(sys.argv[1]);" +
        "print(json.dumps([n['t'], *n['q'], *n['v'], float(n['link'].energy(n['q'], n['v']))]))",
      file,
    );
    const there = JSON.parse(out.trim().split("\n").at(-1));
    state.forEach((value, i) => assert.equal(there[i], value));
    await rm(folder, { recursive: true });
  });

  withPage("a scene cannot say it, in a sentence", async (page) => {
    await page.locator("summary", { hasText: "Export" }).click();
    await page.locator(".menu button", { hasText: "TOML" }).click();
    await noticeShown(page, /A scene file cannot describe a linkage/);
  });

  withPage("the equations are set by KaTeX", async (page) => {
    await button(page, "Equations");
    await page.locator("dialog .katex").first().waitFor();
    assert.ok((await page.locator("dialog .formula").count()) >= 3);
    assert.equal(await page.locator("dialog .katex-error").count(), 0);
  });
});

describe("everyone", () => {
  for (const [name, options] of Object.entries({
    light: { colorScheme: "light" },
    dark: { colorScheme: "dark" },
    phone: { viewport: { width: 390, height: 844 } },
  })) {
    withPage(
      `can use the lab: axe finds nothing (${name})`,
      async (page) => {
        await page.getByLabel("Geodesic fan").click();
        await lines(page, 32);
        await button(page, "Mark A here");
        await settled(page);
        await axe(page);
      },
      options,
    );
  }
});
