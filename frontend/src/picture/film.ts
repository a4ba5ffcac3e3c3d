// Films of the pictures, from when they are begun until they are stopped.

import { compose } from "./compose";
import { GifWriter } from "./gif";

/** What a film needs of the page. */
export interface Scene {
  readonly root: HTMLElement;
  /** Paint the pictures at once: WebGL forgets its canvas when the browser has shown it. */
  paint(): void;
  /** Call on every frame, after the pictures were painted, until the result is called. */
  follow(shoot: () => void): () => void;
}

export interface Film {
  stop(): Promise<Blob>;
}

export type FilmKind = "gif" | "mp4" | "webm";

/** Begin a film. Throws a sentence where the browser cannot make one of this kind. */
export function film(kind: FilmKind, scene: Scene): Film {
  return kind === "gif" ? new GifFilm(scene) : new Video(kind, scene);
}

const RATE = 60;
const BITS = 8_000_000;
const TYPES: Record<"mp4" | "webm", { readonly name: string; readonly types: readonly string[] }> = {
  mp4: { name: "MP4", types: ["video/mp4;codecs=avc1.640028", "video/mp4;codecs=avc1.42E01E", "video/mp4"] },
  webm: { name: "WebM", types: ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"] },
};

/** A film that the browser encodes. */
class Video implements Film {
  readonly #target = document.createElement("canvas");
  readonly #recorder: MediaRecorder;
  readonly #parts: Blob[] = [];
  readonly #unfollow: () => void;
  readonly #shoot: () => void;

  constructor(kind: "mp4" | "webm", scene: Scene) {
    const { name, types } = TYPES[kind];
    const mimeType = typeof MediaRecorder === "undefined" ? undefined : types.find((type) => MediaRecorder.isTypeSupported(type));
    if (!mimeType) throw new Error(`This browser cannot write ${name} films; choose ${kind === "mp4" ? "WebM or GIF" : "GIF"} instead.`);
    this.#shoot = () => compose(scene.root, this.#target);
    scene.paint(); // or the first picture would be empty
    this.#shoot();
    this.#recorder = new MediaRecorder(this.#target.captureStream(RATE), { mimeType, videoBitsPerSecond: BITS });
    this.#recorder.ondataavailable = (event) => this.#parts.push(event.data);
    this.#recorder.start();
    this.#shoot(); // a stream takes its first picture when the canvas is drawn on after it began
    this.#unfollow = scene.follow(this.#shoot);
  }

  stop(): Promise<Blob> {
    this.#unfollow();
    return new Promise((resolve) => {
      this.#recorder.onstop = () => resolve(new Blob(this.#parts, { type: this.#recorder.mimeType.split(";")[0]! }));
      this.#recorder.stop();
    });
  }
}

/** Milliseconds between two pictures of a GIF: most programs show no more than this many. */
const GIF_EVERY = 50;
/** Pixels of a GIF at most, across and down. */
const GIF_SIZE = 640;
/** Pictures at most: half a minute. */
const GIF_LONGEST = 600;

/** A film that is encoded here, picture by picture. */
class GifFilm implements Film {
  readonly #whole = document.createElement("canvas");
  readonly #small = document.createElement("canvas");
  readonly #unfollow: () => void;
  #writer: GifWriter | null = null;
  #last = 0;

  constructor(private readonly scene: Scene) {
    scene.paint();
    this.#shoot();
    this.#unfollow = scene.follow(() => performance.now() - this.#last >= GIF_EVERY && this.#shoot());
  }

  async stop(): Promise<Blob> {
    this.#unfollow();
    this.scene.paint();
    this.#shoot();
    return new Blob([this.#writer!.finish(GIF_EVERY)], { type: "image/gif" });
  }

  #shoot(): void {
    if (this.#writer && this.#writer.pictures >= GIF_LONGEST) return;
    const now = performance.now();
    compose(this.scene.root, this.#whole, 1);
    if (!this.#writer) {
      const scale = Math.min(1, GIF_SIZE / Math.max(this.#whole.width, this.#whole.height));
      this.#small.width = Math.round(this.#whole.width * scale);
      this.#small.height = Math.round(this.#whole.height * scale);
      this.#writer = new GifWriter(this.#small.width, this.#small.height);
      this.#last = now;
    }
    const { width, height } = this.#small;
    const pen = this.#small.getContext("2d", { willReadFrequently: true })!;
    pen.drawImage(this.#whole, 0, 0, width, height);
    this.#writer.add(pen.getImageData(0, 0, width, height).data, now - this.#last);
    this.#last = now;
  }
}
