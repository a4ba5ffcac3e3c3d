// All browser tests in one process, so that they share a studio and a browser.

import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
for (const name of readdirSync(here)
  .filter((file) => file.endsWith(".test.mjs"))
  .sort())
  await import(`./${name}`);
