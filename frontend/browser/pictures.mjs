// The pictures of docs/studio.md and the README, as WebP files in docs/images: all of them, or those that are named.
//
//     node browser/pictures.mjs [name…]
//
// Each is a page at some address, what is done there, and the part of it that is taken. Time is held and moved by keys, so
// that a picture shows the same state each time it is made.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { launchChromium } from "./chromium.mjs";
import {
  box,
  button,
  drag,
  openPage,
  pictures,
  restructured,
  revisionOf,
  settled,
  startStudio,
  timeOf,
  timePast,
  unfoldNumerics,
} from "./studio.mjs";

const FOLDER = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "docs", "images");
/** Quality of a picture at first, and the least; the largest size in bytes. A larger file is written again, less finely. */
const [FINE, COARSE, LARGEST] = [84, 40, 118_000];
/** Space that is taken around an element, in pixels. */
const AROUND = 8;

const TOUCH = { hasTouch: true, isMobile: true };
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 1.5, ...TOUCH };
const BESIDE = { viewport: { width: 844, height: 390 }, deviceScaleFactor: 1.5, ...TOUCH };
const TABLET = { viewport: { width: 820, height: 1180 }, ...TOUCH };
const LARGE = { viewport: { width: 2560, height: 1440 } };
const SHARP = { deviceScaleFactor: 2 };

/** The labs say what to drag until something was dragged. */
const dragged = () => {
  for (const lab of ["pendulum", "linkage", "curved", "swimmer", "workbench"]) localStorage.setItem(`holonomy.dragged.${lab}`, "yes");
};
const quiet = (page) => page.evaluate(() => document.activeElement?.blur());
const preset = async (page, name) => {
  await settled(page);
  const before = await revisionOf(page);
  await page.locator(`[data-preset="${name}"]`).click();
  await restructured(page, before);
  await settled(page);
};
/** One frame after the other, so that every curve is smooth. */
const frames = async (page, count) => {
  await quiet(page);
  const begin = await timeOf(page);
  for (let i = 1; i <= count; i++) {
    await page.keyboard.press("ArrowRight");
    if (i % 30 === 0) await timePast(page, begin + (i - 1) / 60);
  }
  await timePast(page, begin + (count - 0.5) / 60);
  await settled(page);
};
const trails = (page) => page.keyboard.press("t");
/** Let time run for so many seconds, with trails. */
const moved = (seconds, name) => async (page) => {
  if (name) await preset(page, name);
  await settled(page);
  await trails(page);
  await frames(page, Math.round(60 * seconds));
};
const story = async (page, steps) => {
  await page.locator(".story-title").first().click();
  for (let i = 1; i < steps; i++) {
    await page.locator(".story .next").click();
    await settled(page);
  }
};
const enlarge = (page, place) => page.getByRole("button", { name: `Enlarge plot ${place}`, exact: true }).click();
const choose = (page, label, value) => page.locator("dialog[open]").getByLabel(label).selectOption(value);

async function showEnlarged(page) {
  await frames(page, 600);
  await enlarge(page, 1);
  await choose(page, "Vertical axis, enlarged", "=");
  const formula = page.locator("dialog[open]").getByLabel("Vertical formula");
  await formula.fill("sqrt(bob2_x^2 + bob2_y^2)");
  await formula.press("Enter");
  const area = await page.locator("dialog[open] .canvas").boundingBox();
  await page.mouse.move(area.x + 0.62 * area.width, area.y + area.height / 2);
}

async function showSection(page) {
  await enlarge(page, 2);
  await choose(page, "Vertical axis, enlarged", "omega2");
  await choose(page, "Horizontal axis, enlarged", "theta2");
  await page.locator("dialog[open]").getByLabel("Poincaré section").check();
  await page.keyboard.press("Escape");
  await page.locator(".player input.box").fill("5");
  await page.locator(".player input.box").press("Enter");
  await button(page, "Play");
  await timePast(page, 150);
  await button(page, "Pause");
  await enlarge(page, 2);
}

async function showWrongFormula(page) {
  await enlarge(page, 1);
  await choose(page, "Vertical axis, enlarged", "=");
  await page.locator("dialog[open]").getByLabel("Vertical formula").fill("theta1 + omega9");
}

async function showWrongText(page) {
  const text = page.locator('[data-text="lagrangian"] textarea');
  await text.fill(`${await text.inputValue()} + h*r`);
  await text.blur();
  await page.locator('[data-refusal="lagrangian"]').waitFor();
}

async function showNumbers(page) {
  await box(page, "gravity").fill("2,5");
  await box(page, "gravity").press("Enter");
  await box(page, "damping").fill("a little");
  await box(page, "damping").press("Enter");
  await quiet(page);
}

async function editGait(page) {
  await button(page, "Figure eight");
  await settled(page);
  const knot = await page.locator('[data-knot="3"]').boundingBox();
  const [x, y] = [knot.x + knot.width / 2, knot.y + knot.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 6, y - 16);
  await page.mouse.up();
  await settled(page);
  await moved(1.5)(page);
}

async function nearer(page) {
  await moved(0.8, "thesis-2.19")(page);
  for (let i = 0; i < 3; i++) await page.locator('[data-stage="0"]').getByRole("button", { name: "Zoom in" }).click();
  await page.mouse.move(2, 2);
}

async function fan(page) {
  await preset(page, "refocus");
  await frames(page, 40);
}

/** Name, address, what is done, and options: those of `openPage`, `of`, the element that is taken, `scale` of the file. */
const SCENES = {
  studio: ["#/pendulum", moved(4)],
  studio_home: ["#/", null, { viewport: { width: 1200, height: 900 } }],
  studio_presets: ["#/pendulum", settled, { of: ".presets", ...SHARP }],
  studio_hint: ["#/pendulum", settled, { of: ".stage", hint: true, viewport: { width: 900, height: 620 } }],
  studio_story: ["#/pendulum", async (page) => {
    await story(page, 2);
    await button(page, "Pause");
    await moved(4)(page);
  }],
  studio_opening: ["#/linkage", (page) => page.locator(".compiling").waitFor(), { cold: true }],
  studio_chain: ["#/pendulum", moved(1.5, "rope")],
  studio_springs: ["#/pendulum", moved(2, "jelly")],
  studio_ghost: ["#/pendulum", moved(6, "butterfly")],
  studio_linkage: ["#/linkage", moved(4)],
  studio_linkage_fan: ["#/linkage", fan, { colorScheme: "dark" }],
  studio_curved: ["#/curved", moved(2, "thesis-2.17")],
  studio_half_space: ["#/curved", nearer, { of: ".stages" }],
  studio_swimmer: ["#/swimmer", editGait],
  studio_workbench: ["#/workbench", async (page) => {
    await moved(3, "kepler")(page);
  }],
  studio_equations: ["#/workbench", async (page) => {
    await button(page, "Equations");
    await page.locator("dialog .katex").nth(2).waitFor();
  }],
  studio_formula: ["#/pendulum", showEnlarged, { of: "dialog[open]" }],
  studio_section: ["#/pendulum", showSection, { of: "dialog[open]" }],
  studio_wrong_formula: ["#/pendulum", showWrongFormula, { of: "dialog[open] .plot-choices", ...SHARP }],
  studio_refusal: ["#/workbench", showWrongText, { of: '[data-text="lagrangian"]', ...SHARP }],
  studio_numbers: ["#/pendulum", showNumbers, { of: ".settings", ...SHARP }],
  studio_export: ["#/pendulum", async (page) => {
    await moved(2)(page);
    await page.locator("summary", { hasText: "Export" }).click();
  }],
  studio_numerics: ["#/pendulum", async (page) => {
    await preset(page, "euler");
    await frames(page, 120);
    await unfoldNumerics(page);
  }, { of: ".numerics", ...SHARP }],
  studio_held: ["#/pendulum", async (page) => {
    await drag(page, 1, 60, 40);
    await settled(page);
  }, { of: ".stage", viewport: { width: 900, height: 620 } }],
  studio_presentation: ["#/linkage", async (page) => {
    await page.keyboard.press("p");
    await moved(3)(page);
  }],
  studio_dark: ["#/pendulum", moved(4, "butterfly"), { colorScheme: "dark" }],
  studio_german: ["#/swimmer", moved(2), { locale: "de-DE" }],
  studio_phone: ["#/swimmer", moved(1), PHONE],
  studio_phone_sliders: ["#/pendulum", async (page) => {
    await moved(2)(page);
    await page.locator('[data-parameter="gravity"]').evaluate((slider) => slider.scrollIntoView({ block: "end" }));
  }, PHONE],
  studio_phone_landscape: ["#/pendulum", moved(2), BESIDE],
  studio_tablet: ["#/linkage", moved(3), TABLET],
  studio_large: ["#/curved", moved(2, "cube"), { ...LARGE, scale: 0.55 }],
}; // biome-ignore format: one scene after the other

async function clipOf(page, of) {
  const [left, top] = await page.evaluate(() => [scrollX, scrollY]);
  if (!of) return { x: left, y: top, ...page.viewportSize() };
  const [area, all] = [await page.locator(of).first().boundingBox(), page.viewportSize()];
  const around = of.startsWith(".stage") ? 0 : AROUND;
  const [x, y] = [Math.max(0, area.x - around), Math.max(0, area.y - around)];
  return {
    x,
    y,
    width: Math.min(all.width, area.x + area.width + around) - x,
    height: Math.min(all.height, area.y + area.height + around) - y,
  };
}

/** Playwright writes no WebP, the browser does. */
async function take(page, path, { of, scale }) {
  await page.screenshot(); // the first after scrolling may lack what has come into sight
  const session = await page.context().newCDPSession(page);
  const clip = { ...(await clipOf(page, of)), scale };
  for (let quality = FINE; ; quality -= 8) {
    const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality, clip });
    const file = Buffer.from(data, "base64");
    if (file.length > LARGEST && quality > COARSE) continue;
    await writeFile(path, file);
    return file.length;
  }
}

async function home(browser, address, { init, ...options }) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 780 }, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  await page.goto(`${address}#/`);
  await page.locator(".card canvas").last().waitFor();
  await page.evaluate(() => document.fonts.ready);
  return { page, close: () => context.close() };
}

async function make(browser, studio, name) {
  const [fragment, act, { of, scale, cold, hint, ...options } = {}] = SCENES[name];
  if (!hint) options.init = dragged;
  const opened =
    fragment === "#/" ? await home(browser, studio.address, options) : await openPage(browser, `${studio.address}${fragment}`, options);
  const { page } = opened;
  if (act) await act(page);
  await page.evaluate(() => document.fonts.ready);
  await pictures(page, 10);
  if (of) await page.locator(of).first().scrollIntoViewIfNeeded();
  else await page.evaluate(() => document.querySelector("aside")?.scrollTo(0, 0));
  const bytes = await take(page, join(FOLDER, `${name}.webp`), { of, scale: scale ?? options.deviceScaleFactor ?? 1 });
  console.log(`${name}: ${(bytes / 1000).toFixed(0)} kB`);
  await opened.close();
}

/** The others are made all the same. */
function fail(name, error) {
  console.error(`${name}: ${error.stack}`);
  process.exitCode = 1;
}

async function main(names) {
  const unknown = names.filter((name) => !(name in SCENES));
  if (unknown.length > 0) throw new Error(`There is no picture ${unknown.join(", ")}; there are ${Object.keys(SCENES).join(", ")}.`);
  const wanted = names.length > 0 ? names : Object.keys(SCENES);
  const browser = await launchChromium();
  const [warm, cold] = [wanted.filter((name) => !SCENES[name][2]?.cold), wanted.filter((name) => SCENES[name][2]?.cold)];
  if (warm.length > 0) {
    const studio = await startStudio();
    for (const name of warm) await make(browser, studio, name).catch((error) => fail(name, error));
    await studio.stop();
  }
  for (const name of cold) {
    const cache = await mkdtemp(join(tmpdir(), "holonomy-cold-")); // nothing is compiled
    process.env.HOLONOMY_CACHE = cache;
    const studio = await startStudio().finally(() => delete process.env.HOLONOMY_CACHE);
    await make(browser, studio, name);
    await studio.stop();
    await rm(cache, { recursive: true, force: true });
  }
  await browser.close();
}

await main(process.argv.slice(2));
