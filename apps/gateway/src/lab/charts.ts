// Draws lines over the calls of a session as SVG that needs nothing else.

/** One engine's line. */
export interface Line {
  name: string;
  /** By call; null = there is no value. */
  values: readonly (number | null)[];
}

export interface Chart {
  title: string;
  /** Behind numbers: "tokens", "%"; "$" stands before them. */
  unit: string;
  lines: readonly Line[];
  /** A line that does not move, for example a budget. Absent: there is none. */
  limit?: { name: string; value: number };
}

const WIDTH = 760;
const HEIGHT = 200;
const LEFT = 64;
const RIGHT = 10;
const TOP = 10;
const BOTTOM = 22;
const TICKS = 4;
/** More would not be seen. */
const MOST_POINTS = 700;

/** Pure. Lines by class "line-0" and so on; the page says their colours. */
export function drawChart({ title, unit, lines, limit }: Chart): string {
  const values = lines.flatMap((line) => line.values.filter((value) => value !== null));
  const calls = Math.max(2, ...lines.map((line) => line.values.length));
  const top = niceTop(Math.max(...values, limit?.value ?? 0, 0));
  const x = (call: number) => round(LEFT + (call / (calls - 1)) * (WIDTH - LEFT - RIGHT));
  const y = (value: number) => round(HEIGHT - BOTTOM - (value / top) * (HEIGHT - TOP - BOTTOM));
  const grid = Array.from({ length: TICKS + 1 }, (_, at) => {
    const value = (top * at) / TICKS;
    return `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(value)}" y2="${y(value)}"/><text class="tick" x="${LEFT - 6}" y="${y(value) + 4}" text-anchor="end">${label(value, unit)}</text>`;
  });
  const bound =
    limit === undefined
      ? ""
      : `<line class="limit" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(limit.value)}" y2="${y(limit.value)}"><title>${escapeHtml(limit.name)}: ${label(limit.value, unit)}</title></line>`;
  const paths = lines.map(
    (line, at) =>
      `<path class="line line-${at}" d="${pathOf(line.values, x, y)}"><title>${escapeHtml(line.name)}</title></path>`,
  );
  return `<figure><figcaption>${escapeHtml(title)}</figcaption><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeHtml(describe({ title, unit, lines }))}">${grid.join("")}${bound}${paths.join("")}<text class="tick" x="${LEFT}" y="${HEIGHT - 6}">call 1</text><text class="tick" x="${WIDTH - RIGHT}" y="${HEIGHT - 6}" text-anchor="end">call ${calls}</text></svg></figure>`;
}

function pathOf(
  values: readonly (number | null)[],
  x: (call: number) => number,
  y: (value: number) => number,
): string {
  const every = Math.ceil(values.length / MOST_POINTS);
  let isDrawing = false;
  const steps = values.flatMap((value, call) => {
    if (call % every !== 0 && call !== values.length - 1) return [];
    if (value === null) {
      isDrawing = false;
      return [];
    }
    const step = `${isDrawing ? "L" : "M"}${x(call)} ${y(value)}`;
    isDrawing = true;
    return [step];
  });
  return steps.join("");
}

/** For those who hear it. */
const describe = ({ title, unit, lines }: Chart): string =>
  `${title}. ${lines
    .map(({ name, values }) => {
      const last = values.findLast((value) => value !== null) ?? 0;
      const most = Math.max(0, ...values.filter((value) => value !== null));
      return `${name}: at most ${label(most, unit)}, in the end ${label(last, unit)}`;
    })
    .join("; ")}.`;

/** The next of 1, 2 or 5 times a power of ten. */
function niceTop(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 2, 5, 10].find((one) => one * power >= value) ?? 10;
  return factor * power;
}

function label(value: number, unit: string): string {
  const digits = value !== 0 && Math.abs(value) < 10 ? 2 : 0;
  const text = value.toLocaleString("en-US", { maximumFractionDigits: digits });
  if (unit === "$") return `$${text}`;
  return unit === "%" || unit === "ms" ? `${text} ${unit}` : text;
}

const round = (value: number) => Math.round(value * 10) / 10;

/** Text as it may stand in HTML and in its attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
