// What became of each stored entry in one model call.
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { type Boundary, isMember, planBoundaries } from "./boundaries.ts";
import type { EntryMark, Fate, FateCounts } from "./shapes/entries.ts";
import type { Unseen } from "./unseen.ts";

/** How an entry that was sent differs from what is stored. */
export interface Treatment {
  /** The rule that put a placeholder in its place; null = it is shown. */
  cleared: string | null;
  marks: readonly EntryMark[];
}

export const AS_STORED: Treatment = { cleared: null, marks: [] };

/** Who kept an entry from the model, and why. */
export interface Withheld {
  by: "host" | "policy";
  why: string;
}

/** What is known of one call. */
export interface CallFacts {
  /** How each entry was sent, summaries of compactions included; by entry. */
  sent: ReadonlyMap<string, Treatment>;
  /** Summaries of the engine that stand in the call, by the entries they cover. */
  covered: ReadonlyMap<string, string>;
  /** What is known of entries that the host kept from the model. */
  withheld: ReadonlyMap<string, Withheld>;
  engine: string;
  /** Messages of the engine's own, of which it does not say what they cover. */
  madeByEngine: number;
  /** What a program holds that nobody here knows; null = all that was shown is known. */
  unseen: Unseen | null;
  /** Of an entry on the branch of the call. */
  placeOf: (entryId: string) => number | undefined;
  /** True: a report before it cannot be read, which may have told who kept entries back. */
  isGapped: boolean;
}

export interface EntryFate {
  entryId: string;
  fate: Fate;
  marks: readonly EntryMark[];
}

/** Pure. The fate of each entry of `branch` that says something, in order; exactly one each. */
export function planFates(branch: readonly TranscriptEntry[], facts: CallFacts): EntryFate[] {
  const hidden = planBoundaries(branch);
  return branch.flatMap((entry, index) =>
    isMember(entry) ? [fateOf(entry.id, hidden[index], facts)] : [],
  );
}

/** Pure. What has no other explanation was left out by the engine. */
export function fateOf(entryId: string, hidden: Boundary | undefined, facts: CallFacts): EntryFate {
  const treatment = facts.sent.get(entryId);
  if (treatment?.cleared === null)
    return { entryId, fate: { kind: "shown" }, marks: treatment.marks };
  return { entryId, fate: fateOfAbsent(entryId, treatment, hidden, facts), marks: [] };
}

function fateOfAbsent(
  entryId: string,
  treatment: Treatment | undefined,
  hidden: Boundary | undefined,
  { sent, covered, withheld, engine, madeByEngine, unseen, placeOf, isGapped }: CallFacts,
): Fate {
  if (treatment?.cleared != null) return { kind: "cleared", rule: treatment.cleared };
  if (hidden?.kind === "summary" && sent.has(hidden.id))
    return { kind: "summary", summaryId: hidden.id };
  const summaryId = covered.get(entryId);
  if (summaryId !== undefined) return { kind: "summary", summaryId };
  if (hidden?.kind === "reset")
    return {
      kind: "left-out",
      by: "person",
      why: "the session was reset after it; it stays in the transcript",
    };
  if (unseen !== null)
    return (placeOf(entryId) ?? 0) < unseen.from
      ? { kind: "left-out", by: "program", why: unseen.before }
      : { kind: "unseen", why: unseen.why };
  if (hidden !== undefined)
    return {
      kind: "left-out",
      by: "engine",
      why: `engine "${engine}" left out the summary that holds it`,
    };
  const known = withheld.get(entryId);
  if (known !== undefined) return { kind: "left-out", ...known };
  if (isGapped)
    return {
      ...{ kind: "left-out", by: "engine" },
      why: `engine "${engine}" left it out, unless a damaged report told of somebody else`,
    };
  const why =
    madeByEngine > 0
      ? `engine "${engine}" left it out; what the engine wrote itself may tell of it`
      : `engine "${engine}" left it out and gave no reason`;
  return { kind: "left-out", by: "engine", why };
}

export const noFates = (): FateCounts => ({
  ...{ all: 0, shown: 0, summary: 0, cleared: 0, leftOut: 0 },
  ...{ unseen: 0, shortened: 0, changed: 0 },
});

/** Adds one fate to `counts`, or with -1 takes it away. */
export function addFate(
  counts: FateCounts,
  { fate, marks }: Pick<EntryFate, "fate" | "marks">,
  times: 1 | -1 = 1,
): void {
  counts.all += times;
  counts[fate.kind === "left-out" ? "leftOut" : fate.kind] += times;
  for (const kind of new Set(marks.map((mark) => mark.kind))) counts[kind] += times;
}

export function countFates(fates: readonly EntryFate[]): FateCounts {
  const counts = noFates();
  for (const each of fates) addFate(counts, each);
  return counts;
}
