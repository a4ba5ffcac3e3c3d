// Written by `python -m holonomy.viewer.protocol.typescript` from the files beside it. Edit those.

export const PROTOCOL = 4;

export const LONGEST_MESSAGE = 65536;

export const LONGEST_DOCUMENT = 49152;

/** One lab in the list of labs. */
export interface LabEntry {
  readonly name: string;
  readonly title: string;
}

/**
 * One picture: a plane seen from the front, space that can be turned, space with a surface in it whose points the
 * bodies are, or a field: a rectangle of two coordinates coloured by a function. Bodies say in which one they are.
 */
export interface PictureView {
  readonly name: string;
  readonly title: string;
  readonly kind: "plane" | "space" | "surface" | "field";
  /**
   * What encloses the points of a model of a space: a unit sphere, a cylinder about the third axis, the plane below a
   * half-space, a unit circle.
   */
  readonly boundary: "none" | "ball" | "cylinder" | "floor" | "disc";
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

/** One number the user may change, and the interval in which it makes sense. A slider and an exact box. */
export interface ParameterView {
  readonly name: string;
  readonly label: string;
  readonly symbol: string;
  readonly unit: string;
  readonly low: number;
  readonly high: number;
  readonly step: number;
  readonly default: number;
  /** Parameters of one group stand together under this heading, which can be folded away; "" stands on its own. */
  readonly group: string;
  /** Whether only whole numbers make sense. */
  readonly integer: boolean;
  /** Whether the slider should move by factors rather than by differences. */
  readonly logarithmic: boolean;
  /** What the box accepts at most, where that is more than the slider's `high`. */
  readonly most: number | null;
  /** What the box accepts at least, where that is less than the slider's `low`. */
  readonly least: number | null;
}

/** One of the values of a choice. */
export interface Option {
  readonly value: string;
  readonly label: string;
  /** A sentence that says what it is good for; may be empty. */
  readonly note: string;
}

/** One of a few, set by `SetChoice`. */
export interface ChoiceView {
  readonly name: string;
  readonly label: string;
  readonly options: readonly Option[];
  readonly default: string;
  /** The heading under which it stands; "" stands on its own. */
  readonly group: string;
}

/** A switch, set by `SetToggle`. */
export interface ToggleView {
  readonly name: string;
  readonly label: string;
  readonly default: boolean;
  readonly note: string;
}

/**
 * A text, set by `SetText`: a formula on one line, several lines, or a curve that is drawn in a picture.
 * A curve is JSON: a list of points [[x, y], …] in the coordinates of its picture, closed by the page.
 */
export interface TextView {
  readonly name: string;
  readonly label: string;
  readonly default: string;
  readonly kind: "formula" | "lines" | "curve";
  /** In which picture a curve is drawn and edited. */
  readonly picture: number;
  /** An example of what to type. */
  readonly hint: string;
  readonly group: string;
  readonly longest: number;
  /** The switch that joins a curve's points by a periodic cubic spline; without one, lines do. */
  readonly spline: string;
}

/** A button, pressed by `Act`. */
export interface ActionView {
  readonly name: string;
  readonly label: string;
  readonly note: string;
}

/** One point of the picture that can be drawn and, unless it is a ghost, dragged. */
export interface BodyView {
  readonly label: string;
  /** Whether its path says something and is drawn behind it. */
  readonly trail: boolean;
  /** Which of the page's body colours, counted round. */
  readonly colour: number;
  /** Whether it belongs to a second motion that is drawn faded behind the first. */
  readonly ghost: boolean;
  /** Whether a hand can take hold of it (`DragBegin`). */
  readonly grasp: boolean;
  /** Whether the velocity in `DragEnd` is given to it; otherwise it starts at rest. */
  readonly throws: boolean;
  readonly picture: number;
}

/** A straight line in the picture between two of the frame's points. */
export interface RodView {
  readonly start: number;
  readonly end: number;
  /** Whether its entry in the frame's `strain` means something and is shown by colour and width. */
  readonly elastic: boolean;
  readonly ghost: boolean;
}

/**
 * Something drawn through `count` of the frame's points, the first of them `first`, that moves with them.
 * A polyline or a filled polygon joins them in order; an arrow leads from the first to the last; discs stand at each,
 * of `radius` metres; a label stands at the first; a mesh has triangles, three entries of `faces` each, counted from
 * `first`.
 */
export interface ShapeView {
  readonly kind: "polyline" | "polygon" | "arrow" | "disc" | "label" | "mesh";
  readonly first: number;
  readonly count: number;
  readonly colour: number;
  readonly picture: number;
  readonly text: string;
  readonly radius: number;
  readonly faces: readonly number[];
  readonly ghost: boolean;
  readonly dashed: boolean;
}

/** One of the energies in a frame, for the bars; the channel of the same name is its history. */
export interface EnergyView {
  readonly name: string;
  readonly label: string;
  readonly symbol: string;
  /** Which motion's energy it is; bars of one group stand together, groups side by side. */
  readonly group: string;
  /** Whether it is the sum of the others of its group. */
  readonly total: boolean;
}

/** One number that can be plotted over time or against another. */
export interface ChannelView {
  readonly name: string;
  readonly symbol: string;
  readonly label: string;
  readonly unit: string;
  /** Heading under which a list of channels shows it. */
  readonly group: string;
  /** A turn, for numbers that come back to themselves: curves are then drawn folded into one turn. */
  readonly period: number | null;
  /** The body colour that it shares; null for none. */
  readonly colour: number | null;
  readonly ghost: boolean;
  /** Whether an axis of powers of ten shows it best. */
  readonly logarithmic: boolean;
  /** The value at which a meter of it is full; null for channels without a meter. */
  readonly meter: number | null;
  /** Whether its present value is written out beside the controls. */
  readonly highlight: boolean;
}

/** A plot that the lab opens with; the user can put other channels on either axis. */
export interface PlotView {
  readonly title: string;
  readonly kind: "time" | "phase";
  /** Names of channels, or "t": one for all curves, or one for each. */
  readonly x: readonly string[];
  readonly y: readonly string[];
  /** How much of the recent motion it shows. */
  readonly seconds: number;
}

/**
 * Everything about a lab that does not change until the next notice `Lab` with another revision.
 * The points of a frame are first `anchors` fixed ones of the first picture, then the bodies in order, then further
 * points of the shapes; rods and shapes count them all.
 */
export interface LabView {
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  readonly revision: number;
  readonly anchors: number;
  readonly pictures: readonly PictureView[];
  readonly coordinates: readonly CoordinateView[];
  readonly parameters: readonly ParameterView[];
  readonly choices: readonly ChoiceView[];
  readonly toggles: readonly ToggleView[];
  readonly texts: readonly TextView[];
  readonly actions: readonly ActionView[];
  readonly bodies: readonly BodyView[];
  readonly rods: readonly RodView[];
  readonly shapes: readonly ShapeView[];
  readonly energies: readonly EnergyView[];
  readonly channels: readonly ChannelView[];
  readonly plots: readonly PlotView[];
  readonly method: string;
  readonly dt: number;
  readonly frame_seconds: number;
  readonly speed_low: number;
  readonly speed_high: number;
  /** Whether the page opens the formulas of `AskEquations` beside the pictures. */
  readonly formulas: boolean;
}

/** What computes the motion and what is known of it; drift, rate and steps are in every frame. */
export interface CertificateView {
  readonly engine: string;
  readonly method: string;
  /** In words: order, symplectic or not, reversible or not, what it conserves. */
  readonly traits: readonly string[];
  /** Why a number is to be taken with care; empty when there is no reason. */
  readonly note: string;
  /** Energy drift, relative to the energy, beyond which the motion is doubtful; null where energy is not conserved. */
  readonly drift_limit: number | null;
  /** The time from which on errors of rounding are no longer small; null where there is none or it is not known. */
  readonly known_until: number | null;
}

/** Why the settings that are shown make no motion, for as long as they do not: time is held meanwhile. */
export interface Fault {
  readonly message: string;
  /** The setting at which the sentence stands; "" where it is none. */
  readonly setting: string;
  /** In a text, the first character that is wrong. */
  readonly start: number;
  /** The character after the last wrong one; `start` where the place is known but not its length. */
  readonly end: number;
}

/** One displayed formula, or a paragraph of text. */
export interface EquationView {
  readonly title: string;
  readonly latex: string;
  readonly text: string;
  /** A document, as `Shared` has one, of the system that the result describes: `Restore` continues with it. */
  readonly state: string;
}

/** A line in a picture, such as a geodesic. */
export interface CurveView {
  readonly kind: "fan" | "shortest" | "axis";
  /** Little-endian float32 in base64, three for each point. */
  readonly points: string;
}

/** A marked place with a letter; it does not move and cannot be dragged. */
export interface MarkView {
  readonly label: string;
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

/** A line through some of the moving points of a thumbnail, in this order. */
export interface ThumbnailLine {
  readonly points: readonly number[];
  /** Of a body; -1 for the colour of rods. */
  readonly colour: number;
  readonly ghost: boolean;
  readonly filled: boolean;
}

/** A disc at one of the moving points; its radius is a fraction of half the thumbnail's width. */
export interface ThumbnailDot {
  readonly point: number;
  readonly colour: number;
  readonly radius: number;
  readonly ghost: boolean;
  /** Whether the path of the last frames is drawn behind it. */
  readonly trail: boolean;
}

/**
 * A small picture that moves: positions of some points in a few frames, seen from a fixed direction.
 * Coordinates lie in [-1, 1], x to the right and y upwards, as little-endian int16 of which 32767 is 1, in base64. The
 * first frame is the opening pose.
 */
export interface Thumbnail {
  readonly frames: number;
  /** Duration of all frames at normal speed. */
  readonly seconds: number;
  /** Moving points. */
  readonly count: number;
  /** For each frame, for each point, x and y. */
  readonly places: string;
  readonly lines: readonly ThumbnailLine[];
  readonly dots: readonly ThumbnailDot[];
  /** Lines that do not move, each with x and y for each point. */
  readonly curves: readonly string[];
  /** Radius of the outline of a sphere or a disc about the middle; 0 for none. */
  readonly circle: number;
}

/** A preset as a picture; the action "preset:NAME" takes it. */
export interface PresetView {
  readonly name: string;
  readonly label: string;
  readonly note: string;
  readonly thumbnail: Thumbnail | null;
}

/**
 * A captioned sequence of states; the action "story:NAME:STEP" takes one, counted from 0.
 * Texts are given by language ("en", "de"); every text has at least one.
 */
export interface StoryView {
  readonly name: string;
  readonly title: Readonly<Record<string, string>>;
  readonly captions: readonly Readonly<Record<string, string>>[];
}

/** A lab on the home page. */
export interface LabCard {
  readonly name: string;
  readonly title: string;
  readonly sentence: string;
  /** What to drag, said until the user has dragged something; "" for nothing. */
  readonly hint: string;
  readonly presets: readonly PresetView[];
  readonly stories: readonly StoryView[];
}

/** The first notice on a connection. */
export interface Welcome {
  readonly type: "welcome";
  readonly protocol: number;
  readonly version: string;
  readonly labs: readonly LabEntry[];
  /** Opening the socket with `session=` this resumes the same simulation for a while after a connection was lost. */
  readonly session: string;
  readonly resumed: boolean;
  readonly lab: LabView;
}

/** The lab has another structure from now on; frames of earlier revisions are void. */
export interface Lab {
  readonly type: "lab";
  readonly lab: LabView;
}

/** What the controls should show now; sent whenever any of it changes. */
export interface Controls {
  readonly type: "controls";
  readonly phase: "opening" | "compiling" | "ready" | "failed";
  readonly message: string;
  readonly playing: boolean;
  readonly speed: number;
  readonly held: number | null;
  readonly parameters: Readonly<Record<string, number>>;
  readonly choices: Readonly<Record<string, string>>;
  readonly toggles: Readonly<Record<string, boolean>>;
  /** The texts, and under "page" what the page keeps for itself. */
  readonly texts: Readonly<Record<string, string>>;
  /** For each picture, half the width of a square about the origin that holds every position, in metres. */
  readonly extents: readonly number[];
  /** Radius of each body in the picture as a fraction of its picture's extent. */
  readonly radii: readonly number[];
  readonly certificate: CertificateView;
  /** What undo would take back, in the user's words; null when there is nothing. */
  readonly undo: string | null;
  readonly redo: string | null;
  /** Why there is no motion of the settings that are shown; empty where the motion is of them. */
  readonly faults: readonly Fault[];
  /**
   * For each `type` of answer, the number of what one that is up to date is computed from (`Answer.of`); under
   * "history", that of the timeline whose rows are plotted.
   */
  readonly current: Readonly<Record<string, number>>;
}

/** A command that could not be carried out, and why, in one sentence. */
export interface Refused {
  readonly type: "refused";
  /** The number of what it was computed from; null for an answer that nothing makes out of date. */
  readonly of: number | null;
  readonly message: string;
  /** The `type` of that command, so that the sentence can stand beside its control; "" when there was none. */
  readonly command: string;
  /** The setting whose value was refused; "" where it is none. */
  readonly setting: string;
  /** In a text, the first character that is wrong. */
  readonly start: number;
  /** The character after the last wrong one; `start` where the place is known but not its length. */
  readonly end: number;
}

/** Something that the user should know of what was asked for, in one sentence; nothing is wrong. */
export interface Announced {
  readonly type: "announced";
  /** The number of what it was computed from; null for an answer that nothing makes out of date. */
  readonly of: number | null;
  readonly message: string;
}

/** The complete state as a versioned JSON document, for a link or a file; `Restore` restores it bit for bit. */
export interface Shared {
  readonly type: "shared";
  /** The number of what it was computed from; null for an answer that nothing makes out of date. */
  readonly of: number | null;
  readonly document: string;
}

/** The equations of motion, or a sentence that says why there are none to read. */
export interface Equations {
  readonly type: "equations";
  /** The number of what it was computed from; null for an answer that nothing makes out of date. */
  readonly of: number | null;
  readonly message: string;
  readonly items: readonly EquationView[];
}

/** A file is ready: GET `path` (relative to the page) once, soon; the browser keeps it under `filename`. */
export interface Download {
  readonly type: "download";
  /** The number of what it was computed from; null for an answer that nothing makes out of date. */
  readonly of: number | null;
  readonly path: string;
  readonly filename: string;
}

/**
 * A surface coloured by a function; sent when the function changes, never with frames.
 * Rows of vertices come one after the other. Without `points` it is the unit sphere: vertex j of row i lies at the
 * polar angle \(\pi i/(rows-1)\) from the third axis and at the azimuth \(2\pi j/(columns-1)\) from the first.
 * Without rows the sphere is bare.
 */
export interface Surface {
  readonly type: "surface";
  /** The number of what it was computed from; null for an answer that nothing makes out of date. */
  readonly of: number | null;
  readonly picture: number;
  readonly rows: number;
  readonly columns: number;
  readonly symbol: string;
  readonly label: string;
  readonly unit: string;
  /** The ends of the colour scale; few values lie beyond them. */
  readonly low: number;
  readonly high: number;
  readonly least: number;
  readonly most: number;
  /** Little-endian float32 in base64, one for each vertex. */
  readonly values: string;
  /** Where the vertices are: little-endian float32 in base64, three for each; "" for the unit sphere. */
  readonly points: string;
  /** Whether the sign matters: colours then diverge about zero, each side with a scale of its own. */
  readonly signed: boolean;
}

/**
 * A picture of kind "field": a function of two coordinates as a heat map with contours, behind what moves.
 * Values are given row by row: row i at the y coordinate \(y_{low} + (y_{high} - y_{low})\, i/(rows-1)\), from the
 * lowest x to the highest. Points of frames in such a picture are these coordinates.
 */
export interface Field {
  readonly type: "field";
  /** The number of what it was computed from; null for an answer that nothing makes out of date. */
  readonly of: number | null;
  readonly picture: number;
  readonly rows: number;
  readonly columns: number;
  readonly x_low: number;
  readonly x_high: number;
  readonly x_symbol: string;
  readonly x_unit: string;
  readonly y_low: number;
  readonly y_high: number;
  readonly y_symbol: string;
  readonly y_unit: string;
  readonly symbol: string;
  readonly label: string;
  readonly unit: string;
  /** The ends of the colour scale; few values lie beyond them. */
  readonly low: number;
  readonly high: number;
  /** Whether colours diverge about zero. */
  readonly signed: boolean;
  /** Little-endian float32 in base64; NaN where there is no value. */
  readonly values: string;
}

/** Lines and marks that do not move; they replace those that were sent before. */
export interface Curves {
  readonly type: "curves";
  /** The number of what it was computed from; null for an answer that nothing makes out of date. */
  readonly of: number | null;
  readonly picture: number;
  readonly curves: readonly CurveView[];
  readonly marks: readonly MarkView[];
  /** What they show, in a sentence; may be empty. */
  readonly note: string;
}

/** All labs, in the order in which the page lists them. */
export interface Catalogue {
  readonly type: "catalogue";
  readonly labs: readonly LabCard[];
}

/** Sent when nothing else was for a moment: a page that hears nothing knows that the server has stopped. */
export interface Alive {
  readonly type: "alive";
}

/** Start or continue the motion. */
export interface Play {
  readonly type: "play";
}

/** Pause the motion. */
export interface Pause {
  readonly type: "pause";
}

/** Move by `frames` frames: forward when positive, back to the exact earlier state when negative. */
export interface Step {
  readonly type: "step";
  readonly frames: number;
  /** True while a key is held down: the whole series is then one action for undo. */
  readonly repeat: boolean;
}

/** Go to the exact state at the frame nearest to this time, between a frame's `oldest` and `newest`. */
export interface Seek {
  readonly type: "seek";
  readonly time: number;
  /** False while the timeline is being dragged: the whole series is one action for undo. */
  readonly settled: boolean;
}

/** Start to drag a body. The motion pauses until `DragEnd`. */
export interface DragBegin {
  readonly type: "drag-begin";
  readonly body: number;
}

/** Bring the dragged body as near to (x, y, z) as the system allows, at rest. In a plane z is 0. */
export interface DragMove {
  readonly type: "drag-move";
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

/** Release the body, with the velocity (x, y, z) of the pointer where `BodyView.throws`, else at rest. */
export interface DragEnd {
  readonly type: "drag-end";
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

/** Give one parameter a value, keeping positions and velocities as far as the structure allows. */
export interface SetParameter {
  readonly type: "set-parameter";
  readonly name: string;
  readonly value: number;
  /** False while a slider moves: all its values up to the settled one are one action for undo. */
  readonly settled: boolean;
}

/** Choose one of the options of a choice. */
export interface SetChoice {
  readonly type: "set-choice";
  readonly name: string;
  readonly value: string;
}

/** Turn something on or off. */
export interface SetToggle {
  readonly type: "set-toggle";
  readonly name: string;
  readonly on: boolean;
}

/** Give one text, which may be a formula or a drawn curve; "page" is what the page keeps for itself. */
export interface SetText {
  readonly type: "set-text";
  readonly name: string;
  readonly value: string;
  /** False while a curve is being drawn: the whole series is one action for undo. */
  readonly settled: boolean;
}

/** Press a button of the lab. */
export interface Act {
  readonly type: "act";
  readonly name: string;
}

/** Seconds of motion for one second of the clock. */
export interface SetSpeed {
  readonly type: "set-speed";
  readonly value: number;
}

/** Go back to the lab's first state at time zero; with `defaults`, to its first settings too. */
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

/** Ask for the complete state as a document; `Shared` brings it. */
export interface Share {
  readonly type: "share";
}

/** Restore the state in a document that `Shared` brought, in this session or an earlier one. */
export interface Restore {
  readonly type: "restore";
  readonly document: string;
}

/** Make a file of the present state (python, toml) or of the motion so far (others); `Download` brings it. */
export interface Export {
  readonly type: "export";
  readonly kind: "html" | "python" | "toml" | "csv" | "netcdf";
}

/** Ask for the equations of motion; `Equations` brings them, perhaps seconds later. */
export interface AskEquations {
  readonly type: "ask-equations";
}

/** Take back the change whose equations of motion are being compiled; the motion before goes on. */
export interface Cancel {
  readonly type: "cancel";
}

/** A frame has arrived. The server keeps few frames on the way, so a slow page gets the newest, never a queue. */
export interface Seen {
  readonly type: "seen";
  readonly sequence: number;
}

export type Notice =
  | Welcome
  | Lab
  | Controls
  | Refused
  | Announced
  | Shared
  | Equations
  | Download
  | Surface
  | Field
  | Curves
  | Catalogue
  | Alive;

export type Command =
  | Play
  | Pause
  | Step
  | Seek
  | DragBegin
  | DragMove
  | DragEnd
  | SetParameter
  | SetChoice
  | SetToggle
  | SetText
  | Act
  | SetSpeed
  | Reset
  | Undo
  | Redo
  | Share
  | Restore
  | Export
  | AskEquations
  | Cancel
  | Seen;

/** The files that the studio exports, in the order of the menu. */
export const EXPORT_FORMATS = [
  { kind: "html", label: "Web page", note: "one file that replays the motion anywhere", ending: "html", by: "studio", readable: false, film: false },
  { kind: "embed", label: "Embed", note: "lines that put that web page into another", ending: "txt", by: "page", readable: true, film: false },
  { kind: "gif", label: "GIF", note: "a moving image from now on", ending: "gif", by: "page", readable: false, film: true },
  { kind: "mp4", label: "MP4", note: "a film from now on", ending: "mp4", by: "page", readable: false, film: true },
  { kind: "webm", label: "WebM", note: "a film from now on", ending: "webm", by: "page", readable: false, film: true },
  { kind: "png", label: "PNG", note: "the picture at twice the size of the screen", ending: "png", by: "page", readable: false, film: false },
  { kind: "svg", label: "SVG", note: "the picture as a drawing", ending: "svg", by: "page", readable: false, film: false },
  { kind: "python", label: "Python", note: "a script that goes on and plots", ending: "py", by: "studio", readable: true, film: false },
  { kind: "toml", label: "Scene", note: "a TOML file for holonomy run", ending: "toml", by: "studio", readable: true, film: false },
  { kind: "csv", label: "CSV", note: "the motion so far, as a table", ending: "csv", by: "studio", readable: false, film: false },
  { kind: "netcdf", label: "NetCDF", note: "the motion so far, for xarray", ending: "nc", by: "studio", readable: false, film: false },
] as const;

/** Intervals that the server holds commands to. */
export const limits = {
  Step_frames: [-600, 600],
  Seek_time: [-1000000000.0, 1000000000.0],
  DragBegin_body: [0, 65535],
  DragMove_x: [-1000000.0, 1000000.0],
  DragMove_y: [-1000000.0, 1000000.0],
  DragMove_z: [-1000000.0, 1000000.0],
  DragEnd_x: [-1000000.0, 1000000.0],
  DragEnd_y: [-1000000.0, 1000000.0],
  DragEnd_z: [-1000000.0, 1000000.0],
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
 * One picture of the motion: exact time, coordinates and velocities, channels, and where to draw the points.
 * `channel` holds the present value of each of `LabView.channels`, `strain` the relative stretch of each rod, zero for
 * rigid ones. A row of `sample` is a time, the channels, and the position of each traced body. Rows come close in time
 * however few frames reach the page, so that curves and trails do not depend on its speed. A row of NaN stands where
 * the motion was changed by hand. A single channel is NaN where it has no value.
 */
export interface Frame {
  readonly sequence: number;
  readonly flags: number;
  /** The `LabView.revision` that this frame belongs to; the page drops frames of others. */
  readonly revision: number;
  readonly coordinates: number;
  readonly energies: number;
  readonly channels: number;
  readonly points: number;
  readonly dimension: number;
  readonly rods: number;
  /** Bodies whose places are in the rows, in the order of the bodies. */
  readonly traced: number;
  /** Rows of recent motion since the last frame that was sent. */
  readonly samples: number;
  /** 1 + channels + traced × dimension. */
  readonly sample_width: number;
  readonly time: number;
  /** Energy now minus energy at the last jump, in joules. */
  readonly drift: number;
  /** Seconds of motion in the last second of the clock. */
  readonly rate: number;
  /** The first time that `Seek` can reach. */
  readonly oldest: number;
  /** The last time that `Seek` can reach. */
  readonly newest: number;
  /** Steps of the method since the last jump. */
  readonly steps: number;
  readonly q: Float64Array;
  readonly v: Float64Array;
  readonly energy: Float64Array;
  readonly channel: Float64Array;
  readonly position: Float64Array;
  readonly strain: Float64Array;
  readonly sample: Float64Array;
}

/** The frame in a binary message. Throws when its length does not fit its header. */
export function readFrame(data: ArrayBuffer): Frame {
  if (data.byteLength < 96) {
    throw new RangeError(`A frame of ${data.byteLength} bytes is too short.`);
  }
  const view = new DataView(data);
  const sequence = view.getUint32(0, true);
  const flags = view.getUint32(4, true);
  const revision = view.getUint32(8, true);
  const coordinates = view.getUint32(12, true);
  const energies = view.getUint32(16, true);
  const channels = view.getUint32(20, true);
  const points = view.getUint32(24, true);
  const dimension = view.getUint32(28, true);
  const rods = view.getUint32(32, true);
  const traced = view.getUint32(36, true);
  const samples = view.getUint32(40, true);
  const sample_width = view.getUint32(44, true);
  const time = view.getFloat64(48, true);
  const drift = view.getFloat64(56, true);
  const rate = view.getFloat64(64, true);
  const oldest = view.getFloat64(72, true);
  const newest = view.getFloat64(80, true);
  const steps = view.getFloat64(88, true);
  let offset = 96;
  const take = (length: number): Float64Array => {
    const numbers = new Float64Array(data, offset, length);
    offset += 8 * length;
    return numbers;
  };
  const announced = offset + 8 * (coordinates + coordinates + energies + channels + points * dimension + rods + samples * sample_width);
  if (data.byteLength !== announced) {
    throw new RangeError(`A frame announces ${announced} bytes and has ${data.byteLength}.`);
  }
  const q = take(coordinates);
  const v = take(coordinates);
  const energy = take(energies);
  const channel = take(channels);
  const position = take(points * dimension);
  const strain = take(rods);
  const sample = take(samples * sample_width);
  return {
    sequence, flags, revision, coordinates, energies, channels, points, dimension, rods, traced,
    samples, sample_width, time, drift, rate, oldest, newest, steps, q, v, energy, channel,
    position, strain, sample,
  };
}
