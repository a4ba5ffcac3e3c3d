// The motion as a tone: one variable is its pitch, another its loudness.

/** Hertz of the lowest and the highest tone: three octaves from A. */
const LOWEST = 110;
const OCTAVES = 3;
/** Loudness at most: a tone that goes on all the time must not be in the way. */
const LOUDEST = 0.2;
/** Seconds in which a tone follows, so that steps from frame to frame are not heard. */
const SMOOTH = 0.03;

/** Where a value is between the least and the greatest that came so far, from 0 to 1; one half while there is one only. */
export class Scale {
  #low = Infinity;
  #high = -Infinity;

  place(value: number): number {
    if (!Number.isFinite(value)) return 0.5;
    this.#low = Math.min(this.#low, value);
    this.#high = Math.max(this.#high, value);
    return this.#high > this.#low ? (value - this.#low) / (this.#high - this.#low) : 0.5;
  }
}

export function frequency(place: number): number {
  return LOWEST * 2 ** (OCTAVES * place);
}

/** A tone that begins with silence. Must be made when the user has asked for it: browsers allow sound only then. */
export class Tone {
  readonly #context = new AudioContext();
  readonly #wave = this.#context.createOscillator();
  readonly #volume = this.#context.createGain();
  readonly #pitch = new Scale();
  readonly #loudness = new Scale();

  constructor() {
    this.#wave.type = "triangle";
    this.#volume.gain.value = 0;
    this.#wave.connect(this.#volume).connect(this.#context.destination);
    this.#wave.start();
  }

  get state(): AudioContextState {
    return this.#context.state;
  }

  /** Follow a motion: the values of both variables, and whether time runs. Returns hertz and loudness. */
  follow(pitch: number, loudness: number, playing: boolean): { hertz: number; gain: number } {
    const hertz = frequency(this.#pitch.place(pitch));
    const gain = playing ? LOUDEST * this.#loudness.place(Math.abs(loudness)) : 0;
    const now = this.#context.currentTime;
    this.#wave.frequency.setTargetAtTime(hertz, now, SMOOTH);
    this.#volume.gain.setTargetAtTime(gain, now, SMOOTH);
    return { hertz, gain };
  }

  stop(): void {
    void this.#context.close();
  }
}
