// Moving images in the format GIF89a: each picture has a palette of its own, and only what has changed is written.

const COLOURS = 256;
/** The entry of every palette that means: as before. */
const SAME = COLOURS - 1;
/** Bits of a colour's red, green and blue that are told apart before a palette is made. */
const BITS = 5;
const BINS = 1 << (3 * BITS);
const LARGEST_CODE = 4095;

/** Bytes that are written one after the other. */
class Bytes {
  #data = new Uint8Array(1 << 16);
  #size = 0;

  byte(value: number): void {
    if (this.#size === this.#data.length) {
      const larger = new Uint8Array(2 * this.#data.length);
      larger.set(this.#data);
      this.#data = larger;
    }
    this.#data[this.#size++] = value;
  }

  bytes(...values: number[]): void {
    for (const value of values) this.byte(value);
  }

  /** Two bytes, the lower one first. */
  word(value: number): void {
    this.bytes(value & 255, value >> 8);
  }

  text(letters: string): void {
    for (const letter of letters) this.byte(letter.charCodeAt(0));
  }

  get content(): Uint8Array<ArrayBuffer> {
    return this.#data.slice(0, this.#size);
  }
}

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export class GifWriter {
  readonly #out = new Bytes();
  #before: Uint32Array | null = null;
  /** A picture that waits until it is known how long it is shown. */
  #waiting: Uint32Array | null = null;
  /** Hundredths of a second that were shown too little so far, since times are written as whole ones. */
  #rest = 0;
  #pictures = 0;

  constructor(
    private readonly width: number,
    private readonly height: number,
  ) {
    this.#out.text("GIF89a");
    this.#out.word(width);
    this.#out.word(height);
    this.#out.bytes(0, 0, 0); // no palette for all
    this.#out.bytes(0x21, 0xff, 11);
    this.#out.text("NETSCAPE2.0");
    this.#out.bytes(3, 1, 0, 0, 0); // begins again at its end, for ever
  }

  get pictures(): number {
    return this.#pictures;
  }

  /** The next picture: red, green, blue and opacity of each pixel. The one before was shown for this long. */
  add(pixels: Uint8ClampedArray, milliseconds: number): void {
    if (this.#waiting) this.#write(this.#waiting, milliseconds);
    this.#waiting = new Uint32Array(pixels.buffer.slice(pixels.byteOffset, pixels.byteOffset + pixels.byteLength));
    this.#pictures++;
  }

  /** The whole file; the last picture is shown for this long. */
  finish(milliseconds: number): Uint8Array<ArrayBuffer> {
    if (this.#waiting) this.#write(this.#waiting, milliseconds);
    this.#waiting = null;
    this.#out.byte(0x3b);
    return this.#out.content;
  }

  #write(picture: Uint32Array, milliseconds: number): void {
    const exact = milliseconds / 10 + this.#rest;
    const hundredths = Math.max(2, Math.round(exact)); // programs show less than two as ten
    this.#rest = exact - hundredths;
    const box = this.#changed(picture);
    const { palette, indices } = this.#quantised(picture, box);
    this.#out.bytes(0x21, 0xf9, 4, 0b101); // stays; has a transparent entry
    this.#out.word(Math.min(65535, hundredths));
    this.#out.bytes(SAME, 0);
    this.#out.byte(0x2c);
    for (const size of [box.left, box.top, box.width, box.height]) this.#out.word(size);
    this.#out.byte(0x87); // a palette of 256 entries
    this.#out.bytes(...palette);
    compress(this.#out, indices);
    this.#before = picture;
  }

  /** The smallest rectangle that holds every pixel that is another than before. */
  #changed(picture: Uint32Array): Box {
    const before = this.#before;
    if (!before) return { left: 0, top: 0, width: this.width, height: this.height };
    let [left, top, right, bottom] = [this.width, this.height, -1, -1];
    for (let y = 0, i = 0; y < this.height; y++) {
      for (let x = 0; x < this.width; x++, i++) {
        if (picture[i] === before[i]) continue;
        if (x < left) left = x;
        if (x > right) right = x;
        if (y < top) top = y;
        bottom = y;
      }
    }
    if (right < 0) return { left: 0, top: 0, width: 1, height: 1 };
    return { left, top, width: right - left + 1, height: bottom - top + 1 };
  }

  /** The pixels of a box as entries of a palette that fits them. */
  #quantised(picture: Uint32Array, box: Box): { palette: Uint8Array; indices: Uint8Array } {
    const before = this.#before;
    const bins = new Histogram();
    const indices = new Uint8Array(box.width * box.height);
    const each = (act: (colour: number, place: number) => void): void => {
      for (let y = 0, place = 0; y < box.height; y++) {
        for (let i = (box.top + y) * this.width + box.left, end = i + box.width; i < end; i++, place++) {
          if (before && picture[i] === before[i]) indices[place] = SAME;
          else act(picture[i]!, place);
        }
      }
    };
    each((colour) => bins.count(colour));
    const { palette, entry } = bins.palette(COLOURS - 1);
    each((colour, place) => (indices[place] = entry[binOf(colour)]!));
    return { palette, indices };
  }
}

/** Pixels are read as whole numbers, red in the lowest byte, on all machines that run browsers. */
function binOf(colour: number): number {
  const shift = 8 - BITS;
  const [r, g, b] = [(colour & 255) >> shift, ((colour >> 8) & 255) >> shift, ((colour >> 16) & 255) >> shift];
  return (r << (2 * BITS)) | (g << BITS) | b;
}

/** Bins that share an entry of the palette. */
interface Cell {
  readonly bins: readonly number[];
  /** How much there is to gain by halving it. */
  readonly weight: number;
  /** In which of red, green and blue it is widest. */
  readonly channel: number;
}

/** How many pixels have which colour; of each bin their mean, and the colour that most of them have. */
class Histogram {
  readonly #counts = new Uint32Array(BINS);
  readonly #usual = new Uint32Array(BINS);
  readonly #votes = new Int32Array(BINS);
  readonly #sums = [0, 1, 2].map(() => new Float64Array(BINS));

  count(colour: number): void {
    const bin = binOf(colour);
    this.#counts[bin]!++;
    for (let k = 0; k < 3; k++) this.#sums[k]![bin]! += (colour >> (8 * k)) & 255;
    // A vote by majority: paper must come out as paper wherever something has passed over it.
    if (this.#votes[bin] === 0) this.#usual[bin] = colour;
    this.#votes[bin]! += this.#usual[bin] === colour ? 1 : -1;
  }

  #colour(bins: readonly number[], channel: number): number {
    const [only] = bins;
    if (bins.length === 1) return (this.#usual[only!]! >> (8 * channel)) & 255;
    const total = bins.reduce((sum, bin) => sum + this.#counts[bin]!, 0);
    return Math.round(bins.reduce((sum, bin) => sum + this.#sums[channel]![bin]!, 0) / total);
  }

  /** At most `most` colours by median cut: the box of bins that is widest, weighted by its pixels, is halved again and again. */
  palette(most: number): { palette: Uint8Array; entry: Uint8Array } {
    const used: number[] = [];
    for (let bin = 0; bin < BINS; bin++) if (this.#counts[bin]! > 0) used.push(bin);
    const boxes = used.length > 0 ? [this.#box(used)] : [];
    while (boxes.length < most) {
      const widest = boxes.reduce((best, box, i) => (box.weight > (boxes[best]?.weight ?? 0) ? i : best), -1);
      if (widest < 0) break;
      const [first, second] = this.#halves(boxes[widest]!);
      boxes.splice(widest, 1, first, second);
    }
    const palette = new Uint8Array(3 * COLOURS);
    const entry = new Uint8Array(BINS);
    boxes.forEach(({ bins }, i) => {
      for (let k = 0; k < 3; k++) palette[3 * i + k] = this.#colour(bins, k);
      for (const bin of bins) entry[bin] = i;
    });
    return { palette, entry };
  }

  #box(bins: readonly number[]): Cell {
    const widths = [0, 1, 2].map((k) => {
      const values = bins.map((bin) => part(bin, k));
      return Math.max(...values) - Math.min(...values);
    });
    const channel = widths.indexOf(Math.max(...widths));
    const pixels = bins.reduce((sum, bin) => sum + this.#counts[bin]!, 0);
    return { bins, channel, weight: widths[channel]! * Math.sqrt(pixels) };
  }

  #halves({ bins, channel }: Cell): [Cell, Cell] {
    const sorted = [...bins].sort((a, b) => part(a, channel) - part(b, channel));
    const total = sorted.reduce((sum, bin) => sum + this.#counts[bin]!, 0);
    let [seen, cut] = [0, 0];
    while (cut < sorted.length - 1 && seen + this.#counts[sorted[cut]!]! <= total / 2) seen += this.#counts[sorted[cut++]!]!;
    cut = Math.min(sorted.length - 1, Math.max(1, cut));
    return [this.#box(sorted.slice(0, cut)), this.#box(sorted.slice(cut))];
  }
}

/** Red, green or blue of a bin. */
function part(bin: number, channel: number): number {
  return (bin >> (BITS * (2 - channel))) & ((1 << BITS) - 1);
}

/** The code of what a code and the next entry of the palette make together; 0 where there is none yet. */
const codes = new Int16Array((LARGEST_CODE + 1) << 8);

/** Lempel, Ziv and Welch's compression, in blocks of up to 255 bytes. */
function compress(out: Bytes, indices: Uint8Array): void {
  const least = 8;
  const [clear, end] = [1 << least, (1 << least) + 1];
  codes.fill(0);
  const block: number[] = [];
  let [size, next, bits, filled] = [least + 1, end + 1, 0, 0];
  const emit = (code: number): void => {
    bits |= code << filled;
    for (filled += size; filled >= 8; filled -= 8, bits >>>= 8) {
      block.push(bits & 255);
      if (block.length === 255) flush();
    }
  };
  const flush = (): void => {
    if (block.length === 0) return;
    out.byte(block.length);
    out.bytes(...block);
    block.length = 0;
  };
  out.byte(least);
  emit(clear);
  let prefix = indices[0] ?? 0;
  for (let i = 1; i < indices.length; i++) {
    const key = (prefix << least) | indices[i]!;
    const known = codes[key]!;
    if (known !== 0) {
      prefix = known;
      continue;
    }
    emit(prefix);
    if (next > LARGEST_CODE) {
      emit(clear);
      codes.fill(0);
      [size, next] = [least + 1, end + 1];
    } else {
      if (next === 1 << size) size++;
      codes[key] = next++;
    }
    prefix = indices[i]!;
  }
  emit(prefix);
  emit(end);
  if (filled > 0) block.push(bits & 255);
  flush();
  out.byte(0);
}
