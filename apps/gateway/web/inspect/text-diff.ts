// Sets two texts side by side, line by line, so that what is the same stands on one level.

export interface DiffLine {
  kind: "same" | "changed" | "removed" | "added" | "skipped";
  /** Null: there is no such line before; of skipped ones, how many. */
  before: string | null;
  after: string | null;
}

/** Lines of which the longest common sequence is looked for; more are compared from both ends. */
const MOST_LINES = 1500;
/** Lines around a difference that stay in sight. */
const AROUND = 3;

/** Pure. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [left, right] = [before.split("\n"), after.split("\n")];
  const head = commonLength(left, right);
  const tail = commonLength(left.slice(head).reverse(), right.slice(head).reverse());
  const same = (lines: readonly string[]) => lines.map((line) => both(line));
  return [
    ...same(left.slice(0, head)),
    ...middle(left.slice(head, left.length - tail), right.slice(head, right.length - tail)),
    ...same(left.slice(left.length - tail)),
  ];
}

/** Pure. Long stretches without a difference become one line that says how many they were. */
export function foldSame(lines: readonly DiffLine[]): DiffLine[] {
  const isNear = lines.map(() => false);
  lines.forEach(({ kind }, index) => {
    if (kind === "same") return;
    for (let near = index - AROUND; near <= index + AROUND; near++) isNear[near] = true;
  });
  const folded: DiffLine[] = [];
  let skipped = 0;
  const tellSkipped = () => {
    if (skipped > 0) folded.push({ kind: "skipped", before: String(skipped), after: null });
    skipped = 0;
  };
  lines.forEach((line, index) => {
    if (isNear[index] === true) {
      tellSkipped();
      folded.push(line);
    } else skipped++;
  });
  tellSkipped();
  return folded;
}

const both = (line: string): DiffLine => ({ kind: "same", before: line, after: line });

function commonLength(left: readonly string[], right: readonly string[]): number {
  let length = 0;
  while (length < Math.min(left.length, right.length) && left[length] === right[length]) length++;
  return length;
}

function middle(left: readonly string[], right: readonly string[]): DiffLine[] {
  const lines = left.length * right.length > MOST_LINES ** 2 ? [] : commonLines(left, right);
  const result: DiffLine[] = [];
  let [i, j] = [0, 0];
  for (const [nextLeft, nextRight] of [...lines, [left.length, right.length] as const]) {
    result.push(...beside(left.slice(i, nextLeft), right.slice(j, nextRight)));
    if (nextLeft < left.length) result.push(both(left[nextLeft] ?? ""));
    [i, j] = [nextLeft + 1, nextRight + 1];
  }
  return result;
}

function beside(left: readonly string[], right: readonly string[]): DiffLine[] {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, index) => {
    const [before, after] = [left[index] ?? null, right[index] ?? null];
    const kind = before === null ? "added" : after === null ? "removed" : "changed";
    return { kind, before, after };
  });
}

/** Pairs of places of the longest sequence of lines that both have. */
function commonLines(
  left: readonly string[],
  right: readonly string[],
): (readonly [number, number])[] {
  const width = right.length + 1;
  const lengths = new Uint32Array((left.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = left.length - 1; i >= 0; i--)
    for (let j = right.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        left[i] === right[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const pairs: (readonly [number, number])[] = [];
  for (let i = 0, j = 0; i < left.length && j < right.length; )
    if (left[i] === right[j]) pairs.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  return pairs;
}
