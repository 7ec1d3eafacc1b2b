// Decides which stored messages go when something is to be forgotten.
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { textOf } from "@clew/plugin-sdk/transcript";
import { namesKept, wordsOf } from "../messages/placeholder.ts";
import { patiently } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { recordsIn } from "../store/cuts.ts";
import { expiredNamed, messagesIn } from "../store/expired.ts";
import { expiredIn, type Graves, gravesFor, gravesOf } from "../store/graves.ts";
import {
  callIds,
  derivedOfExpired,
  expiredWithin,
  messagesOfSession,
  messagesWithId,
  messageWithCopies,
  pairOf,
  summariesBehind,
} from "../store/pairs.ts";
import { messagesBetween, messagesBySeq } from "../store/recall.ts";
import { type StoredMessage, timeOf } from "../store/rows.ts";
import { circling } from "../store/seek.ts";
import type { Store } from "../store/store.ts";
import { worded } from "../store/summaries.ts";
import { othersTurn } from "../turns.ts";
import { isMatched, isMessageMatchedInSlices, type Matcher } from "./matcher.ts";
import { isQuoted } from "./quotations.ts";

/** What somebody asks to be forgotten; one of the four. */
export type ForgetRequest =
  /** A message by its number, as searches tell it. */
  | { readonly number: number }
  /** A message by its id, in whichever session. */
  | { readonly id: string }
  /** Every message in which this stands. */
  | { readonly text: Matcher }
  /** All that is kept of a session. */
  | { readonly session: OwnedSession };

/** A message that would go. */
export interface PlannedMessage {
  /** Its number. */
  readonly number: number;
  /** Its id; null = its host gave it none. */
  readonly id: string | null;
  /** Who said it. */
  readonly role: string;
  /** When it was said, ms since the epoch; null = not known. */
  readonly time: number | null;
  /** How it begins. */
  readonly excerpt: string;
  /**
   * "asked": it is what was asked for. "pair": a tool call goes with its results. "quoted": it is
   * no longer kept, and what was asked for stands in a text that was made of it or of others.
   * "elsewhere": it is no longer kept, and other files tell what it said. "summary": the host wrote
   * it later to stand for a message that goes, in words of its own.
   */
  readonly why: "asked" | "pair" | "quoted" | "elsewhere" | "summary";
}

/** What other files tell of what is to be forgotten. */
export interface Elsewhere {
  /** What they say, whole. */
  readonly messages: readonly AgentMessage[];
  /** Of messages in copies, see `copiesHolding`. */
  readonly graves: readonly Graves[];
}

/** What goes from a database, with what it does not say, or no more. */
export interface ElsewherePlan extends ForgetPlan {
  /** By which what other files tell is known when it is told. */
  readonly graves: readonly Graves[];
}

/** What would go. */
export interface ForgetPlan {
  /** In the order in which they came. */
  readonly messages: readonly PlannedMessage[];
  /** Sessions whose names would go, too. */
  readonly sessions: readonly OwnedSession[];
  /** Numbers of summaries of which a model wrote words that hold it: those would go. */
  readonly summaries: readonly number[];
  /** Numbers of records that quote it, wherever it was said: those would go. */
  readonly records: readonly number[];
  /** One sentence each: what cannot be forgotten, and why. Anything here, and nothing is. */
  readonly refused: readonly string[];
}

const EXCERPT_CHARS = 80;
const ROWS_AT_ONCE = 64;

/** Reads, and changes nothing. */
export async function planForget(store: Store, request: ForgetRequest): Promise<ForgetPlan> {
  const asked = await askedMessages(store, request);
  const chosen = new Map<number, PlannedMessage>();
  for (const each of asked) chosen.set(each.seq, planned(each, "asked"));
  if (!("session" in request))
    for (const each of asked)
      for (const pair of await patiently(() => pairOf(store, each)))
        if (!chosen.has(pair.seq)) chosen.set(pair.seq, planned(pair, "pair"));
  const quotedToo = "text" in request ? await quoted(store, request.text) : [];
  for (const each of quotedToo)
    if (!chosen.has(each.seq)) chosen.set(each.seq, planned(each, "quoted"));
  for (const each of await standingFor(store, [...asked, ...quotedToo]))
    if (!chosen.has(each.seq)) chosen.set(each.seq, planned(each, "summary"));
  const messages = [...chosen.values()].sort((a, b) => a.number - b.number);
  const refused =
    "text" in request
      ? asked
          .filter(({ message }) => isMatched(namesKept(message), request.text))
          .map(
            ({ seq }) =>
              `Message ${seq} cannot be forgotten: what was asked for stands in the name or id of a tool call, which keeps its place; ask for it by other words.`,
          )
      : [];
  const summaries =
    "text" in request
      ? (await patiently(() => worded(store))).filter(({ words }) => isMatched(words, request.text))
      : [];
  const records =
    "text" in request
      ? (await patiently(() => recordsIn(store))).filter(({ texts }) =>
          texts.some((each) => isQuoted(each, request.text)),
        )
      : [];
  return {
    ...{ messages, refused, summaries: summaries.map(({ id }) => id) },
    records: records.map(({ id }) => id),
    sessions: "session" in request ? [request.session] : [],
  };
}

/** Reads, and changes nothing. */
export const planElsewhere = (
  store: Store,
  plan: ForgetPlan,
  { messages, graves }: Elsewhere,
): Promise<ElsewherePlan> =>
  patiently(() =>
    store.read((sql) => {
      const known = [gravesFor(sql, messages), ...graves];
      const asked = messagesIn(
        sql,
        plan.messages.map(({ number }) => number),
      );
      const expired = new Set([
        ...expiredIn(sql, [...known, gravesOf(sql, asked)]),
        ...messages.flatMap((message) => expiredNamed(sql, message)),
      ]);
      for (const { seq } of asked) expired.delete(seq);
      const more = messagesIn(sql, [...expired]).map((each) => planned(each, "elsewhere"));
      const all = [...plan.messages, ...more].sort((a, b) => a.number - b.number);
      return { ...plan, messages: all, graves: known };
    }),
  );

function planned({ seq, message }: StoredMessage, why: PlannedMessage["why"]): PlannedMessage {
  const said = textOf(message).replace(/\s+/g, " ").trim();
  const calls = callIds(message).length;
  return {
    ...{ number: seq, id: messageId(message) ?? null, role: message.role },
    ...{ time: timeOf(message), why },
    excerpt: said === "" && calls > 0 ? `(${calls} tool calls)` : shortened(said),
  };
}

const shortened = (text: string) =>
  text.length <= EXCERPT_CHARS ? text : `${text.slice(0, EXCERPT_CHARS - 1).toWellFormed()}…`;

async function askedMessages(store: Store, request: ForgetRequest): Promise<StoredMessage[]> {
  if ("number" in request) return patiently(() => messageWithCopies(store, request.number));
  if ("id" in request) return patiently(() => messagesWithId(store, request.id));
  if ("session" in request) return patiently(() => messagesOfSession(store, request.session));
  return matching(store, request.text);
}

async function matching(store: Store, text: Matcher): Promise<StoredMessage[]> {
  const found: StoredMessage[] = [];
  for (let from = 1; ; ) {
    const slice = { scope: null, from, to: Number.MAX_SAFE_INTEGER, limit: ROWS_AT_ONCE };
    const read = await patiently(() => messagesBetween(store, slice));
    for (const each of read)
      if (each.isForgotten !== true && (await isMessageMatchedInSlices(each.message, text)))
        found.push(each);
    if (read.length < ROWS_AT_ONCE) break;
    if (read.at(-1)!.seq < from) throw circling();
    from = read.at(-1)!.seq + 1;
    await othersTurn();
  }
  return found;
}

/**
 * Messages that are no longer kept, and are quoted where the text still stands: which of them said
 * it nobody knows any more, so all go that may have.
 */
async function quoted(store: Store, text: Matcher): Promise<StoredMessage[]> {
  const found = new Map<number, StoredMessage>();
  for (const derived of await patiently(() => derivedOfExpired(store))) {
    if (!derived.texts.some((each) => isQuoted(each, text))) continue;
    for (const each of await patiently(() => expiredWithin(store, derived)))
      found.set(each.seq, each);
    await othersTurn();
  }
  return [...found.values()];
}

/** Summaries of the host behind any of them, in whichever conversation. */
async function standingFor(store: Store, gone: readonly StoredMessage[]): Promise<StoredMessage[]> {
  const earliest = new Map<number, StoredMessage>();
  for (const each of gone) {
    const known = earliest.get(each.conversation);
    if (known === undefined || each.seq < known.seq) earliest.set(each.conversation, each);
  }
  const found: StoredMessage[] = [];
  for (const each of earliest.values())
    found.push(...(await patiently(() => summariesBehind(store, each))));
  return found;
}

/** Texts by which other files are known to hold what is to be forgotten. */
export async function tracesOf(store: Store, numbers: readonly number[]): Promise<string[]> {
  const found = await patiently(() => messagesBySeq(store, [...numbers]));
  return found
    .filter(({ isForgotten }) => isForgotten !== true)
    .flatMap(({ message }) => wordsOf(message));
}
