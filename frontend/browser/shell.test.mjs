// Home, labs without a reload, presets, stories, numbers, looks and languages, small and large screens.

import assert from "node:assert/strict";
import { describe } from "node:test";
import { shared, slowTest, withPage } from "./harness.mjs";
import {
  axe,
  becomes,
  box,
  button,
  changed,
  drag,
  drawn,
  hasNumber,
  newContext,
  noticeShown,
  numbersIn,
  setNumber,
  settled,
  shown,
  slider,
  stateOf,
  stride,
  timeOf,
  timePast,
  until,
} from "./studio.mjs";

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

/** A page at some address, which need not show a lab. */
async function at(fragment, options, test) {
  const context = await newContext(shared.browser, { viewport: { width: 1200, height: 780 }, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(`${shared.studio.address}${fragment}`);
  await test(page);
  await context.close();
  assert.deepEqual(errors, []);
}

describe("home", () => {
  for (const [name, options] of [
    ["desktop", {}],
    ["phone", PHONE],
    ["dark tablet", { viewport: { width: 820, height: 1180 }, hasTouch: true, colorScheme: "dark" }],
  ]) {
    slowTest(`has a card with a picture and a sentence for each lab (${name})`, () =>
      at("#/", options, async (page) => {
        await page.locator(".card").first().waitFor();
        const cards = await page
          .locator(".card")
          .evaluateAll((all) => all.map((card) => [card.dataset.lab, card.querySelector("p").innerText]));
        assert.ok(cards.length >= 2 && cards.every(([, sentence]) => sentence.endsWith(".")), JSON.stringify(cards));
        const pictured = () =>
          page.locator('[data-lab="pendulum"] canvas').evaluate((canvas) => {
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            return data.some((value) => value > 0);
          });
        await until(page, pictured, "the thumbnail should be drawn");
        await drawn(page);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        assert.ok(!wide, "nothing is beyond the edge");
        await axe(page);
      }),
    );
  }

  slowTest("its pictures move, and an unknown lab leads to it", () =>
    at("#/nonsense", { reducedMotion: "no-preference" }, async (page) => {
      const canvas = page.locator('[data-lab="pendulum"] canvas');
      await canvas.waitFor();
      await until(page, () => new URL(page.url()).hash === "#/", "the address should be that of home");
      const first = await canvas.evaluate((element) => element.toDataURL());
      await until(page, async () => (await canvas.evaluate((element) => element.toDataURL())) !== first, "another picture");
    }),
  );
});

describe("labs", () => {
  withPage("change without a reload and keep their state", async (page) => {
    await page.evaluate(() => (globalThis.same = true));
    await setNumber(page, "gravity", 3.7);
    await stride(page, 2);
    const [state, time] = [await stateOf(page), await timeOf(page)];
    await page.getByRole("link", { name: "Holonomy" }).click();
    await page.locator('.card[data-lab="linkage"]').click();
    await page.locator('[data-lab="linkage"][data-state]').waitFor();
    assert.notEqual(await stateOf(page), state);
    await page.getByRole("link", { name: "Pendulum", exact: true }).click();
    await page.locator('[data-lab="pendulum"][data-state]').waitFor();
    await becomes(page, state);
    assert.equal(await timeOf(page), time);
    await hasNumber(page, "gravity", 3.7);
    assert.ok(await page.evaluate(() => globalThis.same), "the page was never loaded again");
    await button(page, "Undo"); // the simulation is the same one
    await changed(page, state);
  });

  withPage("go on after a reload, also when the studio has forgotten the simulation", async (page) => {
    await setNumber(page, "gravity", 5.5);
    await stride(page, 2);
    const state = await stateOf(page);
    await page.reload();
    await shown(page);
    await becomes(page, state);
    await page.locator('button[aria-label="Undo"]:enabled').waitFor();
    const [time] = numbersIn(state);
    await page.waitForFunction((wanted) => {
      const kept = sessionStorage.getItem("holonomy.work.pendulum");
      const { t, parameters } = kept ? JSON.parse(JSON.parse(kept).document) : {};
      return t === wanted && parameters.gravity === 5.5; // an earlier moment may have been kept before
    }, time);
    await page.evaluate(() => sessionStorage.removeItem("holonomy.session.pendulum"));
    await page.reload();
    await shown(page);
    await becomes(page, state);
    await hasNumber(page, "gravity", 5.5);
  });

  withPage("have presets as pictures, which undo takes back", async (page) => {
    const before = await stateOf(page);
    const names = await page.locator("[data-preset]").evaluateAll((all) => all.map((one) => one.dataset.preset));
    assert.deepEqual(names, ["double", "butterfly", "rope", "jelly", "euler", "moon", "rewind"]);
    await page.locator('[data-preset="moon"]').click();
    await hasNumber(page, "gravity", 1.62);
    await button(page, "Undo");
    await becomes(page, before);
    await hasNumber(page, "gravity", 9.81);
  });

  withPage("say what to drag until it was dragged", async (page) => {
    const hint = page.locator(".hint");
    await hint.waitFor();
    const apart = async () => {
      const [note, bob] = [await hint.boundingBox(), await page.locator('[data-body="1"]').boundingBox()];
      return Math.hypot(note.x - bob.x - bob.width, note.y + note.height / 2 - bob.y - bob.height / 2);
    };
    await until(
      page,
      async () => (await apart()) < 30,
      async () => `beside the bob: ${await apart()}`,
    );
    await drag(page, 1, 40, 30);
    await page.mouse.up();
    await hint.waitFor({ state: "detached" });
    await page.waitForFunction(() => Object.keys(localStorage).some((key) => key.endsWith("dragged.pendulum")));
    await page.reload();
    await shown(page);
    await settled(page);
    assert.equal(await hint.count(), 0);
  });

  withPage(
    "say it below the picture on a phone, where it would cover the thing to draw on",
    async (page) => {
      const [hint, stages] = [page.locator(".hint"), page.locator(".stages")];
      await hint.waitFor();
      const [note, picture] = [await hint.boundingBox(), await stages.boundingBox()];
      assert.ok(note.y >= picture.y + picture.height - 1, JSON.stringify([note, picture]));
    },
    { lab: "#/swimmer", ...PHONE },
  );
});

describe("stories", () => {
  withPage(
    "lead through captioned states, on and back, and can be pressed by touch",
    async (page) => {
      await page.getByRole("button", { name: /^Story: What chaos is/ }).tap();
      const caption = page.locator(".story p");
      await caption.getByText(/almost straight up/).waitFor();
      await page.getByRole("button", { name: "Next" }).tap();
      await caption.getByText(/Turn on the ghost/).waitFor();
      await page.waitForFunction(() => globalThis.probe.controls.toggles.ghost && globalThis.probe.controls.playing);
      await timePast(page, 0.2);
      await axe(page);
      await page.getByRole("button", { name: "Back", exact: true }).tap();
      await caption.getByText(/almost straight up/).waitFor();
      await page.waitForFunction(() => !globalThis.probe.controls.toggles.ghost);
      await page.getByRole("button", { name: "End the story" }).tap();
      await caption.waitFor({ state: "detached" });
    },
    PHONE,
  );
});

describe("numbers", () => {
  withPage("take what people type, keep it, and say what is wrong at the field", async (page) => {
    const gravity = box(page, "gravity");
    const type = async (text) => {
      await gravity.fill(text);
      await gravity.press("Enter");
    };
    const value = (wanted) => page.waitForFunction((v) => Math.abs(globalThis.probe.controls.parameters.gravity - v) < 1e-12, wanted);
    for (const [text, wanted] of [
      ["2,5", 2.5],
      ["9.81/6", 1.635],
      ["1e3", 1000],
      ["−3", -3],
    ]) {
      await type(text);
      await value(wanted);
      await settled(page);
      assert.equal(await gravity.inputValue(), text);
    }
    for (const [text, words] of [
      ["heavy", /Write a number such as/],
      ["1e9", /Gravity must be between −10000 and 10000/],
    ]) {
      await type(text);
      await page.locator('[data-parameter="gravity"] .error').getByText(words).waitFor();
      assert.equal(await gravity.getAttribute("aria-invalid"), "true");
      assert.equal(await gravity.inputValue(), text);
    }
    assert.equal(await page.evaluate(() => globalThis.probe.controls.parameters.gravity), -3);
    await axe(page);
    await slider(page, "gravity").focus();
    await page.keyboard.press("End");
    await hasNumber(page, "gravity", 30);
    await page.waitForFunction(() => document.querySelector('[data-parameter="gravity"] .error') === null);
  });
});

describe("looks", () => {
  withPage("are light, dark or the system's, and stay so", async (page) => {
    const paper = () => page.evaluate(() => getComputedStyle(document.querySelector(".holonomy")).backgroundColor);
    const light = await paper();
    await page.getByText("View", { exact: true }).click();
    await page.getByLabel("Colours").selectOption("dark");
    await until(page, async () => (await paper()) !== light, "dark paper");
    await axe(page);
    await page.reload();
    await shown(page);
    await settled(page);
    assert.notEqual(await paper(), light);
  });

  withPage("speak German, with the labels of the lab", async (page) => {
    await page.getByText("View", { exact: true }).click();
    await page.getByLabel("Language").selectOption("de");
    await page.getByRole("button", { name: "Zurücksetzen" }).waitFor();
    await settled(page);
    assert.match(await page.locator('[data-parameter="gravity"] label').innerText(), /Schwerkraft/);
    assert.equal(await page.evaluate(() => document.documentElement.lang), "de");
    assert.match(await page.locator(".title .summary").innerText(), /^2 Massen an starren, masselosen Stäben/);
    await page.evaluate(() => globalThis.probe.socket.send('{"type":"drag-begin","body":9}'));
    await noticeShown(page, /^Es gibt keinen Körper 10; dieses Labor hat 2\.$/);
    await page.keyboard.press("Escape");
    await page.locator("summary", { hasText: "Exportieren" }).click();
    await page.getByText("eine Datei, die die Bewegung überall abspielt").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Diagramm 1 vergrößern" }).click();
    await page.locator("dialog[open]").getByLabel("Poincaré-Schnitt").check();
    await page.getByText("steigend hindurchgeht durch").waitFor();
  });

  withPage("present the picture alone in large type, by key", async (page) => {
    const size = () => page.locator(".clock").evaluate((clock) => parseFloat(getComputedStyle(clock).fontSize));
    const before = await size();
    await page.keyboard.press("p");
    await until(page, async () => (await size()) > 1.4 * before, "large type");
    await drawn(page);
    assert.ok(!(await page.locator("aside").isVisible()));
    const stage = await page.locator(".stage").boundingBox();
    assert.ok(stage.width >= 1199);
    await axe(page);
    const [end, bar] = await Promise.all([".leave", ".player"].map((part) => page.locator(part).boundingBox()));
    assert.ok(end.y >= bar.y && end.x + end.width <= bar.x + bar.width, "the button that ends it covers no picture");
    await button(page, "End the presentation (P)");
    await page.locator("aside").waitFor();
  });
});

describe("screens", () => {
  withPage(
    "phone: the picture and time stay in sight while sliders are used",
    async (page) => {
      await page.evaluate(() => document.querySelector(".state").scrollIntoView({ block: "end" }));
      await page.waitForFunction(() => scrollY > 100);
      await drawn(page);
      for (const place of [".stage", ".player"]) {
        const area = await page.locator(place).first().boundingBox();
        assert.ok(area.y >= -1 && area.y + area.height < 600, `${place} at ${area.y}`);
      }
    },
    PHONE,
  );

  withPage(
    "phone on its side: picture and controls beside each other",
    async (page) => {
      const [stage, column, player] = await Promise.all([".stage", "aside", ".player"].map((part) => page.locator(part).boundingBox()));
      assert.ok(stage.height > 200 && stage.x + stage.width <= column.x + 1, JSON.stringify([stage, column]));
      assert.ok(player.y + player.height <= 391);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 844);
    },
    { viewport: { width: 844, height: 390 }, hasTouch: true, isMobile: true },
  );

  withPage(
    "tablet: two pictures, one below the other",
    async (page) => {
      const boxes = await Promise.all((await page.locator(".stage").all()).map((stage) => stage.boundingBox()));
      assert.equal(boxes.length, 2);
      assert.ok(boxes[1].y >= boxes[0].y + boxes[0].height - 1);
      const player = await page.locator(".player").evaluate((bar) => bar.scrollWidth <= bar.clientWidth + 1);
      assert.ok(player, "time fits");
    },
    { lab: "#/linkage", viewport: { width: 820, height: 1180 }, hasTouch: true },
  );

  withPage(
    "2560 × 1440: type and plots grow",
    async (page) => {
      const type = await page
        .locator(".settings label")
        .first()
        .evaluate((text) => parseFloat(getComputedStyle(text).fontSize));
      assert.ok(type >= 20, `${type} px`);
      const plot = await page.locator(".plot").first().boundingBox();
      assert.ok(plot.height >= 300, `${plot.height} px`);
    },
    { viewport: { width: 2560, height: 1440 } },
  );

  withPage("text of twice the size: nothing is cut off", async (page) => {
    await page.evaluate(() => (document.documentElement.style.fontSize = "200%"));
    await until(page, () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing beyond the edge");
    await page.locator(".stage").waitFor();
    await axe(page);
  });
});
