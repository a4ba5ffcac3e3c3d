// What is read, taken along or brought back: equations, files, links; and that everyone can use the page, without a network.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { shared, slowTest, withPage } from "./harness.mjs";
import {
  axe,
  becomes,
  button,
  changed,
  closed,
  drag,
  hasNumber,
  newContext,
  noticeShown,
  numbersIn,
  opened,
  pictures,
  playing,
  restructured,
  revisionOf,
  runPython,
  setNumber,
  settled,
  sharedLink,
  shown,
  stateOf,
  stride,
  timeOf,
  timePast,
  unfoldNumerics,
  until,
} from "./studio.mjs";

const here = dirname(fileURLToPath(import.meta.url));
let folder;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "holonomy-"));
});

after(() => rm(folder, { recursive: true, force: true }));

/** A state that no one would have by chance: other gravity, a while of motion, a drag, a little motion more. */
async function someState(page) {
  await setNumber(page, "gravity", 7.3);
  await stride(page);
  const before = await stateOf(page);
  await drag(page, 1, -70, 30);
  await changed(page, before);
  await page.mouse.up();
  await settled(page);
  await stride(page);
  return stateOf(page);
}

const choose = async (page, kind) => {
  await page.locator("summary", { hasText: "Export" }).click();
  await page
    .locator(".menu button")
    .filter({ has: page.getByText(kind, { exact: true }) })
    .click();
};

/** How many kinds of colour the first picture of a film has. */
const firstPicture = (page, base64, type) =>
  page.evaluate(
    async ([text, media]) => {
      const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
      const blob = new Blob([bytes], { type: media });
      let source;
      if (media === "image/gif") source = await createImageBitmap(blob);
      else {
        source = Object.assign(document.createElement("video"), { muted: true, src: URL.createObjectURL(blob) });
        await new Promise((resolve, reject) => {
          source.requestVideoFrameCallback(resolve); // when the first one can be drawn
          source.play().catch(reject);
          source.onerror = () => reject(new Error(source.error.message));
        });
      }
      const [width, height] = [source.videoWidth ?? source.width, source.videoHeight ?? source.height];
      const pen = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d");
      pen.drawImage(source, 0, 0);
      const { data } = pen.getImageData(0, 0, width, height);
      const seen = new Set();
      for (let i = 0; i < data.length; i += 4) seen.add((data[i] >> 5) * 64 + (data[i + 1] >> 5) * 8 + (data[i + 2] >> 5));
      return seen.size;
    },
    [base64, type],
  );

/** The file that the browser keeps when `act` is done. */
async function downloaded(page, act) {
  const [download] = await Promise.all([page.waitForEvent("download"), act()]);
  const path = join(folder, download.suggestedFilename());
  await download.saveAs(path);
  return { name: download.suggestedFilename(), path, content: await readFile(path) };
}

describe("equations", () => {
  withPage("are set by KaTeX, from the system that is simulated", async (page) => {
    await page.keyboard.press("e");
    await page.locator("dialog .katex").first().waitFor();
    assert.ok((await page.locator("dialog .formula").count()) >= 1);
    assert.equal(await page.locator("dialog .katex-error").count(), 0);
    const math = await page.locator("dialog math annotation").first().textContent();
    assert.match(math, /theta/);
    await page.waitForFunction(() => [...document.fonts].some((font) => font.family.includes("KaTeX_Math") && font.status === "loaded"));
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
  });

  withPage("are refused in a sentence for a long chain", async (page) => {
    await unfoldNumerics(page);
    await page.getByLabel("Method").selectOption("rk4");
    const before = await revisionOf(page);
    await setNumber(page, "links", 30);
    await restructured(page, before);
    await opened(page, "Equations");
    await page.locator("dialog .sheet p", { hasText: /^The equations of 30 links are too long to show\./ }).waitFor();
  });
});

describe("a link", () => {
  withPage("opens the very state again", async (page) => {
    const state = await someState(page);
    const address = await sharedLink(page);
    assert.match(new URL(address).hash, /^#\/pendulum\?s=[\w-]+$/);
    await page.waitForURL(address); // the address bar shows it too
    const document = JSON.parse(Buffer.from(address.split("?s=")[1], "base64url").toString());
    assert.ok(document.version >= 1, "the document says its version");
    await closed(page);
    const other = await page.context().newPage();
    await other.goto(address);
    await shown(other);
    await becomes(other, state);
    await hasNumber(other, "gravity", 7.3);
    await other.close();
  });

  withPage("that was cut is refused in a sentence, and the lab opens as ever", async (page) => {
    const other = await page.context().newPage();
    await other.goto(`${new URL(page.url()).origin}/#/pendulum?s=eyJ2ZXJ`);
    await shown(other);
    await noticeShown(other, /link/i);
  });
});

describe("export", () => {
  withPage("as Python comes to the same state, and goes on as the studio does", async (page) => {
    const state = numbersIn(await someState(page));
    await choose(page, "Python");
    const file = join(folder, "state.py");
    await writeFile(file, await page.locator("dialog pre").innerText());
    await closed(page);
    await stride(page);
    const later = numbersIn(await stateOf(page));
    const out = await runPython(
      "import sys, json, runpy, numpy as np; n = runpy.run_path(sys.argv[1]); r = n['run']; i = int(np.argmin(abs(r.t - float(sys.argv[2]))));" +
        "rows = [(n['t'], n['q'], n['v']), (r.t[i], r.q[i], r.v[i])];" +
        "print(json.dumps([[float(x) for x in np.concatenate([np.ravel(part) for part in row])] for row in rows]))",
      file,
      String(later[0]),
    );
    const [there, after] = JSON.parse(out.trim().split("\n").at(-1));
    const apart = (a, b) => Math.max(...a.map((number, i) => Math.abs(number - b[i]) / Math.max(1, Math.abs(b[i]))));
    assert.equal(there.length, state.length);
    assert.equal(apart(there, state), 0, "the very same bits");
    assert.ok(apart(after, later) <= 1e-12, `a sixth of a second later they are ${apart(after, later)} apart`);
  });

  withPage("as a scene, a table and NetCDF", async (page) => {
    await someState(page);
    await choose(page, "Scene");
    const scene = await page.locator("dialog pre").innerText();
    const saved = await downloaded(page, () => page.locator("dialog").getByRole("button", { name: "Save" }).click());
    assert.equal(saved.content.toString(), scene);
    await runPython("import sys, tomllib; tomllib.load(open(sys.argv[1], 'rb'))", saved.path);
    await closed(page);
    const table = await downloaded(page, () => choose(page, "CSV"));
    const rows = table.content.toString().trim().split("\n");
    assert.match(rows[0], /^t\b/);
    assert.ok(rows.length > 10);
    const net = await downloaded(page, () => choose(page, "NetCDF"));
    const shape = await runPython(
      "import sys, xarray; d = xarray.open_dataset(sys.argv[1], engine='h5netcdf'); print(dict(d.sizes))",
      net.path,
    );
    assert.match(shape, /time|t/);
  });

  withPage("as an image, which is the picture on the screen with its axes", async (page) => {
    const image = await downloaded(page, () => choose(page, "PNG"));
    assert.deepEqual(
      [...image.content.subarray(1, 4)],
      [..."PNG"].map((c) => c.charCodeAt(0)),
    );
    const stage = await page.locator(".stage").boundingBox();
    assert.ok(Math.abs(image.content.readUInt32BE(16) - 2 * stage.width) <= 2);
    assert.ok(Math.abs(image.content.readUInt32BE(20) - 2 * stage.height) <= 2);
    const kinds = await page.evaluate(async (base64) => {
      const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
      const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
      const canvas = document.createElement("canvas");
      Object.assign(canvas, { width: bitmap.width, height: bitmap.height });
      const pen = canvas.getContext("2d");
      pen.drawImage(bitmap, 0, 0);
      const { data } = pen.getImageData(0, 0, bitmap.width, bitmap.height);
      const seen = new Set();
      for (let i = 0; i < data.length; i += 4) seen.add((data[i] >> 5) * 64 + (data[i + 1] >> 5) * 8 + (data[i + 2] >> 5));
      return seen.size;
    }, image.content.toString("base64"));
    assert.ok(kinds > 10, `${kinds} kinds of colour`);
  });

  withPage("as a drawing", async (page) => {
    const { content } = await downloaded(page, () => choose(page, "SVG"));
    const drawing = content.toString();
    assert.match(drawing, /^<svg xmlns/);
    assert.doesNotMatch(drawing, /<image/); // the whole picture is made of lines
    assert.match(drawing, />x<\/text>/);
    const shapes = await page.evaluate((text) => {
      const found = new DOMParser().parseFromString(text, "image/svg+xml");
      return { errors: found.querySelectorAll("parsererror").length, paths: found.querySelectorAll("path").length };
    }, drawing);
    assert.equal(shapes.errors, 0);
    assert.ok(shapes.paths >= 5, `${shapes.paths} paths: grid, rods, bobs`);
  });

  withPage("as films whose first picture is not blank", async (page) => {
    for (const [kind, magic] of [
      ["WebM", 0x1a45dfa3],
      ["MP4", null],
      ["GIF", 0x47494638],
    ]) {
      await choose(page, kind);
      await page.getByRole("button", { name: "Stop filming" }).waitFor(); // it has begun
      await button(page, "Play");
      await timePast(page, (await timeOf(page)) + 0.5);
      await pictures(page, 30);
      const film = await downloaded(page, () => button(page, "Stop filming"));
      await button(page, "Pause");
      if (magic !== null) assert.equal(film.content.readUInt32BE(0), magic);
      else assert.equal(film.content.toString("latin1", 4, 8), "ftyp");
      const kinds = await firstPicture(
        page,
        film.content.toString("base64"),
        `${kind === "GIF" ? "image" : "video"}/${kind.toLowerCase()}`,
      );
      assert.ok(kinds >= 8, `${kind}: ${kinds} kinds of colour in its first picture`);
    }
  });

  withPage("as a web page that replays without a studio, with the same plots and states, and as lines that embed it", async (page) => {
    await page.getByLabel("Vertical axis of plot 1").selectOption("tension1");
    await button(page, "Play");
    await timePast(page, 0.5);
    await button(page, "Pause");
    await settled(page);
    const state = await stateOf(page);
    const file = await downloaded(page, () => choose(page, "Web page"));
    const context = await newContext(shared.browser, { offline: true, reducedMotion: "reduce" });
    const replay = await context.newPage();
    const requests = [];
    replay.on("request", (request) => requests.push(request.url()));
    await replay.goto(pathToFileURL(file.path).href);
    await shown(replay);
    await replay.getByLabel("Timeline").focus();
    await replay.keyboard.press("End");
    await becomes(replay, state);
    await replay.locator('.plot:first-of-type .canvas[aria-label^="Tension of link 1 against time"]').waitFor();
    assert.deepEqual(
      requests.filter((address) => !address.startsWith("file:")),
      [],
    );
    assert.equal(await replay.locator("[data-body]:not([disabled])").count(), 0);
    await context.close();
    await choose(page, "Embed");
    assert.match(await page.locator("dialog pre").innerText(), /<iframe src="pendulum\.html" title="Pendulum: [^"]*"/);
    await page.keyboard.press("Escape");
  });
});

describe("everyone", () => {
  for (const [name, options] of [
    ["light", { colorScheme: "light" }],
    ["dark", { colorScheme: "dark" }],
    ["on a phone", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }],
  ]) {
    withPage(
      `can use the page: axe finds nothing (${name})`,
      async (page) => {
        await axe(page, "the page");
        await page.getByLabel("Ghost", { exact: true }).click();
        await page.locator('[data-meter="divergence"]').waitFor();
        await settled(page);
        await page.locator("summary", { hasText: "Lengths" }).click();
        await page.locator("summary", { hasText: "Export" }).click();
        await axe(page, "with ghost, groups and menu open");
        await page.keyboard.press("Escape");
        for (const sheet of ["Help", "Share", "Equations"]) {
          await opened(page, sheet);
          if (sheet === "Equations") await page.locator("dialog .katex, dialog .sheet p").first().waitFor();
          await axe(page, sheet);
          await closed(page);
        }
      },
      options,
    );
  }

  withPage("gets help on ?, and the focus back afterwards", async (page) => {
    const play = page.getByRole("button", { name: "Play" });
    await play.focus();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "How to use the studio" }).waitFor();
    assert.match(await page.locator("dialog").innerText(), /Ctrl Z/);
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    await page.waitForFunction(() => document.activeElement.getAttribute("aria-label") === "Play");
  });

  withPage("hears where the motion is held", async (page) => {
    await settled(page);
    assert.match(await page.locator("[data-summary]").innerText(), /^Held at 0\.00 seconds\. θ₁ 2\.00.rad, θ₂ .*\. Total energy/);
    await button(page, "Play");
    await timePast(page, 0.2);
    await page.waitForFunction(() => document.querySelector("[data-summary]").innerText === "");
    await button(page, "Pause");
    await playing(page, false);
    await page.waitForFunction(() => /^Held at/.test(document.querySelector("[data-summary]").innerText));
  });
});

describe("the bundle", () => {
  it("is under 400 kB compressed, without the fonts of mathematics", () => {
    const built = join(here, "..", "..", "src", "holonomy", "studio", "static");
    const files = readdirSync(built, { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile() && !/player$/.test(entry.parentPath ?? entry.path) && !/KaTeX.*\.woff2?$/.test(entry.name),
    );
    const sizes = files.map((entry) => gzipSync(readFileSync(join(entry.parentPath ?? entry.path, entry.name)), { level: 9 }).length);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(total < 400_000, `${total} bytes`);
  });

  slowTest("comes from the studio alone, mathematics included", async () => {
    const context = await newContext(shared.browser);
    const page = await context.newPage();
    const [own, foreign] = [new URL(shared.studio.address).host, []];
    page.on("request", (request) => {
      const { host, protocol } = new URL(request.url());
      if (host !== own && protocol !== "blob:") foreign.push(request.url());
    });
    await page.goto(`${shared.studio.address}#/pendulum`);
    await shown(page);
    await until(page, () => new URL(page.url()).search === "", "the token should not stay in the address");
    await page.keyboard.press("e");
    await page.locator("dialog .katex").first().waitFor();
    assert.deepEqual(foreign, []);
    await context.close();
  });
});
