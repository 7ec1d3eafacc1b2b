// Counts what became of every line of a file, so that none is dropped without a word.

/** Each line is counted once. */
export interface Tally {
  lines: number;
  blank: number;
  /** Lines that are part of what was said, or tell of the session. */
  understood: number;
  /** Lines that are kept as records, which models are not shown, by what they are. */
  kept: Record<string, number>;
  /** Lines that say again what others of the file say, by what they are. */
  repeated: Record<string, number>;
  /** Numbers of lines that are no JSON, counted from 1. */
  damaged: number[];
  /** Numbers of lines above the limit. */
  tooLong: number[];
}

export const newTally = (): Tally => ({
  ...{ lines: 0, blank: 0, understood: 0, damaged: [], tooLong: [] },
  ...{ kept: {}, repeated: {} },
});

/** `kind`: a stranger's word. */
export function count(counts: Record<string, number>, kind: string): void {
  const name = kindName(kind);
  counts[name] = (Object.hasOwn(counts, name) ? counts[name]! : 0) + 1;
}

/** A stranger's word as a name of ours. */
export function kindName(word: unknown): string {
  const name = typeof word === "string" ? word.replaceAll(/[^\w./-]/g, "_").slice(0, 60) : "";
  return name === "" || name === "__proto__" ? "unnamed" : name;
}

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, one) => total + one, 0);

/** Lines that were accounted for: all of them. */
export const countedLines = (tally: Tally): number =>
  tally.blank +
  tally.understood +
  sum(tally.kept) +
  sum(tally.repeated) +
  tally.damaged.length +
  tally.tooLong.length;
