// How busy the page's main thread is while a pendulum of ten links swings, for a minute or the seconds that are given.
//
//     node browser/frame_times.mjs [seconds]
//
// Counted is processor time of the main thread alone: scripts, style, layout, paint, and the pixels of plots, which a browser
// without a GPU, as this one, fills there too. The sum is the browser's own count; the parts and the tasks come from a trace
// after it (`main_thread.mjs`), which costs some time itself. The threads that put the page together do not count, but share the
// cores; the process that draws WebGL has a row of its own. The main thread also waits until WebGL has been drawn in software and
// read back, which no browser with a GPU does: those waits are a row of their own. Prints rows of a table, and ends with 1 where
// one is too long.

import { launchChromium } from "./chromium.mjs";
import { CATEGORIES, mainThread } from "./main_thread.mjs";
import { newContext, playing, setNumber, shown, startStudio, timeOf, timePast } from "./studio.mjs";

const LINKS = 10;
const SECONDS = Number(process.argv[2] ?? 60);
/** Milliseconds of the main thread for one frame, and of one task, that are asked for. */
const [FRAME, TASK] = [8, 50];
/** Seconds of the count without a trace. */
const UNTRACED = Math.min(20, SECONDS);
/** Seconds of motion after which the code is the optimised one and the plots are nearly full. */
const WARM = 20;

/**
 * Milliseconds of processor time for one frame, while nothing is traced: of all tasks of the main thread, and of the process that
 * draws WebGL.
 */
async function timesOfFrame(browser, page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const all = await browser.newBrowserCDPSession();
  const look = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    const { processInfo } = await all.send("SystemInfo.getProcessInfo");
    const busy = metrics.find(({ name }) => name === "TaskDuration").value;
    return [busy, processInfo.find(({ type }) => type === "GPU").cpuTime, await page.evaluate(() => globalThis.drawn)];
  };
  const before = await look();
  await page.waitForTimeout(1000 * UNTRACED);
  const [busy, drawing, frames] = (await look()).map((value, i) => value - before[i]);
  return { frame: (1000 * busy) / frames, webgl: (1000 * drawing) / frames };
}

async function traced(browser, page) {
  const time = await timeOf(page);
  await browser.startTracing(page, { categories: CATEGORIES });
  await page.waitForTimeout(1000 * SECONDS);
  const trace = await browser.stopTracing();
  const then = await timeOf(page);
  if (!(then > time)) throw new Error(`The motion stands still at ${then} s.`);
  return mainThread(trace);
}

const [studio, browser] = await Promise.all([startStudio(), launchChromium()]);
const context = await newContext(browser, { viewport: { width: 1280, height: 800 } });
await context.addInitScript(() => {
  globalThis.drawn = 0;
  const plain = requestAnimationFrame.bind(globalThis);
  let last = -1;
  globalThis.requestAnimationFrame = (act) =>
    plain((now) => {
      if (now !== last) globalThis.drawn++;
      last = now;
      act(now);
    });
});
const page = await context.newPage();
await page.goto(`${studio.address}#/pendulum`);
await shown(page);
await setNumber(page, "links", LINKS);
await page.waitForFunction((count) => document.querySelectorAll("[data-body]").length === count, LINKS);
await playing(page, true);
await timePast(page, WARM);
const { frame, webgl } = await timesOfFrame(browser, page);
const { frames, busy, waited, tasks } = await traced(browser, page);
await browser.close();
await studio.stop();

const ms = (value) => `${(value ?? 0).toFixed(1)} ms`;
const long = (of) => {
  const found = tasks.map(of).filter((time) => time > TASK);
  return found.length === 0
    ? `none, longest ${Math.max(...tasks.map(of)).toFixed(0)} ms`
    : `${found.length}, longest ${Math.max(...found).toFixed(0)} ms`;
};
const rows = [
  [`main thread for one frame, ${LINKS} links, mean over ${UNTRACED} s`, ms(frame), `${FRAME} ms`],
  ["processor time of WebGL in software for one frame, likewise", ms(webgl), "–"],
  ["while it is traced: scripts; style and layout", `${ms(busy.script)}; ${ms(busy.layout)}`, "–"],
  ["likewise paint; pixels of plots; all else", `${ms(busy.paint)}; ${ms(busy.pixels)}; ${ms((busy.other ?? 0) + (busy.wait ?? 0))}`, "–"],
  ["frames a second", (frames / SECONDS).toFixed(0), "–"],
  ["waiting for WebGL in software, in one frame", ms(waited), "–"],
  [`tasks of more than ${TASK} ms of processor time`, long(({ busy: time }) => time), "none"],
  [`tasks of more than ${TASK} ms by the clock, waits and other programs included`, long(({ clock }) => clock), "–"],
];
for (const row of rows) console.log(`| ${row.join(" | ")} |`);
if (frame > FRAME || tasks.some((task) => task.busy > TASK)) process.exitCode = 1;
