// Which Chromium the browser tests drive, and how it is started.
//
// In this order: the path in HOLONOMY_CHROMIUM ("packed" means the last of these); a Chromium or Chrome on PATH; the
// headless shell packed in the npm package @sparticuz/chromium, unpacked once under node_modules/.cache. Nothing is
// downloaded here.
//
//     import { launchChromium } from "./chromium.mjs";
//     const browser = await launchChromium();
//
// Run by itself, this file prints the path it found, its version and the WebGL renderer.

import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { brotliDecompressSync } from "node:zlib";

const run = promisify(execFile);
const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, "..", "node_modules");
const packed = join(modules, "@sparticuz", "chromium");
const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

// Software WebGL, so that a machine without a GPU draws the same picture. The pages under test are our own, so no sandbox
// is needed, and Chromium refuses one for root. `--single-process`, which the packed shell's own list of flags has, must
// stay away: with it the browser dies when the first context closes.
// Only WebGL is drawn that way: text, plots and putting the page together cost a fifth of the time where Skia draws them.
const flags = [
  "--no-sandbox",
  "--use-gl=angle",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
  "--disable-accelerated-2d-canvas",
  "--disable-gpu-rasterization",
  "--disable-gpu-compositing",
];

const usable = (path) =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

async function onPath() {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    for (const name of names) {
      if (folder !== "" && (await usable(join(folder, name)))) return join(folder, name);
    }
  }
  return undefined;
}

// The packed shell is linked against a few libraries (NSS, expat) that a bare machine may lack; the package carries them.
async function libraries(executablePath, folder) {
  try {
    await run(executablePath, ["--version"]);
    return {};
  } catch (error) {
    if (!String(error.stderr).includes("shared libraries")) throw error;
    const whole = join(folder, "lib");
    if (!(await usable(whole))) {
      // as in `unpack`: whole or not there, however many test runs begin at once
      const fresh = await mkdtemp(join(folder, "libraries-"));
      const archive = join(fresh, "libraries.tar");
      await writeFile(archive, brotliDecompressSync(await readFile(join(packed, "bin", "al2023.tar.br"))));
      await run("tar", ["-xf", archive, "-C", fresh]);
      await rename(join(fresh, "lib"), whole).catch(async (error) => {
        if (!(await usable(whole))) throw error;
      });
      await rm(fresh, { recursive: true, force: true });
    }
    return { LD_LIBRARY_PATH: whole };
  }
}

// A machine without fonts draws with the one in the package; its own fonts.conf looks in other folders than ours.
async function fonts(folder) {
  if (
    await access("/etc/fonts/fonts.conf").then(
      () => true,
      () => false,
    )
  )
    return {};
  const file = join(folder, "fonts.conf");
  const places = `<dir>${join(folder, "fonts")}</dir><cachedir>${folder}</cachedir>`;
  await writeFile(file, `<?xml version="1.0"?><fontconfig>${places}</fontconfig>`);
  return { FONTCONFIG_FILE: file };
}

// The package unpacks into TMPDIR. We give it a folder of its own and rename that when it is whole, so that two test
// runs at once, or one that was interrupted, never see half a browser.
async function unpack() {
  const { version } = JSON.parse(await readFile(join(packed, "package.json"), "utf8"));
  const cache = join(modules, ".cache", "holonomy");
  const folder = join(cache, `chromium-${version}`);
  if (!(await usable(join(folder, "chromium")))) {
    await mkdir(cache, { recursive: true });
    const fresh = await mkdtemp(join(cache, "unpack-"));
    const before = process.env.TMPDIR;
    process.env.TMPDIR = fresh;
    try {
      await (await import("@sparticuz/chromium")).default.executablePath();
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    }
    await rename(fresh, folder).catch(async (error) => {
      await rm(fresh, { recursive: true, force: true });
      if (!(await usable(join(folder, "chromium")))) throw error;
    });
  }
  const executablePath = join(folder, "chromium");
  return { executablePath, env: { ...(await libraries(executablePath, folder)), ...(await fonts(folder)) } };
}

/** Where Chromium is, the flags it needs and the environment to start it in. */
export async function findChromium() {
  const given = process.env.HOLONOMY_CHROMIUM;
  if (given && given !== "packed" && !(await usable(given))) {
    throw new Error(`HOLONOMY_CHROMIUM is ${given}, which cannot be run; unset it, name a Chromium or say "packed".`);
  }
  const installed = given === "packed" ? undefined : given || (await onPath());
  const { executablePath, env } = installed ? { executablePath: installed, env: {} } : await unpack();
  // With LANG=C.UTF-8 the browser calls its language "en-US@posix", which Intl rejects.
  return { executablePath, args: [...flags], env: { ...process.env, LANG: "en_US.UTF-8", LC_ALL: "en_US.UTF-8", ...env } };
}

/** A running headless Chromium (a Playwright Browser). `options` are Playwright's own; its `args` are added to ours. */
export async function launchChromium(options = {}) {
  const { chromium } = await import("playwright-core");
  const { args = [], env = {}, ...rest } = options;
  const found = await findChromium();
  return chromium.launch({
    ...rest,
    executablePath: found.executablePath,
    args: [...found.args, ...args],
    env: { ...found.env, ...env },
  });
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { executablePath } = await findChromium();
  const browser = await launchChromium();
  const page = await browser.newPage();
  const renderer = await page.evaluate(() => {
    const gl = document.createElement("canvas").getContext("webgl2");
    const info = gl?.getExtension("WEBGL_debug_renderer_info");
    return gl && info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "no WebGL";
  });
  console.log(`${executablePath}\n${browser.version()}\n${renderer}`);
  await browser.close();
}
