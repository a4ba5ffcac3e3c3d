// Every kind of picture, text boxes, refusals at their place and curves that are drawn, in labs made for these tests.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe } from "node:test";
import { withLab } from "./harness.mjs";
import { becomes, button, settled, stateOf, stride, until } from "./studio.mjs";

const textOf = (page, name) => page.evaluate((key) => globalThis.probe.controls.texts[key], name);
const loopOf = async (page) => JSON.parse(await textOf(page, "loop"));

/** Change the curve by `act` and wait until the studio has it; the new one. */
async function changesLoop(page, act) {
  const old = await textOf(page, "loop");
  await act();
  await until(page, async () => (await textOf(page, "loop")) !== old, "The curve should change.");
  await settled(page);
  return loopOf(page);
}

const middle = async (locator) => {
  const { x, y, width, height } = await locator.boundingBox();
  return [x + width / 2, y + height / 2];
};

/** The coordinates of a pixel of the field's picture, from two points of the curve whose coordinates are known. */
async function toCoordinates(page) {
  const loop = await loopOf(page);
  const [p, q] = await Promise.all([0, 2].map((i) => middle(page.locator(`[data-knot="${i}"]`))));
  const scale = (loop[2][0] - loop[0][0]) / (q[0] - p[0]);
  return ([x, y]) => [loop[0][0] + scale * (x - p[0]), loop[0][1] - scale * (y - p[1])];
}

describe("a typed formula", () => {
  withLab("gallery", "is kept while it is wrong, with the place marked, and taken when it is right", async (page) => {
    const box = page.locator("[data-text=formula] textarea");
    await box.fill("x^2 + @");
    await box.press("Enter");
    await page.locator('[data-refusal="formula"]', { hasText: "The character @ has no meaning here." }).waitFor();
    await page.getByText("Not running, because: The character @ has no meaning here.").waitFor();
    assert.equal(await box.inputValue(), "x^2 + @");
    assert.equal(await page.locator("[data-text=formula] mark").textContent(), "@");
    assert.equal(await box.getAttribute("aria-invalid"), "true");
    await box.fill("x^2 + 3");
    await box.blur();
    await settled(page);
    assert.equal(await textOf(page, "formula"), "x^2 + 3");
    assert.equal(await page.locator(".refusal").count(), 0);
    await button(page, "Undo");
    await settled(page);
    await until(page, async () => (await box.inputValue()) === "x^2 + 1", "the text before should be back");
  });

  withLab("gallery", "is tried after a pause, and letters and spaces in it start nothing else", async (page) => {
    const box = page.locator("[data-text=formula] textarea");
    await box.fill("");
    await box.pressSequentially("r t");
    await until(page, async () => (await textOf(page, "formula")) === "r t", "The draft should be tried after a pause.");
    const notes = page.locator("[data-text=notes] textarea");
    await notes.fill("one\ntwo");
    await notes.press("Control+Enter");
    await until(page, async () => (await textOf(page, "notes")) === "one\ntwo", "The lines should be taken.");
    assert.equal(await page.evaluate(() => globalThis.probe.controls.playing), false);
  });
});

describe("a refused choice", () => {
  withLab("gallery", "goes back, and the reason stands beside it", async (page) => {
    await page.getByText("None", { exact: true }).click();
    await page.locator('[data-refusal="colour"]', { hasText: "A picture needs a colour." }).waitFor();
    await until(page, () => page.getByRole("radio", { name: "Red" }).isChecked(), "the choice before should be back");
    await page.getByText("Green", { exact: true }).click();
    await settled(page);
    assert.equal(await page.locator('[data-refusal="colour"]').count(), 0);
    assert.equal(await page.getByRole("radio", { name: "Green" }).isChecked(), true);
  });
});

describe("pictures of every kind", () => {
  withLab("gallery", "show labels, a boundary without a box of metres, a field with its key, a curve with its points", async (page) => {
    assert.deepEqual(await page.locator(".axes .label:visible").allTextContents(), ["mass", "P"]);
    assert.equal(await page.locator('[data-stage="1"] .tick').count(), 0);
    const field = page.locator('[data-stage="2"]');
    await until(page, async () => (await field.getAttribute("data-field")) === "F -1 2", "The field should be drawn.");
    await until(page, async () => Number(await field.getAttribute("data-contours")) > 5, "lines of equal height");
    assert.deepEqual(
      (await field.locator(".axis").allTextContents()).filter((text) => text.includes("/")),
      ["a / m", "b / m"],
    );
    assert.match(await field.locator(".key").getAttribute("aria-label"), /Height from −1 to 2.J/);
    assert.equal(await field.locator("[data-knot]").count(), 8);
  });
});

describe("formulas", () => {
  withLab("gallery", "stand beside the pictures of a lab that wants them, with words, and fold away", async (page) => {
    const panel = page.locator(".formulas");
    await panel.getByText("The force is proportional to the displacement.").waitFor();
    await panel.locator("[data-latex] .katex").first().waitFor();
    await panel.locator("summary").click();
    await panel.getByText("The force is proportional").waitFor({ state: "hidden" });
  });
});

describe("a curve on a field", () => {
  withLab("gallery", "is moved point by point, whole, gains and loses points, and each change can be undone", async (page) => {
    await page.locator('[data-stage="2"][data-field]').waitFor();
    const first = await loopOf(page);
    const place = await toCoordinates(page);
    const [x, y] = await middle(page.locator('[data-knot="0"]'));
    const moved = await changesLoop(page, async () => {
      await page.mouse.move(x, y);
      await page.mouse.down();
      await page.mouse.move(x + 10, y - 20);
      await page.mouse.move(x + 20, y - 40);
      await page.mouse.up();
    });
    const wanted = place([x + 20, y - 40]);
    assert.ok(Math.hypot(moved[0][0] - wanted[0], moved[0][1] - wanted[1]) < 1e-3, `${moved[0]} should be ${wanted}`);
    assert.deepEqual(moved.slice(1), first.slice(1));
    const shifted = await changesLoop(page, async () => {
      const [a, b] = await Promise.all([1, 5].map((i) => middle(page.locator(`[data-knot="${i}"]`))));
      await page.mouse.move((a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
      await page.mouse.down();
      await page.mouse.move((a[0] + b[0]) / 2 + 30, (a[1] + b[1]) / 2);
      await page.mouse.up();
    });
    assert.ok(shifted.every(([px], i) => Math.abs(px - moved[i][0] - (shifted[0][0] - moved[0][0])) < 1e-9));
    const more = await changesLoop(page, () =>
      page
        .locator('[data-knot="3"]')
        .focus()
        .then(() => button(page, "Add point")),
    );
    assert.equal(more.length, 9);
    const fewer = await changesLoop(page, () => page.locator('[data-knot="4"]').press("Delete"));
    assert.deepEqual(fewer, shifted);
    const nudged = await changesLoop(page, () => page.locator('[data-knot="2"]').press("ArrowRight"));
    assert.ok(nudged[2][0] > fewer[2][0]);
    for (const before of [fewer, more, shifted, moved, first]) {
      await button(page, "Undo");
      await until(page, async () => JSON.stringify(await loopOf(page)) === JSON.stringify(before), "Undo should bring back the curve.");
    }
  });

  withLab(
    "gallery",
    "is drawn by touch on a phone, as at most 64 points",
    async (page) => {
      await page.getByRole("button", { name: "Draw" }).tap();
      const { x, y, width, height } = await page.locator('[data-stage="2"]').boundingBox();
      const drawn = await changesLoop(page, async () => {
        const session = await page.context().newCDPSession(page);
        const at = (i) => ({
          x: x + width / 2 + (30 + 8 * Math.sin(i)) * Math.cos((2 * Math.PI * i) / 150),
          y: y + height / 2 + (30 + 8 * Math.sin(i)) * Math.sin((2 * Math.PI * i) / 150),
        });
        await session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [at(0)] });
        for (let i = 1; i < 150; i++) await session.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: [at(i)] });
        await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
      });
      assert.ok(drawn.length > 10 && drawn.length <= 64, `${drawn.length} points`);
      await until(page, async () => (await page.locator("[data-knot]").count()) === drawn.length, "a knot at each point");
    },
    { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  );
});

/** How many pixels lie between two places that are a metre apart, from the numbers along the lower edge. */
const pixelsPerMetre = (page, stage) =>
  page.locator(`[data-stage="${stage}"] .tick.across`).evaluateAll((ticks) => {
    const [a, b] = [ticks[0], ticks.at(-1)].map((tick) => {
      const box = tick.getBoundingClientRect();
      return [box.x + box.width / 2, Number(tick.textContent.replace("\u2212", "-"))];
    });
    return (b[0] - a[0]) / (b[1] - a[1]);
  });

describe("a picture", () => {
  withLab("toy", "is zoomed about the pointer, moved, and fits again", async (page) => {
    const stage = page.locator('[data-stage="0"]');
    const body = page.locator('[data-stage="0"] [data-body="0"]');
    const first = await middle(body);
    const scale = await pixelsPerMetre(page, 0);
    await page.mouse.move(...first);
    await page.mouse.wheel(0, -500);
    await until(page, async () => Number(await stage.getAttribute("data-zoom")) > 1.5, "The wheel should zoom.");
    const zoom = Number(await stage.getAttribute("data-zoom"));
    await until(page, async () => Math.abs((await pixelsPerMetre(page, 0)) - zoom * scale) < 2, "The axes should follow.");
    await settled(page); // the body moves with the next picture
    const kept = await middle(body);
    assert.ok(Math.hypot(kept[0] - first[0], kept[1] - first[1]) < 1.5, "What is under the pointer stays there.");
    const { x, y } = await stage.boundingBox();
    await page.mouse.move(x + 120, y + 200);
    await page.mouse.down();
    await page.mouse.move(x + 150, y + 160);
    await page.mouse.move(x + 180, y + 120);
    await page.mouse.up();
    await until(page, async () => Math.abs((await middle(body))[0] - kept[0] - 60) < 1.5, "The picture should move with the hand.");
    await page.mouse.dblclick(x + 120, y + 200);
    await until(
      page,
      async () => Math.hypot((await middle(body))[0] - first[0], (await middle(body))[1] - first[1]) < 1,
      "A double click should fit.",
    );
    await body.press("+");
    await until(page, async () => (await stage.getAttribute("data-zoom")) === "1.300", "The key should zoom.");
    await button(page.locator('[data-stage="0"]'), "Fit");
    await until(page, async () => (await stage.getAttribute("data-zoom")) === "1.000", "Fit should bring all back.");
  });

  withLab("toy", "follows its body when it is asked to", async (page) => {
    const stage = page.locator('[data-stage="0"]');
    await stage.getByRole("button", { name: "Follow the bodies" }).click();
    const { x, width } = await stage.boundingBox();
    const body = page.locator('[data-stage="0"] [data-body="0"]');
    await until(page, async () => Math.abs((await middle(body))[0] - x - width / 2) < 1, "The body should be in the middle.");
    await stride(page, 3);
    assert.ok(Math.abs(Number(await body.getAttribute("data-x")) - 1) > 0.2);
    assert.ok(Math.abs((await middle(body))[0] - x - width / 2) < 1);
  });

  withLab(
    "gallery",
    "is zoomed by two fingers, on a phone and of every kind",
    async (page) => {
      const session = await page.context().newCDPSession(page);
      for (const kind of [0, 1, 2, 3]) {
        const stage = page.locator(`[data-stage="${kind}"]`);
        await stage.scrollIntoViewIfNeeded();
        const { x, y, width, height } = await stage.boundingBox();
        const fingers = (apart) => [-1, 1].map((side, id) => ({ x: x + width / 3, y: y + 0.7 * height + side * apart, id }));
        await session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: fingers(20) });
        for (const apart of [25, 32, 40])
          await session.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: fingers(apart) });
        await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
        await until(
          page,
          async () => Math.abs(Number(await stage.getAttribute("data-zoom")) - 2) < 0.05,
          `Picture ${kind} should be zoomed.`,
        );
      }
    },
    { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  );
});

describe("a new lab", () => {
  withLab("toy", "of under 150 lines has a preset, a plot, a field, undo and export", async (page) => {
    await page.locator('[data-stage="1"][data-field]').waitFor();
    const contours = async () => Number(await page.locator('[data-stage="1"]').getAttribute("data-contours"));
    await until(page, async () => (await contours()) > 4, "lines of equal height");
    const start = await stateOf(page);
    await stride(page, 2);
    const moved = await stateOf(page);
    assert.notEqual(moved, start);
    assert.ok((await page.locator(".plot").count()) >= 1);
    const field = await page.locator('[data-stage="1"]').getAttribute("data-field");
    await page.getByRole("button", { name: "Stiff spring" }).first().click();
    await page.waitForFunction((old) => document.querySelector('[data-stage="1"]').dataset.field !== old, field);
    await settled(page);
    await button(page, "Undo");
    await becomes(page, moved);
    await page.locator("summary", { hasText: "Export" }).click();
    const [file] = await Promise.all([page.waitForEvent("download"), page.locator(".menu button", { hasText: "CSV" }).click()]);
    const rows = readFileSync(await file.path(), "utf-8")
      .trim()
      .split("\n");
    assert.ok(rows.length > 20, rows.slice(0, 3).join("\n"));
  });
});
