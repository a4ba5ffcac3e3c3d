// A running studio and pages in it, for the browser tests.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

function python() {
  if (process.env.HOLONOMY_PYTHON) return process.env.HOLONOMY_PYTHON;
  const ours = [join(root, ".venv", "bin", "python"), join(root, ".venv", "Scripts", "python.exe")];
  return ours.find((path) => existsSync(path)) ?? "python3";
}

/** Start `python -m holonomy.studio` on a free port; resolves with its address, token included, and a way to stop it. */
export async function startStudio() {
  const child = spawn(python(), ["-m", "holonomy.studio", "--port", "0", "--no-browser"], {
    cwd: root,
    env: { ...process.env, PYTHONPATH: join(root, "src"), PYTHONUNBUFFERED: "1", JAX_PLATFORMS: "cpu" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const address = await new Promise((resolve, reject) => {
    const listen = (chunk) => {
      said += chunk;
      const match = /http:\/\/\S+/.exec(said);
      if (match) resolve(match[0]);
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    child.once("exit", (code) => reject(new Error(`The studio ended with ${code} before it said its address:\n${said}`)));
  });
  return {
    address,
    said: () => said,
    async stop() {
      child.kill("SIGINT");
      const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await ended;
      clearTimeout(late);
    },
  };
}

/** Open the studio in a context of its own, with time held unless `playing`; every console error fails the test. */
export async function openPage(browser, address, { playing = false, expectErrors = false, init, ...options } = {}) {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    reducedMotion: playing ? "no-preference" : "reduce",
    ...options,
  });
  if (init) await context.addInitScript(init);
  const page = await context.newPage();
  const errors = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(address);
  const notice = page.locator(".notice.shown");
  await page.locator("#stage[data-state]").waitFor({ timeout: 60_000 }).catch(async (error) => {
    const said = (await notice.count()) > 0 ? await notice.innerText() : "nothing";
    throw new Error(`No picture came; the page said: ${said}`, { cause: error });
  });
  return {
    page,
    errors,
    async close() {
      await context.close();
      if (!expectErrors) assert.deepEqual(errors, []);
    },
  };
}

/** The exact time, coordinates and velocities on the page, as hexadecimal bits. */
export const stateOf = (page) => page.locator("#stage").getAttribute("data-state");

export const timeOf = async (page) => Number(await page.locator("#stage").getAttribute("data-time"));

/** Velocities of the double pendulum, read from the exact state. */
export async function velocitiesOf(page) {
  const words = (await stateOf(page)).split(" ");
  return words.slice(3).map((word) => new DataView(new BigUint64Array([BigInt(`0x${word}`)]).buffer).getFloat64(0, true));
}

/** Wait until the state on the page is no longer `before`. */
export async function changed(page, before) {
  await page.waitForFunction((old) => document.querySelector("#stage")?.getAttribute("data-state") !== old, before);
  return stateOf(page);
}

/** Wait until the state on the page is exactly `wanted`. */
export async function becomes(page, wanted) {
  await page.waitForFunction((state) => document.querySelector("#stage")?.getAttribute("data-state") === state, wanted);
}

/** Let the browser draw this many pictures. */
export const pictures = (page, count) =>
  page.evaluate(
    (left) => new Promise((resolve) => {
      const next = () => (left-- > 0 ? requestAnimationFrame(next) : resolve(undefined));
      next();
    }),
    count,
  );

export async function button(page, name) {
  await page.getByRole("button", { name, exact: true }).click();
}

export async function handle(page, body) {
  const place = page.locator(`[data-body="${body}"]`);
  const box = await place.boundingBox();
  return { place, x: box.x + box.width / 2, y: box.y + box.height / 2 };
}
