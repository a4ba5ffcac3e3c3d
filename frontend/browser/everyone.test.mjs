// Every lab can be used by everyone: axe finds nothing in its pictures, dialogs, menus and its presentation, light and dark.

import { describe } from "node:test";
import { withPage } from "./harness.mjs";
import { axe, button, settled } from "./studio.mjs";

describe("everyone", () => {
  for (const lab of ["pendulum", "linkage", "curved", "swimmer", "workbench"])
    withPage(
      `can use the lab ${lab}`,
      async (page) => {
        await settled(page);
        await axe(page, "light");
        await page.emulateMedia({ colorScheme: "dark" });
        await axe(page, "dark");
        await button(page, "Equations");
        await page.locator("dialog[open]").waitFor();
        await axe(page, "equations");
        await page.keyboard.press("Escape");
        await page.locator("summary", { hasText: "Export" }).click();
        await axe(page, "export");
        await page.keyboard.press("Escape");
        await button(page, "Enlarge plot 1");
        await page.locator("dialog[open]").waitFor();
        await axe(page, "an enlarged plot");
        await page.keyboard.press("Escape");
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
