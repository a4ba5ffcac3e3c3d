// Lines of some width as bands, for a renderer whose own lines are one pixel wide.

/** The longest a corner may reach out, in half-widths; a sharper one is cut off. */
const MITRE = 2.5;

/** The unbroken pieces of a line of places of two numbers each: those without NaN, two places or more. */
export function pieces(points: Float64Array, closed: boolean): { points: Float64Array; closed: boolean }[] {
  const found: { points: Float64Array; closed: boolean }[] = [];
  let start = 0;
  const end = (stop: number): void => {
    if (stop - start >= 4) found.push({ points: points.subarray(start, stop), closed: closed && stop - start === points.length });
  };
  for (let i = 0; i + 1 < points.length; i += 2) {
    if (Number.isFinite(points[i]) && Number.isFinite(points[i + 1])) continue;
    end(i);
    start = i + 2;
  }
  end(points.length);
  return found;
}

/** Cut a line into dashes of length `on` with gaps of length `off`. */
export function dashes(points: Float64Array, closed: boolean, on: number, off: number): Float64Array[] {
  const result: Float64Array[] = [];
  let dash: number[] | null = [points[0]!, points[1]!];
  let left = on;
  const count = points.length / 2;
  for (let i = 1; i < count + Number(closed); i++) {
    const [from, to] = [2 * (i - 1), 2 * (i % count)];
    let [x, y] = [points[from]!, points[from + 1]!];
    let length = Math.hypot(points[to]! - x, points[to + 1]! - y);
    while (length > left) {
      x += ((points[to]! - x) * left) / length;
      y += ((points[to + 1]! - y) * left) / length;
      length -= left;
      if (dash) result.push(Float64Array.of(...dash, x, y));
      left = dash ? off : on;
      dash = dash ? null : [x, y];
    }
    left -= length;
    dash?.push(points[to]!, points[to + 1]!);
  }
  if (dash && dash.length >= 4) result.push(Float64Array.from(dash));
  return result;
}

/** Both sides of a band of half-width `half` along a line: left x, y and right x, y for each of its places. */
export function band(points: Float64Array, closed: boolean, half: number): Float64Array {
  const count = points.length / 2;
  const result = new Float64Array(4 * count);
  const direction = (i: number): [number, number] => {
    const [a, b] = [2 * ((i + count) % count), 2 * ((i + 1 + count) % count)];
    const [dx, dy] = [points[b]! - points[a]!, points[b + 1]! - points[a + 1]!];
    const length = Math.hypot(dx, dy) || 1;
    return [dx / length, dy / length];
  };
  for (let i = 0; i < count; i++) {
    const into = i > 0 || closed ? direction(i - 1) : direction(i);
    const out = i < count - 1 || closed ? direction(i) : into;
    // Across the line: the sum of both normals, so long that its parts across each piece are `half`.
    let [nx, ny] = [-(into[1] + out[1]), into[0] + out[0]];
    const size = Math.hypot(nx, ny);
    if (size < 1e-6) [nx, ny] = [-out[1], out[0]];
    else {
      const reach = Math.min(MITRE, 2 / size);
      [nx, ny] = [(nx / size) * reach, (ny / size) * reach];
    }
    const [x, y] = [points[2 * i]!, points[2 * i + 1]!];
    result.set([x + nx * half, y + ny * half, x - nx * half, y - ny * half], 4 * i);
  }
  return result;
}
