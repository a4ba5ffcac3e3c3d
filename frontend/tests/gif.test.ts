import { describe, expect, it } from "vitest";
import { GifWriter } from "../src/picture/gif";

interface Picture {
  readonly delay: number;
  readonly box: readonly [number, number, number, number];
  readonly colours: (string | null)[];
}

/** A reader of its own: what any program would see in the file, null for what stays as it was. */
function decoded(file: Uint8Array): { size: [number, number]; pictures: Picture[] } {
  const word = (at: number): number => file[at]! | (file[at + 1]! << 8);
  const pictures: Picture[] = [];
  let [at, delay, transparent] = [13, 0, -1];
  for (; file[at] !== 0x3b; ) {
    if (file[at] === 0x21) {
      if (file[at + 1] === 0xf9) [delay, transparent] = [word(at + 4), file[at + 6]!];
      at += 2;
      while (file[at] !== 0) at += 1 + file[at]!;
      at++;
      continue;
    }
    expect(file[at]).toBe(0x2c);
    const box = [1, 3, 5, 7].map((offset) => word(at + offset)) as unknown as Picture["box"];
    const palette = at + 10;
    at = palette + 3 * 256;
    const least = file[at++]!;
    const data: number[] = [];
    for (; file[at] !== 0; at += 1 + file[at]!) data.push(...file.subarray(at + 1, at + 1 + file[at]!));
    at++;
    const colours = unpacked(data, least).map((i) =>
      i === transparent ? null : [...file.subarray(palette + 3 * i, palette + 3 * i + 3)].join(),
    );
    pictures.push({ delay, box, colours });
  }
  return { size: [word(6), word(8)], pictures };
}

function unpacked(data: readonly number[], least: number): number[] {
  const clear = 1 << least;
  let [bit, size] = [0, least + 1];
  let table: number[][] = [];
  let before: number[] | null = null;
  const out: number[] = [];
  for (;;) {
    let code = 0;
    for (let i = 0; i < size; i++, bit++) code |= ((data[bit >> 3]! >> (bit & 7)) & 1) << i;
    if (code === clear) {
      table = Array.from({ length: clear + 2 }, (_, i) => [i]);
      [size, before] = [least + 1, null];
      continue;
    }
    if (code === clear + 1) return out;
    const entry: number[] = table[code] ?? [...before!, before![0]!];
    out.push(...entry);
    if (before && table.length < 4096) table.push([...before, entry[0]!]);
    if (table.length === 1 << size && size < 12) size++;
    before = entry;
  }
}

const picture = (width: number, height: number, colour: (x: number, y: number) => number[]): Uint8ClampedArray =>
  Uint8ClampedArray.from(Array.from({ length: width * height }, (_, i) => [...colour(i % width, Math.floor(i / width)), 255]).flat());

describe("a moving image", () => {
  it("has its first picture whole, and of the next ones only what changed", () => {
    const writer = new GifWriter(6, 4);
    writer.add(
      picture(6, 4, () => [250, 240, 230]),
      0,
    );
    writer.add(
      picture(6, 4, (x, y) => (x === 2 && y < 3 ? [10, 20, 30] : [250, 240, 230])),
      50,
    );
    const { size, pictures } = decoded(writer.finish(70));
    expect(size).toEqual([6, 4]);
    expect(pictures.map(({ delay, box }) => [delay, ...box])).toEqual([
      [5, 0, 0, 6, 4],
      [7, 2, 0, 1, 3],
    ]);
    expect(new Set(pictures[0]!.colours)).toEqual(new Set(["250,240,230"]));
    expect(pictures[1]!.colours).toEqual(["10,20,30", "10,20,30", "10,20,30"]);
  });

  it("keeps many colours nearly, over several lengths of codes and new tables", () => {
    let seed = 1;
    const random = (): number => (seed = (seed * 48271) % 2147483647) % 256;
    const noise = picture(200, 150, () => [random(), random(), random()]);
    const writer = new GifWriter(200, 150);
    writer.add(noise, 0);
    const [{ colours }] = decoded(writer.finish(50)).pictures as [Picture];
    expect(colours.length).toBe(200 * 150);
    let error = 0;
    colours.forEach((colour, i) => {
      const parts = colour!.split(",").map(Number);
      for (let k = 0; k < 3; k++) error = Math.max(error, Math.abs(parts[k]! - noise[4 * i + k]!));
    });
    expect(error).toBeLessThan(64); // 255 colours for a whole cube of them
  });
});
