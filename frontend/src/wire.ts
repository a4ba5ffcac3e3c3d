// Written by `python -m holonomy.studio.wire` from src/holonomy/studio/wire.py. Edit that file, not this.

export const PROTOCOL = 1;

export const LONGEST_MESSAGE = 4096;

/** One lab in the list of labs. */
export interface LabEntry {
  readonly name: string;
  readonly title: string;
}

/** One coordinate of the system and how to write it. */
export interface CoordinateView {
  readonly name: string;
  readonly symbol: string;
  readonly unit: string;
  readonly rate_symbol: string;
  readonly rate_unit: string;
  /** A turn, for coordinates that come back to themselves; null for others. */
  readonly period: number | null;
}

/** One number the user may change, and the interval in which it makes sense. */
export interface ParameterView {
  readonly name: string;
  readonly label: string;
  readonly symbol: string;
  readonly unit: string;
  readonly low: number;
  readonly high: number;
  readonly step: number;
  readonly default: number;
}

/** One point of the picture that can be drawn and dragged. */
export interface BodyView {
  readonly label: string;
  /** Whether its path says something and is drawn behind it. */
  readonly trail: boolean;
}

/** A straight line in the picture between two of the frame's points. */
export interface RodView {
  readonly start: number;
  readonly end: number;
}

/** One of the energies in a frame. */
export interface EnergyView {
  readonly name: string;
  readonly label: string;
  readonly symbol: string;
}

/**
 * Everything about a lab that does not change while it runs.
 * The points of a frame are first `anchors` fixed ones, then the bodies in order; rods count them all.
 */
export interface LabView {
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  readonly anchors: number;
  readonly coordinates: readonly CoordinateView[];
  readonly parameters: readonly ParameterView[];
  readonly bodies: readonly BodyView[];
  readonly rods: readonly RodView[];
  readonly energies: readonly EnergyView[];
  readonly method: string;
  readonly dt: number;
  readonly frame_seconds: number;
}

/** The first notice on a connection. */
export interface Welcome {
  readonly type: "welcome";
  readonly protocol: number;
  readonly version: string;
  readonly labs: readonly LabEntry[];
  readonly lab: LabView;
}

/** What the controls should show now; sent whenever any of it changes. */
export interface Controls {
  readonly type: "controls";
  readonly phase: "compiling" | "ready" | "failed";
  readonly message: string;
  readonly playing: boolean;
  readonly speed: number;
  readonly held: number | null;
  readonly parameters: Readonly<Record<string, number>>;
  /** Half the width of a square about the origin that holds every position, in metres. */
  readonly extent: number;
  /** Radius of each body in the picture as a fraction of `extent`. */
  readonly radii: readonly number[];
  /** What undo would take back, in the user's words; null when there is nothing. */
  readonly undo: string | null;
  readonly redo: string | null;
}

/** A command that could not be carried out, and why, in one sentence. */
export interface Refused {
  readonly type: "refused";
  readonly message: string;
}

/** Let time run. */
export interface Play {
  readonly type: "play";
}

/** Hold time where it is. */
export interface Pause {
  readonly type: "pause";
}

/** Move by `frames` pictures: forward when positive, back to the exact earlier state when negative. */
export interface Step {
  readonly type: "step";
  readonly frames: number;
  /** True while a key is held down: the whole series is then one action for undo. */
  readonly repeat: boolean;
}

/** Take hold of a body. Time stands still until `DragEnd`. */
export interface DragBegin {
  readonly type: "drag-begin";
  readonly body: number;
}

/** Bring the body held as near to (x, y) as the system lets it, at rest. */
export interface DragMove {
  readonly type: "drag-move";
  readonly x: number;
  readonly y: number;
}

/** Let the body go. */
export interface DragEnd {
  readonly type: "drag-end";
}

/** Give one parameter a value, keeping positions and velocities. */
export interface SetParameter {
  readonly type: "set-parameter";
  readonly name: string;
  readonly value: number;
  /** False while a slider moves: all its values up to the settled one are one action for undo. */
  readonly settled: boolean;
}

/** Seconds of motion for one second of the clock. */
export interface SetSpeed {
  readonly type: "set-speed";
  readonly value: number;
}

/** Go back to the lab's first state at time zero; with `defaults`, to its first parameters too. */
export interface Reset {
  readonly type: "reset";
  readonly defaults: boolean;
}

/** Restore the exact state before the last action, its time included. */
export interface Undo {
  readonly type: "undo";
}

/** Restore the exact state that the last undo left. */
export interface Redo {
  readonly type: "redo";
}

/** A frame has arrived. The server keeps few frames on the way, so a slow page gets the newest, never a queue. */
export interface Seen {
  readonly type: "seen";
  readonly sequence: number;
}

export type Notice =
  | Welcome
  | Controls
  | Refused;

export type Command =
  | Play
  | Pause
  | Step
  | DragBegin
  | DragMove
  | DragEnd
  | SetParameter
  | SetSpeed
  | Reset
  | Undo
  | Redo
  | Seen;

/** Intervals that the server holds commands to. */
export const limits = {
  Step_frames: [-600, 600],
  DragBegin_body: [0, 65535],
  DragMove_x: [-1000000.0, 1000000.0],
  DragMove_y: [-1000000.0, 1000000.0],
  SetParameter_value: [-1000000000000.0, 1000000000000.0],
  SetSpeed_value: [0.01, 10.0],
  Seen_sequence: [0, 4294967295],
} as const;

/** Bits of `FrameHeader.flags`. */
export const FrameFlag = {
  PLAYING: 1,
  HELD: 2,
  /** Physics took longer than the clock allows, so time runs slower than asked. */
  BEHIND: 4,
} as const;

/**
 * One picture of the motion: exact time, coordinates and velocities, energies, and where to draw the points.
 * A row of `sample` is a time, the energies, and the position of each traced body. Rows come close in time however
 * few frames reach the page, so that curves and trails do not depend on its speed. A row of NaN stands where the
 * motion was changed by hand.
 */
export interface Frame {
  readonly sequence: number;
  readonly flags: number;
  readonly coordinates: number;
  readonly energies: number;
  readonly points: number;
  readonly dimension: number;
  /** Rows of recent motion since the last frame that was sent. */
  readonly samples: number;
  readonly sample_width: number;
  readonly time: number;
  /** Energy now minus energy at the last jump, in joules. */
  readonly drift: number;
  /** Seconds of motion in the last second of the clock. */
  readonly rate: number;
  readonly q: Float64Array;
  readonly v: Float64Array;
  readonly energy: Float64Array;
  readonly position: Float64Array;
  readonly sample: Float64Array;
}

/** The frame in a binary message. Throws when its length does not fit its header. */
export function readFrame(data: ArrayBuffer): Frame {
  if (data.byteLength < 56) {
    throw new RangeError(`A frame of ${data.byteLength} bytes is too short.`);
  }
  const view = new DataView(data);
  const sequence = view.getUint32(0, true);
  const flags = view.getUint32(4, true);
  const coordinates = view.getUint32(8, true);
  const energies = view.getUint32(12, true);
  const points = view.getUint32(16, true);
  const dimension = view.getUint32(20, true);
  const samples = view.getUint32(24, true);
  const sample_width = view.getUint32(28, true);
  const time = view.getFloat64(32, true);
  const drift = view.getFloat64(40, true);
  const rate = view.getFloat64(48, true);
  let offset = 56;
  const take = (length: number): Float64Array => {
    const numbers = new Float64Array(length);
    for (let i = 0; i < length; i++) numbers[i] = view.getFloat64(offset + 8 * i, true);
    offset += 8 * length;
    return numbers;
  };
  const announced = offset + 8 * (coordinates + coordinates + energies + points * dimension + samples * sample_width);
  if (data.byteLength !== announced) {
    throw new RangeError(`A frame announces ${announced} bytes and has ${data.byteLength}.`);
  }
  const q = take(coordinates);
  const v = take(coordinates);
  const energy = take(energies);
  const position = take(points * dimension);
  const sample = take(samples * sample_width);
  return {
    sequence, flags, coordinates, energies, points, dimension, samples, sample_width, time, drift,
    rate, q, v, energy, position, sample,
  };
}
