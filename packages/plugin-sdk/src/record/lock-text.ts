// Which parts of a text are of a lock file.

/** A piece of a text. */
export interface Run {
  /** Its first character. */
  from: number;
  /** The character after its last. */
  to: number;
}

/** What only lock files say of a package, each on a line of its own. */
const PINNED = new RegExp(
  [
    /"(?:integrity|resolved|shasum)": "/,
    /integrity sha\d{3}-/,
    /resolved "/,
    /resolution: ["{]/,
    /checksum: \S{32}/,
    /checksum = "/,
    /source = "(?:registry|git)\+/,
    /specifier: \S/,
    /"sha256:[0-9a-f]{64}",?$/,
    /\{.*\bhash = "sha256:/,
    /["']?@?[\w./~-]+@[^\s"']*\d[^\s"']*["']?:$/,
    /\S+ v\d\S* h1:\S+=$/,
  ]
    .map(({ source }) => `^\\s*${source}`)
    .join("|"),
);
/** So many such lines are a lock file, or a part of one. */
const LEAST_PINNED = 3;
/** Lines from one of them to the next at most: what a package needs stands between. */
const MOST_BETWEEN = 16;
const MOST_BEFORE = 3;
/** Indented, or a line that opens, closes or assigns. */
const STRUCTURE = /^\s|[:{}[\],"']\s*$|^$/;
const MAX_LINE = 400;

interface Line extends Run {
  pinned: boolean;
  structure: boolean;
}

/** Where at least three packages are pinned, one soon after the other. Linear. */
export function lockRuns(text: string): Run[] {
  if (!/integrity|resol|checksum|specifier|sha256|shasum| h1:|@/.test(text)) return [];
  const lines = linesOf(text);
  const runs: Run[] = [];
  let first = -1;
  let last = -1;
  let count = 0;
  const close = () => {
    if (count >= LEAST_PINNED) runs.push(around(lines, first, last));
    [first, last, count] = [-1, -1, 0];
  };
  lines.forEach(({ pinned, structure }, index) => {
    if (count > 0 && (index - last > MOST_BETWEEN || !(pinned || structure))) close();
    if (!pinned) return;
    if (count === 0) first = index;
    last = index;
    count++;
  });
  close();
  return runs;
}

function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  for (let from = 0; from <= text.length; ) {
    const end = text.indexOf("\n", from);
    const to = end < 0 ? text.length : end;
    const line = text.slice(from, Math.min(to, from + MAX_LINE));
    lines.push({ from, to, pinned: PINNED.test(line), structure: STRUCTURE.test(line) });
    from = to + 1;
  }
  return lines;
}

/** With the beginning of the first package and the end of the last. */
function around(lines: readonly Line[], first: number, last: number): Run {
  let from = first;
  while (from > 0 && first - from < MOST_BEFORE && isPart(lines[from - 1]!)) from--;
  let to = last;
  while (to + 1 < lines.length && to - last < MOST_BETWEEN && isPart(lines[to + 1]!)) to++;
  return { from: lines[from]!.from, to: lines[to]!.to };
}

const isPart = ({ from, to, structure }: Line) => structure && to > from;
