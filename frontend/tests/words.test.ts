import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { GERMAN } from "../src/languages/de";
import { language } from "../src/preferences";
import { ofLanguage, t, translated } from "../src/words";

const SOURCE = join(import.meta.dirname, "..", "src");

/** Every text that the page hands to `t` as it stands. */
function spoken(): string[] {
  const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
  const found = files.flatMap((name) => [...readFileSync(join(SOURCE, name), "utf8").matchAll(/\bt\(\s*"((?:[^"\\]|\\.)*)"/g)]);
  return [...new Set(found.map((match) => match[1]!))];
}

describe("words", () => {
  beforeEach(() => {
    language.value = "en";
  });

  it("of the page are all in the German table, with as many places for values", () => {
    const words = spoken();
    expect(words.length).toBeGreaterThan(60);
    expect(words.filter((word) => !(word in GERMAN))).toEqual([]);
    const places = (text: string): number => text.split("{}").length;
    expect(Object.entries(GERMAN).filter(([english, german]) => places(english) !== places(german))).toEqual([]);
  });

  it("take values, numbers at the end of a label, and English where a table lacks them", () => {
    expect(t("{} must be between {} and {}.", "Mass", 1, 2)).toBe("Mass must be between 1 and 2.");
    language.value = "de";
    expect(t("{} must be between {} and {}.", "Masse", 1, 2)).toBe("Masse muss zwischen 1 und 2 liegen.");
    expect(translated("Length 12")).toBe("Länge 12");
    expect(translated("50 masses on massless springs, each hung from the one before.")).toBe(
      "50 Massen an masselosen Federn, eine an der anderen.",
    );
    expect(t("A lab of another package")).toBe("A lab of another package");
    expect(ofLanguage({ en: "one", de: "eins" })).toBe("eins");
    expect(ofLanguage({ en: "one" })).toBe("one");
  });

  it("of the studio's sentences are translated part by part", () => {
    language.value = "de";
    expect(translated("Mass 2 must be between 0.1 and 5 kg, but 7 was given.")).toBe(
      "Masse 2 muss zwischen 0.1 und 5 kg liegen; gegeben war 7.",
    );
    expect(
      translated("The motion stopped at t = 2 s: the numbers overflowed. Undo, reset, or choose another method or initial state."),
    ).toBe(
      "Die Bewegung hielt bei t = 2 s an: die Zahlen liefen über. " +
        "Widerrufen Sie, setzen Sie zurück oder wählen Sie ein anderes Verfahren oder einen anderen Anfang.",
    );
    expect(translated("2 coordinates (x, y), given by 1 particle, 1 constraint on positions, with forces.")).toBe(
      "2 Koordinaten (x, y), gegeben durch 1 Teilchen, 1 Zwangsbedingung an die Lage, mit Kräften.",
    );
    expect(translated("Tension of link 12 of the ghost")).toBe("Zugkraft: Glied 12 des Geists");
    expect(translated("Car: rolling and steering; wheels do not slip sideways. Draw a gait in the picture of shapes.")).toMatch(
      /^Auto: .*Zeichnen Sie einen Zug ins Bild der Formen\.$/,
    );
    expect(translated("A refusal of another package, with $& in it.")).toBe("A refusal of another package, with $& in it.");
    language.value = "en";
    expect(translated("Mass 2 must be between 0.1 and 5 kg, but 7 was given.")).toMatch(/^Mass 2 must be/);
  });
});
