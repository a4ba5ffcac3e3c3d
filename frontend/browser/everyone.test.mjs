// Every lab can be used by everyone: axe finds nothing in its pictures, dialogs, menus and its presentation, light and dark.

import { describe } from "node:test";
import { withPage } from "./harness.mjs";
import { axe, closed, opened } from "./studio.mjs";

describe("everyone", () => {
  for (const lab of ["pendulum", "linkage", "curved", "swimmer", "workbench"])
    withPage(
      `can use the lab ${lab}`,
      async (page) => {
        await axe(page, "light");
        const light = await page.evaluate(() => getComputedStyle(document.querySelector(".holonomy")).backgroundColor);
        await page.emulateMedia({ colorScheme: "dark" });
        await page.waitForFunction((was) => getComputedStyle(document.querySelector(".holonomy")).backgroundColor !== was, light);
        await axe(page, "dark");
        await opened(page, "Equations");
        await axe(page, "equations");
        await closed(page);
        await page.locator("summary", { hasText: "Export" }).click();
        await axe(page, "export");
        await page.keyboard.press("Escape");
        await opened(page, "Enlarge plot 1");
        await axe(page, "an enlarged plot");
        await closed(page);
        const story = page.locator(".story-title");
        if ((await story.count()) > 0) {
          await story.first().click();
          await page.locator(".story .next").waitFor();
          await axe(page, "a story");
        }
        await page.evaluate(() => document.activeElement?.blur());
        await page.keyboard.press("p");
        await page.locator("aside").waitFor({ state: "hidden" });
        await axe(page, "a presentation");
      },
      { lab: `#/${lab}` },
    );
});
