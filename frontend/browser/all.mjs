// All browser tests in one process, so that they share a studio and a browser; or some of them:
//
//     node browser/all.mjs page time      the files of these names
//     node browser/all.mjs 1/2            every second file, from the first; 2/2 has the others

import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const ending = ".test.mjs";
const all = readdirSync(here)
  .filter((file) => file.endsWith(ending))
  .map((file) => file.slice(0, -ending.length))
  .sort();

/** The files that an argument means. */
function meant(argument) {
  const part = /^([1-9]\d*)\/([1-9]\d*)$/.exec(argument);
  if (part !== null && Number(part[1]) <= Number(part[2])) return all.filter((_, k) => k % Number(part[2]) === Number(part[1]) - 1);
  if (all.includes(argument)) return [argument];
  throw new Error(`There are no browser tests "${argument}": say 1/2 or 2/2, or some of ${all.join(", ")}.`);
}

const chosen = process.argv.slice(2).flatMap(meant);
for (const name of chosen.length > 0 ? chosen : all) await import(`./${name}${ending}`);
