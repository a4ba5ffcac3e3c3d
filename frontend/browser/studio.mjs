// A running studio and pages in it, for the browser tests.
//
// No test sleeps or depends on how fast the machine is: each waits for a condition, for up to `waitLimit` milliseconds.
// `settled` waits for the studio to have handled every command of the page, and for the page to have drawn what came of it;
// `until` waits for any other condition. Two things come later than what they follow from, and are waited for themselves:
// Preact runs effects some pictures after it has rendered, and messages of the browser (console, address) come on their own.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { holdUp, JITTER } from "./jitter.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

// A wait that takes a second on a quiet machine can take minutes on a busy one, because the studio compiles code and
// derives equations at low priority. After one failure the run has failed anyway, so later tests give up sooner.
const WAIT_LIMIT = 600_000;
const WAIT_LIMIT_AFTER_FAILURE = 20_000;
let waitLimit = WAIT_LIMIT;
/** Time limit of one test in milliseconds. */
export const TEST_LIMIT = 1_800_000;

/** Shorten the time limits of the tests that follow a failed one. */
export function reportFailure() {
  waitLimit = WAIT_LIMIT_AFTER_FAILURE;
}

/** The Python of this project. */
export function python() {
  if (process.env.HOLONOMY_PYTHON) return process.env.HOLONOMY_PYTHON;
  const ours = [join(root, ".venv", "bin", "python"), join(root, ".venv", "Scripts", "python.exe")];
  return ours.find((path) => existsSync(path)) ?? "python3";
}

/** The studio with labs that are no part of the package. */
const WITH_LABS = `import sys
from holonomy.studio import labs, serve
for name in sys.argv[1:]:
    labs.register(name)
serve("127.0.0.1", 0, False)`;

/**
 * Start `python -m holonomy.studio` on a free port; resolves with its address, token included, and a way to stop it.
 * `labs` are modules of `tests/studio/labs` whose labs it has too.
 */
export async function startStudio(...labs) {
  const program = labs.length > 0 ? ["-c", WITH_LABS, ...labs] : ["-m", "holonomy.studio", "--port", "0", "--no-browser"];
  const path = [join(root, "src"), ...(labs.length > 0 ? [join(root, "tests", "studio", "labs")] : [])].join(delimiter);
  const child = spawn(python(), program, {
    cwd: root,
    env: { ...process.env, PYTHONPATH: path, PYTHONUNBUFFERED: "1", JAX_PLATFORMS: "cpu" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const address = await new Promise((resolve, reject) => {
    const listen = (chunk) => {
      said += chunk;
      const match = /(http:\/\/\S+)\s/.exec(said); // all of it, however it was cut on its way
      if (match) resolve(match[1]);
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    child.once("exit", (code) => reject(new Error(`The studio ended with ${code} before it said its address:\n${said}`)));
  });
  return {
    address,
    said: () => said,
    signal: (name) => child.kill(name),
    async stop() {
      child.kill("SIGINT");
      const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await ended;
      clearTimeout(late);
    },
  };
}

/**
 * Whether a word in the console is an error or a warning. The software driver remarks that its picture is read back, which is
 * how this browser puts a page together.
 */
export const complains = (message) =>
  ["error", "warning"].includes(message.type()) && !/GL Driver Message \(OpenGL, Performance/.test(message.text());

/** Open the studio in a context of its own, with time held unless `playing`; every console error fails the test. */
export async function openPage(browser, address, { playing = false, expectErrors = false, init, ...options } = {}) {
  const context = await newContext(browser, {
    viewport: { width: 1200, height: 780 },
    reducedMotion: playing ? "no-preference" : "reduce",
    ...options,
  });
  if (init) await context.addInitScript(init);
  await context.addInitScript(instrument);
  const page = await context.newPage();
  const errors = [];
  page.on("console", (message) => complains(message) && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(address.includes("#") ? address : `${address}#/pendulum`);
  await shown(page);
  await settled(page); // the first picture comes before the code: buttons and boxes are disabled until that is there
  return {
    page,
    errors,
    abandon: () => context.close(),
    async close() {
      await context.close();
      if (!expectErrors) assert.deepEqual(errors, []);
    },
  };
}

/** A browser context with our time limits. */
export async function newContext(browser, options) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(waitLimit);
  if (JITTER > 0) await context.addInitScript(holdUp, JITTER);
  return context;
}

/**
 * Runs in the page before its own scripts: records what the studio sends, and adds a query to which the studio replies.
 *
 * The query sets a parameter that no lab has. The studio handles it in order, after all earlier commands of the page,
 * changes nothing and answers with a refusal, which is kept from the page.
 */
function instrument() {
  const Plain = WebSocket;
  const waiting = new Set();
  const replies = new Map();
  const probe = (globalThis.probe = {
    socket: null,
    controls: null,
    frames: 0,
    /** Every text that the page's notice has shown, or a control whose setting was refused. */
    notices: [],
    /** Resolves after the first message for which `done` holds. */
    until: (done) => (done() ? Promise.resolve() : new Promise((resolve) => waiting.add({ done, resolve }))),
    queries: 0,
    /** Resolves when the studio has replied, and so has handled all earlier commands. */
    query() {
      const name = `query-${++probe.queries}`;
      const replied = new Promise((resolve) => replies.set(name, resolve));
      probe.socket.send(JSON.stringify({ type: "set-parameter", name, value: 0, settled: false }));
      return replied;
    },
  });
  const hear = (event) => {
    if (typeof event.data !== "string") probe.frames++;
    else if (event.data.startsWith('{"type":"controls"')) probe.controls = JSON.parse(event.data);
    else if (event.data.startsWith('{"type":"refused"')) {
      const [name] = /query-\d+/.exec(event.data) ?? [];
      if (name) {
        event.stopImmediatePropagation();
        replies.get(name)?.();
        replies.delete(name);
      }
    }
    for (const entry of waiting) {
      if (entry.done()) {
        waiting.delete(entry);
        entry.resolve();
      }
    }
  };
  const note = () => {
    for (const { textContent: text } of document.querySelectorAll(".notice.shown, .refusal")) {
      if (text && !probe.notices.slice(-3).includes(text)) probe.notices.push(text);
    }
  };
  new MutationObserver(note).observe(document, { subtree: true, childList: true, characterData: true, attributeFilter: ["class"] });
  globalThis.WebSocket = class extends Plain {
    constructor(...rest) {
      super(...rest);
      probe.socket = this;
      this.addEventListener("message", hear); // before the page's own listener
    }
  };
}

/**
 * Wait until the studio has handled every command that the page has sent, including compilation, and the page shows the
 * result.
 *
 * The studio makes a frame after it replies to the first query and before it replies to the second. Hence the first frame
 * that arrives after the second reply shows the result of every command before the first query.
 */
export async function settled(page) {
  await pictures(page, 2); // the page sends pointer positions from an animation frame
  await page.evaluate(async (limit) => {
    const { probe } = globalThis;
    const talk = async () => {
      do {
        await probe.until(() => probe.controls?.phase === "ready");
        await probe.query();
        await probe.query();
        const before = probe.frames;
        await probe.until(() => probe.frames > before);
      } while (probe.controls.phase !== "ready");
    };
    const late = new Promise((_, reject) => setTimeout(() => reject(new Error(`The studio did not reply within ${limit} ms.`)), limit));
    await Promise.race([talk(), late]);
  }, waitLimit);
  await drawn(page);
}

/**
 * Wait until the page stands still: fonts are there, no chart is due, nothing fades, and three pictures came without a
 * change of the document. Where time runs, only the pictures are waited for. The page need not be of the studio.
 */
export const drawn = (page) =>
  page.evaluate(async (limit) => {
    let changes = 0;
    const watcher = new MutationObserver((records) => (changes += records.length));
    watcher.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
    // Preact's effects wait for a picture and then for a timer of no time, which is due before this one.
    const next = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 5)));
    const busy = () =>
      document.fonts.status !== "loaded" ||
      document.querySelector("[data-due]") !== null ||
      document.getAnimations().some((animation) => animation.playState === "running");
    const end = performance.now() + limit;
    for (let still = 0; still < 3; ) {
      const before = changes;
      await next();
      const moves = document.querySelector("[data-studio]")?.dataset.playing === "true";
      still = !moves && (changes > before || busy()) ? 0 : still + 1;
      if (performance.now() > end) throw new Error(`The page did not come to rest within ${limit} ms.`);
    }
    watcher.disconnect();
  }, waitLimit);

/** Wait until `look` returns something true, and return it. `what` describes it, or is a function that does. */
export async function until(page, look, what) {
  const end = Date.now() + waitLimit;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(typeof what === "function" ? await what() : what);
    await pictures(page, 1);
  }
}

/** Wait until the page's notice has shown a text that matches, even if it has disappeared since. */
export const noticeShown = (page, words) =>
  page.waitForFunction(
    ([source, flags]) => globalThis.probe.notices.some((text) => new RegExp(source, flags).test(text)),
    [words.source, words.flags],
  );

/** Wait for the first picture. */
export async function shown(page) {
  const notice = page.locator(".notice.shown");
  await page
    .locator("[data-studio][data-state]")
    .waitFor()
    .catch(async (error) => {
      const said = (await notice.count()) > 0 ? await notice.innerText() : "nothing";
      throw new Error(`No picture came; the page said: ${said}`, { cause: error });
    });
}

/** The exact time, coordinates and velocities on the page, as hexadecimal bits. */
export const stateOf = (page) => page.locator("[data-studio]").getAttribute("data-state");

export const timeOf = async (page) => Number(await page.locator("[data-studio]").getAttribute("data-time"));

/** The numbers of a state in hexadecimal: time, coordinates, velocities. */
export function numbersIn(state) {
  const view = new DataView(new ArrayBuffer(8));
  return state.split(" ").map((word) => {
    view.setBigUint64(0, BigInt(`0x${word}`));
    return view.getFloat64(0);
  });
}

/** Velocities, read from the exact state. */
export async function velocitiesOf(page) {
  const numbers = numbersIn(await stateOf(page)).slice(1);
  return numbers.slice(numbers.length / 2);
}

/** Wait until the state on the page is no longer `before`. */
export async function changed(page, before) {
  await page.waitForFunction((old) => document.querySelector("[data-studio]")?.getAttribute("data-state") !== old, before);
  return stateOf(page);
}

/** Wait until the state on the page is exactly `wanted`. */
export async function becomes(page, wanted) {
  const found = page.waitForFunction((state) => document.querySelector("[data-studio]")?.getAttribute("data-state") === state, wanted);
  await found.catch(async (error) => {
    throw new Error(`The state should become\n${numbersIn(wanted)}\nand is\n${numbersIn(await stateOf(page))}`, { cause: error });
  });
}

/** Wait until time has come past `seconds`. */
export const timePast = (page, seconds) =>
  page.waitForFunction((t) => Number(document.querySelector("[data-studio]")?.dataset.time) > t, seconds);

/** Wait until time runs, or is held. */
export const playing = (page, wanted) =>
  page.waitForFunction((on) => document.querySelector("[data-studio]")?.dataset.playing === String(on), wanted);

/** Let the browser draw this many pictures. */
export const pictures = (page, count) =>
  page.evaluate(
    (left) =>
      new Promise((resolve) => {
        const next = () => (left-- > 0 ? requestAnimationFrame(next) : resolve(undefined));
        next();
      }),
    count,
  );

export async function button(page, name) {
  await page.getByRole("button", { name, exact: true }).click();
}

/**
 * Click a button that goes on while it is held. Down and up come at once: between two messages to a busy browser so much time
 * may pass that the button counts as held.
 */
export const tapped = (page, name) =>
  page.locator(`button[aria-label="${name}"]:enabled`).evaluate((element) => {
    for (const type of ["pointerdown", "pointerup"])
      element.dispatchEvent(new PointerEvent(type, { pointerId: 1, bubbles: true, button: 0 }));
    element.dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 1 }));
  });

/** Press a button that opens a sheet, and wait until that takes keys: it is opened by an effect. */
export async function opened(page, name) {
  await button(page, name);
  await page.locator("dialog[open]").waitFor();
}

/** Close the sheet that is open. */
export async function closed(page) {
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
}

/** The link to the state of this moment; its sheet stays open. */
export async function sharedLink(page) {
  await settled(page);
  await opened(page, "Share");
  await page.waitForFunction(() => document.querySelector(".share input").value.includes("?s="));
  return page.getByLabel("Link to this state").inputValue();
}

export async function handle(page, body) {
  const place = page.locator(`[data-body="${body}"]`);
  const box = await place.boundingBox();
  return { place, x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** Press the mouse button on a moving body, again if it has moved away by then; where the body was. */
export async function grab(page, body) {
  for (;;) {
    const { x, y } = await handle(page, body);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await settled(page);
    if (await page.evaluate(() => globalThis.probe.controls.held !== null)) return { x, y };
    await page.mouse.up();
  }
}

/** Take a body with the mouse and bring it along, without letting go. */
export async function drag(page, body, dx, dy) {
  const { x, y } = await handle(page, body);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + dx / 2, y + dy / 2);
  await page.mouse.move(x + dx, y + dy);
  return { x: x + dx, y: y + dy };
}

/** Ten pictures on, by key, wherever the focus was; waits until the page shows the last of them. */
export async function stride(page, count = 1) {
  await page.evaluate(() => document.activeElement?.blur());
  const time = await timeOf(page);
  for (let i = 0; i < count; i++) await page.keyboard.press("Shift+ArrowRight");
  await timePast(page, time + count / 6 - 0.01);
  await settled(page);
}

/** Wait until a body's middle is within some pixels of a place on the screen. */
export const arrives = (page, body, { x, y }, within = 1.5) =>
  page.waitForFunction(
    ([index, left, top, near]) => {
      const box = document.querySelector(`[data-body="${index}"]`).getBoundingClientRect();
      return Math.hypot(box.x + box.width / 2 - left, box.y + box.height / 2 - top) < near;
    },
    [body, x, y, within],
  );

/** The slider and the box of a number. */
export const slider = (page, name) => page.locator(`[data-parameter="${name}"] input[type=range]`);
export const box = (page, name) => page.locator(`[data-parameter="${name}"] input.box`);

/** Type a number and wait until the studio has taken it. */
export async function setNumber(page, name, value) {
  await unfold(page, name);
  await box(page, name).fill(String(value));
  await box(page, name).press("Enter");
  const taken = ([n, v]) => {
    const { controls } = globalThis.probe ?? {}; // a page that is only measured has none
    return !controls || (n === "speed" ? controls.speed : controls.parameters[n]) === v;
  };
  await page.waitForFunction(taken, [name, value]);
  await hasNumber(page, name, value);
}

/** Wait until the box of a number shows it; what was typed stands there before the studio has it. */
export const hasNumber = (page, name, value) =>
  page.waitForFunction(([n, v]) => Number(document.querySelector(`[data-parameter="${n}"] input.box`)?.value) === v, [name, value]);

/** Open the group that a number is folded away in. */
export async function unfold(page, name) {
  const group = page.locator(`details:has([data-parameter="${name}"])`);
  if ((await group.count()) > 0 && (await group.getAttribute("open")) === null) await group.locator("summary").click();
}

/** Unfold how the motion is computed: method, step, certificate. */
export const unfoldNumerics = (page) => page.locator(".numerics").evaluate((details) => (details.open = true));

/** Wait until the page shows another structure than that of `before`, the number of a revision. */
export const restructured = (page, before) =>
  page.waitForFunction((old) => document.querySelector("[data-studio]").dataset.revision !== old, before);

export const revisionOf = (page) => page.locator("[data-studio]").getAttribute("data-revision");

/** How many pixels of a 2-D canvas have about this colour, as "rgb(…)". */
export const pixels = (page, selector, colour) =>
  page.evaluate(
    ([where, wanted]) => {
      const canvas = document.querySelector(where);
      const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
      const pen = copy.getContext("2d", { willReadFrequently: true });
      pen.drawImage(canvas, 0, 0);
      const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
      const [r, g, b] = wanted.match(/\d+/g).map(Number);
      let count = 0;
      for (let i = 0; i < data.length; i += 4) {
        if (data[i + 3] > 200 && Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 40) count++;
      }
      return count;
    },
    [selector, colour],
  );

/** For `init`: a browser without WebGL, whose picture is a 2-D canvas that tests can read. */
export const withoutWebgl = () => {
  const plain = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
    return kind.startsWith("webgl") ? null : plain.call(this, kind, ...rest);
  };
};

/** Python of this project, for what the studio hands out. */
export async function runPython(code, ...files) {
  const child = spawn(python(), ["-c", code, ...files], {
    cwd: tmpdir(), // programs may write pictures beside them
    env: { ...process.env, PYTHONPATH: join(root, "src"), JAX_PLATFORMS: "cpu" },
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk) => (out += chunk));
  child.stderr.on("data", (chunk) => (err += chunk));
  const status = await new Promise((resolve) => child.once("close", resolve)); // when all that it printed has come
  assert.equal(status, 0, err);
  return out;
}

const axeRules = readFileSync(join(root, "frontend", "node_modules", "axe-core", "axe.min.js"), "utf8");

/** What axe finds wrong with the page once it stands still: must be nothing. */
export async function axe(page, what = "") {
  await drawn(page); // colours and sheets that are just changing have a contrast of their own
  await page.evaluate(axeRules);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  assert.deepEqual(
    violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`),
    [],
    what,
  );
}

/** Let go of what the mouse holds after a rest of the hand, by the clock of its events, so that it is not thrown. */
export async function letGo(page) {
  await page.waitForTimeout(400);
  await page.mouse.up();
}
