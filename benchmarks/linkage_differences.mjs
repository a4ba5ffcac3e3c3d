// K and |II|^2 of four rods by finite differences, in plain JavaScript: the way the source material computes them.
// node benchmarks/linkage_differences.mjs SIZE BASE ROD_MASS HINGE_MASS -> one line of JSON.

const [size, base, rodMass, hingeMass] = process.argv.slice(2).map(Number);
const STEP = 1e-4;
const diagonal = (2 * rodMass) / 3 + hingeMass;
const beside = rodMass / 6;

const sinc = (u) => (Math.abs(u) < 1e-8 ? 1 - (u * u) / 6 : Math.sin(u) / u);

/** Hinge coordinates x1, y1, x2, y2, x3, y3 of a configuration, written into `out`. */
function hinges(phi, t, out) {
  const opening = Math.acos((base * base - 8) / (2 * base));
  const outer = opening * Math.sin(phi);
  const x3 = base - Math.cos(outer);
  const y3 = -Math.sin(outer);
  const reach = Math.hypot(x3, y3);
  const inner = Math.acos(Math.min(1, (reach * reach - 3) / (2 * reach)));
  const turn = inner * Math.sin(t);
  const ux = x3 / reach;
  const uy = y3 / reach;
  const x2 = x3 - (ux * Math.cos(turn) - uy * Math.sin(turn));
  const y2 = y3 - (ux * Math.sin(turn) + uy * Math.cos(turn));
  const half = Math.hypot(x2, y2);
  const s = Math.sin(t);
  const side = Math.cos(t) * inner * Math.sqrt(reach * sinc((inner * (1 + s)) / 2) * sinc((inner * (1 - s)) / 2));
  out[0] = x2 / 2 - (side / 2) * (y2 / half);
  out[1] = y2 / 2 + (side / 2) * (x2 / half);
  out[2] = x2;
  out[3] = y2;
  out[4] = x3;
  out[5] = y3;
}

/** The inner product of hinge velocities. */
function dot(a, b) {
  let total = 0;
  for (let c = 0; c < 6; c++) total += diagonal * a[c] * b[c];
  for (let c = 0; c < 4; c++) total += beside * (a[c] * b[c + 2] + a[c + 2] * b[c]);
  return total;
}

const places = Array.from({ length: 9 }, () => new Float64Array(6));
const first = [new Float64Array(6), new Float64Array(6)];
const second = [new Float64Array(6), new Float64Array(6), new Float64Array(6)];

/** [K, |II|^2] at one point from nine configurations around it. */
function bending(phi, t) {
  for (let i = -1, k = 0; i <= 1; i++) {
    for (let j = -1; j <= 1; j++, k++) hinges(phi + i * STEP, t + j * STEP, places[k]);
  }
  for (let c = 0; c < 6; c++) {
    first[0][c] = (places[7][c] - places[1][c]) / (2 * STEP);
    first[1][c] = (places[5][c] - places[3][c]) / (2 * STEP);
    second[0][c] = (places[7][c] - 2 * places[4][c] + places[1][c]) / (STEP * STEP);
    second[1][c] = (places[8][c] - places[6][c] - places[2][c] + places[0][c]) / (4 * STEP * STEP);
    second[2][c] = (places[5][c] - 2 * places[4][c] + places[3][c]) / (STEP * STEP);
  }
  const e = dot(first[0], first[0]);
  const f = dot(first[0], first[1]);
  const g = dot(first[1], first[1]);
  const area = e * g - f * f;
  for (const s of second) {
    const a = dot(s, first[0]);
    const b = dot(s, first[1]);
    const p = (g * a - f * b) / area;
    const q = (e * b - f * a) / area;
    for (let c = 0; c < 6; c++) s[c] -= p * first[0][c] + q * first[1][c];
  }
  const [p, q, r] = second;
  const [i, j, k] = [g / area, -f / area, e / area];
  const total =
    i * i * dot(p, p) + 4 * i * j * dot(p, q) + 2 * j * j * dot(p, r) +
    2 * (i * k + j * j) * dot(q, q) + 4 * j * k * dot(q, r) + k * k * dot(r, r);
  return [(dot(p, r) - dot(q, q)) / area, total];
}

const curvature = new Float64Array(size * size);
const total = new Float64Array(size * size);
function sweep() {
  for (let a = 0; a < size; a++) {
    for (let b = 0; b < size; b++) {
      const at = a * size + b;
      [curvature[at], total[at]] = bending(((a + 0.5) / size - 0.5) * Math.PI, (2 * Math.PI * (b + 0.5)) / size);
    }
  }
}

let best = Infinity;
for (let round = 0; round < 4; round++) {
  const start = performance.now();
  sweep();
  best = Math.min(best, performance.now() - start);
}
const stride = Math.max(1, Math.floor(size / 32));
const sample = [];
for (let a = 0; a < size; a += stride) for (let b = 0; b < size; b += stride) sample.push([a, b, curvature[a * size + b], total[a * size + b]]);
console.log(JSON.stringify({ milliseconds: best, sample }));
