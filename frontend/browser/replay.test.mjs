// Runs that replay without a server: the page of `holonomy export`, opened as a file, and the widget of a notebook.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, it } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { shared, slowTest } from "./harness.mjs";
import {
  button,
  changed,
  closed,
  complains,
  drawn,
  newContext,
  numbersIn,
  pixels,
  playing,
  python,
  runPython,
  shown,
  stateOf,
  TEST_LIMIT,
  tapped,
  timeOf,
  timePast,
  until,
  withoutWebgl,
} from "./studio.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const player = join(root, "src", "holonomy", "studio", "static", "player");
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const WICKED = "</script><script>window.ran = 1</script><img src=x onerror='window.ran = 2'>";

const MAKE = `
import json, sys
import jax.numpy as jnp
import holonomy as hl
from holonomy.cli import app
folder = sys.argv[1]
def page(name, run, *options):
    run.save(f"{folder}/{name}.nc")
    app(["export", f"{folder}/{name}.nc", *options], standalone_mode=False)
double = hl.simulate(hl.Pendulum([1.0, 1.0], [1.0, 1.0]), [1.5, 2.0], [0.0, 0.0], 8.0, dt=0.02)
page("double", double, "--title", ${JSON.stringify(WICKED)})
page("space", hl.simulate(hl.Pendulum([1.0], [1.0], dimension=3), [0.8, 0.0, -0.6], [0.0, 1.0, 0.0], 3.0, dt=0.02))
spring = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.sum(v**2) - 0.5 * jnp.sum(q**2), coordinates=("x",))
page("plots", hl.simulate(spring, [1.0], [0.0], 5.0, dt=0.02))
rows = [[float(t), *map(float, q), *map(float, v)] for t, q, v in zip(double.t, double.q, double.v)]
print(json.dumps(rows))
`;

let folder;
let rows;

before(
  async () => {
    folder = await mkdtemp(join(tmpdir(), "holonomy-"));
    rows = JSON.parse((await runPython(MAKE, folder)).trim().split("\n").at(-1));
  },
  { timeout: TEST_LIMIT },
);

after(() => rm(folder, { recursive: true }));

/** A test with a page opened as a file, without a network; it must ask for nothing and end without a word. */
function withFile(name, file, test, { moving = false, init, expected = /^$/, ...options } = {}) {
  slowTest(name, async () => {
    const context = await newContext(shared.browser, {
      viewport: { width: 1440, height: 900 },
      reducedMotion: moving ? "no-preference" : "reduce",
      offline: true,
      ...options,
    });
    if (init) await context.addInitScript(init);
    const page = await context.newPage();
    const [said, asked] = [[], []];
    page.on("console", (message) => complains(message) && said.push(message.text()));
    page.on("pageerror", (error) => said.push(String(error)));
    page.on("request", (request) => asked.push(request.url()));
    const address = pathToFileURL(join(folder, `${file}.html`)).href;
    try {
      await page.goto(address);
      await shown(page);
      await test(page);
    } finally {
      await context.close();
    }
    assert.deepEqual(
      asked.filter((url) => url !== address && !/^(data|blob):/.test(url)),
      [],
    );
    assert.deepEqual(
      said.filter((words) => !expected.test(words)),
      [],
    );
  });
}

const seek = (page, seconds) =>
  page.getByRole("slider", { name: "Timeline" }).evaluate((slider, value) => {
    Object.assign(slider, { value: String(value) });
    slider.dispatchEvent(new Event("change", { bubbles: true }));
  }, seconds);

describe("an exported run", () => {
  withFile(
    "moves by itself, to its end, and starts again",
    "double",
    async (page) => {
      const speed = async (value) => {
        await page.getByRole("textbox", { name: /Speed/ }).fill(value);
        await page.keyboard.press("Enter");
      };
      await timePast(page, 0.2); // no one has touched it
      await until(page, async () => (await pixels(page, ".stage canvas", "rgb(0, 114, 178)")) > 100, "a blue bob");
      await speed("10");
      await playing(page, false);
      assert.equal(await timeOf(page), 8);
      await speed("0.1"); // or it might be over before anyone has looked
      await button(page, "Play");
      await playing(page, true);
      await page.waitForFunction(() => Number(document.querySelector("[data-studio]").dataset.time) < 8);
    },
    { moving: true, init: withoutWebgl },
  );

  withFile("shows the run's own states, bit for bit", "double", async (page) => {
    assert.deepEqual(numbersIn(await stateOf(page)), rows[0]);
    for (const index of [1, 2]) {
      const before = await stateOf(page);
      await tapped(page, "Step forward");
      assert.deepEqual(numbersIn(await changed(page, before)), rows[index]);
    }
    const before = await stateOf(page);
    await tapped(page, "Step back");
    assert.deepEqual(numbersIn(await changed(page, before)), rows[1]);
    await seek(page, 5.004);
    await page.waitForFunction(() => Number(document.querySelector("[data-studio]").dataset.time) === 5);
    assert.deepEqual(numbersIn(await stateOf(page)), rows[250]);
  });

  withFile(
    "draws the whole past of a moment that was leapt to",
    "double",
    async (page) => {
      await seek(page, 4);
      await page.waitForFunction(() => Number(document.querySelector("[data-studio]").dataset.time) === 4);
      await page.locator('[data-stage][data-trails="2"]').waitFor();
      const counts = () => page.locator("[data-rows]").evaluateAll((plots) => plots.map((plot) => Number(plot.dataset.rows)));
      const whole = async () => {
        const found = await counts();
        return found.length >= 3 && found.every((count) => count === 201);
      };
      await until(page, whole, async () => `201 rows in each of at least three plots: ${await counts()}`);
    },
    {
      init: () =>
        (window.matchMedia = (
          (real) => (query) =>
            query.includes("reduced-motion") ? { ...real("not all"), matches: false, addEventListener() {} } : real(query)
        )(window.matchMedia.bind(window))),
    },
  );

  withFile("offers what a recording can do, and nothing else", "double", async (page) => {
    for (const name of ["Play", "Step back", "Step forward", "Reset", "Help"])
      assert.equal(await page.getByRole("button", { name, exact: true }).count(), 1, name);
    for (const name of ["Undo", "Redo", "Share", "Equations"])
      assert.equal(await page.getByRole("button", { name, exact: true }).count(), 0, name);
    for (const name of ["Timeline", /Speed/]) assert.ok((await page.getByRole("slider", { name }).count()) >= 1, String(name));
    assert.equal(await page.getByRole("checkbox", { name: "Trails" }).count(), 1);
    assert.equal(await page.locator("[data-body]").count(), 0);
    await page.locator("summary", { hasText: "Export" }).click();
    assert.deepEqual(await page.locator(".menu b").allInnerTexts(), ["GIF", "MP4", "WebM", "PNG", "SVG"]);
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator(".menu button", { hasText: "PNG" }).click()]);
    const image = await readFile(await download.path());
    assert.equal(image.subarray(1, 4).toString(), "PNG");
    assert.ok(image.length > 5000);
  });

  withFile("is moved with keys alone", "double", async (page) => {
    const speed = page.getByRole("textbox", { name: /Speed/ });
    await speed.fill("0.1"); // or it might be over before anyone has looked
    await speed.press("Enter");
    await speed.blur();
    await page.keyboard.press("Shift+ArrowRight");
    await timePast(page, 0.19);
    await page.keyboard.press("r");
    await page.waitForFunction(() => document.querySelector("[data-studio]").dataset.time === "0");
    await page.keyboard.press("Space");
    await playing(page, true);
    await page.keyboard.press("Space");
    await playing(page, false);
    await page.keyboard.press("?");
    await page.locator("dialog").waitFor();
    assert.doesNotMatch(await page.locator("dialog").innerText(), /computed by Python while you watch/);
    await closed(page);
    await page.keyboard.press("e");
    await drawn(page);
    assert.equal(await page.locator("dialog").count(), 0);
  });

  withFile("says how good it is and where it came from", "double", async (page) => {
    assert.equal(await page.locator("h1").innerText(), WICKED);
    assert.equal(await page.evaluate(() => window.ran), undefined);
    const about = await page.getByRole("region", { name: "About this run" }).innerText();
    for (const words of ["energy drift", "Gauss", "lengths = [1.0, 1.0]", "gravity = 9.81", "jax = "])
      assert.ok(about.includes(words), words);
  });

  withFile(
    "runs no script but its own",
    "double",
    async (page) => {
      const stopped = await page.evaluate(async () => {
        const heard = new Promise((resolve) =>
          document.addEventListener("securitypolicyviolation", (event) => resolve(event.violatedDirective), { once: true }),
        );
        const script = document.createElement("script");
        script.textContent = "window.ran = 3";
        document.body.append(script);
        return [await heard, window.ran ?? null];
      });
      assert.deepEqual(stopped, ["script-src-elem", null]);
    },
    { expected: /Content Security Policy/ },
  );

  withFile("in space can be turned, with pointer and keys", "space", async (page) => {
    const stage = page.getByRole("group", { name: /^Picture: space/ });
    const camera = () => stage.getAttribute("data-camera");
    const first = await camera();
    const { x, y, width, height } = await stage.boundingBox();
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width / 2 + 80, y + height / 2 + 20);
    await page.mouse.up();
    const second = await until(page, async () => (await camera()) !== first && camera(), "another view");
    await stage.focus();
    const before = await stateOf(page);
    await page.keyboard.press("ArrowLeft");
    await until(page, async () => (await camera()) !== second, "another view");
    assert.equal(await stateOf(page), before, "the keys that turn the picture do not move time");
    assert.deepEqual(await page.locator(".axis.free").allInnerTexts(), ["x / m", "y / m", "z / m"]);
  });

  withFile("without positions shows plots and says why", "plots", async (page) => {
    assert.equal(await page.locator("[data-stage]").count(), 0);
    assert.ok((await page.locator(".plot canvas").count()) >= 3);
    assert.match(await page.locator(".summary").innerText(), /does not know its positions/);
  });

  for (const file of ["double", "space"]) {
    withFile(`can be used by everyone (axe, ${file})`, file, async (page) => {
      // The page's own policy keeps axe out, as it should; the tester's own world is let in.
      const client = await page.context().newCDPSession(page);
      await client.send("Page.setBypassCSP", { enabled: true });
      await drawn(page);
      await page.evaluate(readFileSync(axe, "utf8"));
      const found = await page.evaluate(async () =>
        (await window.axe.run()).violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join(" | ")}`),
      );
      assert.deepEqual(found, []);
    });
  }
});

const SERVE = `
import base64, json, sys
import holonomy as hl
text = lambda data: None if data is None else base64.b64encode(data).decode()
view = hl.Pendulum([1.0, 1.0], [1.0, 1.0]).studio([1.5, 2.0], title="Live", autoplay=False)
traits = {name: getattr(view, name) for name in ("head", "commands", "height", "autoplay")}
print(json.dumps(traits | {"numbers": text(view.numbers)}), flush=True)
for line in sys.stdin:
    told, numbers = view.answer(json.loads(line))
    print(json.dumps([told, text(numbers)]), flush=True)
`;

/** A Python that answers each line with a line. */
function kernel() {
  const child = spawn(python(), ["-c", SERVE], {
    cwd: root,
    env: { ...process.env, PYTHONPATH: join(root, "src"), JAX_PLATFORMS: "cpu" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value);
  let turn = Promise.resolve();
  return {
    next,
    ask: (content) =>
      (turn = turn.then(() => {
        child.stdin.write(`${JSON.stringify(content)}\n`);
        return next();
      })),
    stop: () => child.kill(),
  };
}

/** In the page: what a notebook does with a widget. */
async function notebook({ script, traits }) {
  const bytes = (text) => new DataView(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
  const heard = new Set();
  const model = {
    get: (name) => (name === "numbers" ? bytes(traits.numbers) : traits[name]),
    on: (_, hear) => heard.add(hear),
    off: (_, hear) => heard.delete(hear),
    send: (content) =>
      window.ask(content).then(([told, numbers]) => heard.forEach((hear) => hear(told, numbers === null ? [] : [bytes(numbers)]))),
  };
  const { default: widget } = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  window.remove = widget.render({ model, el: document.getElementById("cell") });
  document.addEventListener("keydown", (event) => (window.keys = [...(window.keys ?? []), event.key]));
}

describe("a live system in a notebook", () => {
  slowTest("is computed by the kernel: plays, takes another number, is dragged, starts again", async () => {
    const python = kernel();
    const context = await newContext(shared.browser, { viewport: { width: 1000, height: 700 } });
    try {
      const page = await context.newPage();
      const said = [];
      page.on("console", (message) => complains(message) && said.push(message.text()));
      page.on("pageerror", (error) => said.push(String(error)));
      await touch(page, python);
      assert.deepEqual(said, []);
    } finally {
      python.stop();
      await context.close();
    }
  });
});

/** Everything that a hand can do to a live system. */
async function touch(page, python) {
  const traits = await python.next();
  await page.setContent(
    `<!doctype html><title>A notebook</title><style>${readFileSync(join(player, "player.css"), "utf8")}</style><div id="cell"></div>`,
  );
  await page.exposeFunction("ask", python.ask);
  await page.evaluate(notebook, { script: readFileSync(join(player, "player.js"), "utf8"), traits });
  await shown(page);
  assert.deepEqual(numbersIn(await stateOf(page)), [0, 1.5, 2, 0, 0]);

  await button(page, "Play"); // farther than what came with the widget
  await page.getByRole("textbox", { name: /Speed/ }).fill("5");
  await page.keyboard.press("Enter");
  await timePast(page, 2.5);
  await button(page, "Pause");
  await playing(page, false);

  const gravity = page.getByRole("textbox", { name: /gravity/ });
  const before = numbersIn(await stateOf(page));
  await gravity.fill("2");
  await gravity.press("Enter");
  await page.waitForFunction(() => {
    const { max, value } = document.querySelector("[data-studio] .timeline");
    return Number(max) - Number(value) < 1e-3; // what was computed ahead is void
  });
  assert.deepEqual(numbersIn(await stateOf(page)), before, "another number changes what comes, not the state");

  const bob = page.locator('[data-body="1"]');
  const { x, y, width, height } = await bob.boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width / 2 - 40, y + height / 2 + 10);
  await page.mouse.up();
  // First it comes to rest, then it is elsewhere.
  const moved = async () => numbersIn(await stateOf(page)).some((value, i) => (i === 1 || i === 2) && value !== before[i]);
  await until(page, moved, "the bob should be where it was dragged to");

  await button(page, "Reset");
  await page.waitForFunction(() => document.querySelector("[data-studio]").dataset.time === "0");
  assert.deepEqual(numbersIn(await stateOf(page)).slice(0, 3), [0, 1.5, 2]);
  assert.equal(Number(await gravity.inputValue()), 2);

  await page.locator(".stage").first().click();
  await page.locator("button.play").press("r");
  assert.deepEqual(await page.evaluate(() => window.keys ?? []), [], "keys in the viewer are not the notebook's");
  await page.evaluate(() => window.remove());
  assert.equal(await page.locator("[data-studio]").count(), 0);
}

describe("the player", () => {
  it("is under 400 kB compressed, fonts included, and asks for no other file", () => {
    const files = ["player.js", "player.css"].map((name) => readFileSync(join(player, name)));
    const total = files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).length, 0);
    assert.ok(total < 400_000, `${total} bytes`);
    console.log(`# player: ${(total / 1000).toFixed(1)} kB compressed`);
  });
});
