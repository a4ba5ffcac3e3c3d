// From opening a lab to its motion, and a studio that stops answering.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "node:test";
import { shared, slowTest } from "./harness.mjs";
import { box, button, hasNumber, newContext, noticeShown, openPage, settled, startStudio, timePast } from "./studio.mjs";

const STOPPED = /stopped answering/;

describe("opening", () => {
  slowTest("draws the pose before anything is compiled, then moves", async () => {
    const cache = await mkdtemp(join(tmpdir(), "holonomy-cold-"));
    process.env.HOLONOMY_CACHE = cache;
    const studio = await startStudio().finally(() => delete process.env.HOLONOMY_CACHE);
    try {
      const context = await newContext(shared.browser);
      const page = await context.newPage();
      const phases = [];
      page.on("websocket", (socket) =>
        socket.on("framereceived", ({ payload }) => {
          if (typeof payload !== "string") phases.push("frame");
          else if (payload.startsWith('{"type":"controls"')) phases.push(JSON.parse(payload).phase);
        }),
      );
      await page.goto(`${studio.address}#/linkage`);
      await timePast(page, 0);
      assert.deepEqual(phases.slice(0, 2), ["opening", "frame"]);
      assert.ok(phases.includes("ready"));
      await context.close();
    } finally {
      await studio.stop();
      await rm(cache, { recursive: true, force: true });
    }
  });

  slowTest("can be cancelled while a structure is compiled", async () => {
    const studio = await startStudio("toy_lab", "slow_lab");
    try {
      const { page, close } = await openPage(shared.browser, `${studio.address}#/slow`);
      await settled(page);
      const seconds = box(page, "seconds");
      await seconds.fill("900"); // longer than any machine takes to come to the button
      await seconds.press("Enter");
      await button(page, "Cancel");
      await hasNumber(page, "seconds", 0);
      await page.locator(".compiling").waitFor({ state: "detached" });
      await close();
    } finally {
      await studio.stop();
    }
  });
});

describe("a frozen studio", () => {
  slowTest("is noticed, and so is its return", async (context) => {
    const studio = await startStudio();
    try {
      const { page, close } = await openPage(shared.browser, studio.address, {});
      await settled(page);
      studio.signal("SIGSTOP");
      const begin = await page.evaluate(() => performance.now());
      await noticeShown(page, STOPPED);
      const waited = (await page.evaluate(() => performance.now())) - begin;
      studio.signal("SIGCONT");
      await page.waitForFunction(() => !document.querySelector(".notice.shown"));
      context.diagnostic(`noticed after ${waited.toFixed(0)} ms`); // not a limit: the machine may be busy
      await close();
    } finally {
      studio.signal("SIGCONT");
      await studio.stop();
    }
  });
});
