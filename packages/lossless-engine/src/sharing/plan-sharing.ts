// Decides whether a database holds what is shared of a session, or what it has to take over.
import type { EngineRow } from "@clew/plugin-sdk/core";
import type { SharedMessage } from "../store/shared-rows.ts";

/** What is shared of one session. */
export interface Shared {
  /** Its conversation's number. Null: nothing is shared yet. */
  readonly conversation: number | null;
  /** By number, in their order. */
  readonly messages: ReadonlyMap<number, SharedMessage>;
  /** Rows of the table of summaries, by id, without their hashes. */
  readonly summaries: ReadonlyMap<number, Record<string, unknown>>;
  /** Rows of the table of cuts, in their order, without what was known there. */
  readonly cuts: readonly Record<string, unknown>[];
  /** What was known at the newest of them, zstd of JSON. Null: nothing is. */
  readonly ledger: { readonly name: string; readonly ledger: Uint8Array } | null;
  /** Keys of turns. */
  readonly turns: readonly string[];
  /** Ids of the transcripts that the session had before. */
  readonly family: readonly string[];
  /** Second numbers of messages: the first of each counts, and these are let go of. */
  readonly doubled: readonly number[];
}

/** Pure. Rows as they were shared. */
export function sharedIn(rows: readonly EngineRow[]): Shared {
  const of = (kind: string) =>
    rows.filter((row) => row.kind === kind && row.body !== null).map(({ body }) => said(body!));
  const told = (of("told") as [number, string, number, number][][])
    .flat()
    .map(([seq, name, turn, flags]): SharedMessage => ({ seq, name, turn, flags }));
  const messages = new Map(told.map((each) => [each.seq, each]));
  for (const each of of("message") as (SharedMessage & { isGone?: true })[])
    if (each.isGone) messages.delete(each.seq);
    else messages.set(each.seq, each);
  const cuts = new Map(
    (of("cut") as Record<string, unknown>[]).map((cut) => [String(cut.name), cut]),
  );
  const [place] = of("place") as { conversation: number }[];
  const [family = []] = of("family") as string[][];
  const [order = []] = of("cuts") as string[][];
  const [ledger] = of("ledger") as { name: string; ledger: string }[];
  const inOrder = [...messages.values()].sort((one, other) => one.seq - other.seq);
  const firsts = new Map<string, number>();
  for (const { name, seq } of inOrder) if (!firsts.has(name)) firsts.set(name, seq);
  const isFirst = ({ name, seq }: SharedMessage) => firsts.get(name) === seq;
  return {
    conversation: place?.conversation ?? null,
    messages: new Map(inOrder.filter(isFirst).map((each) => [each.seq, each])),
    doubled: inOrder.filter((each) => !isFirst(each)).map(({ seq }) => seq),
    summaries: new Map(
      (of("summary") as Record<string, unknown>[]).map((each) => [Number(each.id), each]),
    ),
    cuts: order.flatMap((name) => {
      const cut = cuts.get(name);
      return cut === undefined ? [] : [cut];
    }),
    ledger:
      ledger === undefined
        ? null
        : { name: ledger.name, ledger: Buffer.from(ledger.ledger, "base64") },
    turns: of("turn") as string[],
    family,
  };
}

const said = (body: string): unknown => JSON.parse(body);

/** What is to be done so that a database holds what is shared. */
export type SharingPlan =
  /** Nothing: it holds all of it, and perhaps more. */
  | { readonly kind: "keep" }
  /** These messages come behind its own; what stands for messages is as it is shared. */
  | { readonly kind: "append"; readonly missing: readonly SharedMessage[] }
  /** The conversation is made anew. */
  | { readonly kind: "anew"; readonly missing: readonly SharedMessage[] };

/**
 * Pure. What is shared is right: it was stored by whoever had the session. A database that has
 * more lost the session, or its process ended, before that was shared; where it lacks nothing, it
 * goes on with it.
 */
export function planSharing(shared: Shared, own: Shared): SharingPlan {
  if (shared.conversation === null) return { kind: "keep" };
  const all = [...shared.messages.values()];
  if (own.conversation !== shared.conversation) return { kind: "anew", missing: all };
  const missing = all.filter((each) => !isSamePlace(each, own.messages.get(each.seq)));
  if (missing.length === 0 && holdsGraph(shared, own)) return { kind: "keep" };
  const last = [...own.messages.keys()].reduce((one, other) => Math.max(one, other), 0);
  const hasOthers = [...own.messages.keys()].some((seq) => !shared.messages.has(seq));
  const isBehind = missing.every(({ seq }) => seq > last);
  return hasOthers || !isBehind ? { kind: "anew", missing: all } : { kind: "append", missing };
}

const isSamePlace = (one: SharedMessage, other: SharedMessage | undefined) =>
  other !== undefined &&
  one.name === other.name &&
  one.turn === other.turn &&
  one.flags === other.flags;

function holdsGraph(shared: Shared, own: Shared): boolean {
  const cuts = new Map(own.cuts.map((cut) => [cut.name, cut]));
  const turns = new Set(own.turns);
  return (
    [...shared.summaries].every(([id, summary]) => isOrGrew(summary, own.summaries.get(id))) &&
    shared.cuts.every((cut) => isSame(cut, cuts.get(cut.name))) &&
    shared.turns.every((key) => turns.has(key))
  );
}

/** It may have become a part of another one, or a model may have been asked for its words. */
function isOrGrew(summary: Record<string, unknown>, own: Record<string, unknown> | undefined) {
  if (own === undefined) return false;
  const { words, model, asked, parent, ...rest } = summary;
  const isPart = parent === own.parent || parent === null;
  const isAsked = Number(own.asked) > Number(asked);
  return isPart && isSame({ ...rest, ...(!isAsked && { words, model, asked }) }, own);
}

const isSame = (one: Record<string, unknown>, other: Record<string, unknown> | undefined) =>
  other !== undefined && Object.entries(one).every(([column, value]) => other[column] === value);
