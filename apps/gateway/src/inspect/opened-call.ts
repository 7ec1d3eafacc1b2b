// A model call with everything it takes to explain it.
import type { ReportItem } from "@clew/engine-core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { type Boundary, isMember, planBoundaries } from "./boundaries.ts";
import type { Branch } from "./branch-cursor.ts";
import { fateOnScale, onScaleOf, tokensOfEntry } from "./call-scale.ts";
import { type CallFacts, type EntryFate, fateOf } from "./fates.ts";
import type { PlacedCall } from "./placed-call.ts";
import type { CallRow } from "./shapes/calls.ts";

/** What is known of it when it is opened; its path is the branch it was made on. */
export interface KnownOfCall extends PlacedCall, Branch {
  row: CallRow;
  /** All messages that were sent, in order. */
  messages: readonly ReportItem[];
  facts: CallFacts;
}

/** What takes the whole branch is found out when it is first asked for, and once. */
export interface OpenedCall extends KnownOfCall {
  /** On its branch. */
  find(entryId: string): TranscriptEntry | undefined;
  /** Entries that say something, in order: the first is number 1. */
  members(): readonly TranscriptEntry[];
  /** What hides each entry of the path. */
  hidden(): readonly (Boundary | undefined)[];
  /** Tokens of a stored entry as the call counts, of which this is the estimate. */
  tokensOf(entryId: string, estimate: number): number;
  /** Sizes as the call counts. Undefined: it says nothing, or was not stored then. */
  fateOf(entryId: string): EntryFate | undefined;
  /** Numbers of the entries with a fate or mark of that name, or in that summary; ascending. */
  numbersWith(name: string): readonly number[];
}

export function createOpenedCall(known: KnownOfCall): OpenedCall {
  const { path, placeOf, facts, row, call, messages } = known;
  const named = new Map<string, readonly number[]>();
  const sentOf = once(() => tokensOfEntry(row, [...call.system, ...call.tools, ...messages]));
  const members = once(() => path.filter(isMember));
  const hidden = once(() => planBoundaries(path, placeOf));
  const fateAt = (place: number | undefined): EntryFate | undefined => {
    const entry = path[place ?? -1];
    if (place === undefined || entry === undefined || !isMember(entry)) return undefined;
    return fateOnScale(row, fateOf(entry.id, hidden()[place], facts));
  };
  const fates = once(() => path.flatMap((_entry, place) => fateAt(place) ?? []));
  return {
    ...known,
    ...{ members, hidden },
    find: (id) => path[placeOf(id) ?? -1],
    fateOf: (id) => fateAt(placeOf(id)),
    tokensOf: (id, estimate) =>
      (isAsStored(facts, id) ? sentOf()(id) : undefined) ?? onScaleOf(row)(estimate),
    numbersWith(name) {
      const numbers =
        named.get(name) ??
        fates().flatMap((each, index) => (isNamed(each, name) ? [index + 1] : []));
      named.set(name, numbers);
      return numbers;
    },
  };
}

/** It was sent as it is, so that it takes what its item does. */
function isAsStored({ sent }: CallFacts, entryId: string): boolean {
  const treatment = sent.get(entryId);
  return treatment?.cleared === null && treatment.marks.length === 0;
}

function isNamed({ fate, marks }: EntryFate, name: string): boolean {
  return (
    fate.kind === name ||
    (fate.kind === "summary" && fate.summaryId === name) ||
    marks.some(({ kind }) => kind === name)
  );
}

function once<Value>(find: () => Value): () => Value {
  let known: { value: Value } | undefined;
  return () => {
    known ??= { value: find() };
    return known.value;
  };
}
