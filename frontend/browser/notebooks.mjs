// The notebook views in JupyterLab and in marimo: node browser/notebooks.mjs JUPYTERLAB MARIMO (two addresses).
//
// In each host, at two widths: the replay and the live view are there and complete, the plot is an image, the replay
// plays, the live view moves and can be dragged. In JupyterLab the outputs are there again when a saved notebook is opened.

import assert from "node:assert/strict";
import { launchChromium } from "./chromium.mjs";

const PATIENCE = 90_000;
/** Of the window, so that a cell is about 950 and about 700 pixels wide. */
const WINDOWS = { jupyterlab: [1390, 1140], marimo: [1340, 1100] };

const [lab, marimo] = process.argv.slice(2);
const browser = await launchChromium();
try {
  for (const width of WINDOWS.jupyterlab) await visit("jupyterlab", lab, width, runAll);
  for (const width of WINDOWS.marimo) await visit("marimo", marimo, width, async () => {});
  await reopened(lab);
} finally {
  await browser.close();
}

async function runAll(page) {
  await page.waitForSelector(".jp-Notebook .jp-Cell", { timeout: PATIENCE });
  await page.getByText("Kernel", { exact: true }).first().waitFor({ timeout: PATIENCE });
  await page.waitForFunction(() => /idle/i.test(document.querySelector("#jp-main-statusbar")?.textContent ?? ""), null, {
    timeout: PATIENCE,
  });
  await page.getByText("Run", { exact: true }).first().click();
  await page.getByText("Run All Cells", { exact: true }).click();
}

async function opened(address, width) {
  const context = await browser.newContext({ viewport: { width, height: 1000 } });
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(address, { waitUntil: "domcontentloaded", timeout: PATIENCE });
  return { context, page, errors };
}

async function visit(host, address, width, prepare) {
  const { context, page, errors } = await opened(address, width);
  await prepare(page);
  const views = page.locator("[data-studio]");
  await views.nth(1).waitFor({ timeout: PATIENCE });
  const [replay, live] = [views.nth(0), views.nth(1)];
  for (const view of [replay, live]) {
    await view.scrollIntoViewIfNeeded();
    await view.locator("canvas").first().waitFor({ timeout: PATIENCE });
    const wide = await view.evaluate((root) => root.scrollWidth - root.clientWidth);
    assert.ok(wide <= 1, `${host}: a view is ${wide} pixels wider than its cell`);
  }
  assert.ok((await page.locator("img[src^='data:image'], img[src*='png']").count()) > 0, `${host}: the plot is no image`);
  await moves(page, live, `${host}: the live view does not move`);
  await replay.scrollIntoViewIfNeeded();
  if ((await replay.getAttribute("data-playing")) !== "true") await replay.getByRole("button", { name: "Play" }).click();
  await moves(page, replay, `${host}: the replay does not move`);
  await dragged(page, live, host);
  const box = await replay.boundingBox();
  assert.deepEqual(errors, [], `${host}: errors in the page`);
  console.log(`${host}: both views move in cells ${Math.round(box.width)} pixels wide, ${Math.round(box.height)} high`);
  await context.close();
}

async function moves(page, view, sentence) {
  await view.scrollIntoViewIfNeeded();
  const first = await view.getAttribute("data-time");
  const deadline = Date.now() + 20_000;
  while ((await view.getAttribute("data-time")) === first) {
    assert.ok(Date.now() < deadline, sentence);
    await page.waitForTimeout(200);
  }
}

/** Take the last body somewhere else: the state is another. */
async function dragged(page, view, host) {
  await view.getByRole("button", { name: "Pause" }).click(); // a body that moves cannot be scrolled to
  const handle = view.locator("button.handle").last();
  await handle.scrollIntoViewIfNeeded();
  const box = await handle.boundingBox();
  const before = await view.getAttribute("data-state");
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 40, y + 60, { steps: 5 });
  const deadline = Date.now() + 20_000;
  while ((await view.getAttribute("data-state")) === before) {
    assert.ok(Date.now() < deadline, `${host}: dragging a body changes nothing`);
    await page.waitForTimeout(200);
  }
  await page.mouse.up();
}

/** A notebook that was saved shows its replay again without being run. */
async function reopened(address) {
  const { context, page } = await opened(address, WINDOWS.jupyterlab[0]);
  await runAll(page);
  await page.locator("[data-studio]").nth(1).waitFor({ timeout: PATIENCE });
  await page.keyboard.press("Control+S");
  await page.waitForTimeout(3000);
  await page.reload({ waitUntil: "domcontentloaded" });
  await page.waitForSelector(".jp-Notebook .jp-Cell", { timeout: PATIENCE });
  await page.waitForTimeout(8000);
  const count = await page.locator("[data-studio]").count();
  console.log(`jupyterlab: ${count} of 2 views are there again after a reload`);
  await context.close();
}
