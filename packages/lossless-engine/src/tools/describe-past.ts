// Shows what is in a stretch of the past, or was said on some days.
import { patiently } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { type Scope, sessionConversations } from "../store/recall.ts";
import type { Store } from "../store/store.ts";
import {
  coverageOf,
  leavesBetween,
  partsOfSummary,
  spanOfMessages,
  summaryById,
} from "../store/summaries.ts";
import type { StoredSummary } from "../store/summary-rows.ts";
import { unsummarisedBetween } from "../store/unsummarised.ts";
import { dayLinesOf, linesOf, type Stretch, summaryName } from "../summaries/lines.ts";
import { apartBefore, pastOf } from "../summaries/past.ts";
import { growAsked } from "./grow-asked.ts";
import { onOneLine } from "./quoted.ts";

/** Where in the past to look. */
export interface PastContext {
  readonly session: OwnedSession;
  readonly scope: Scope;
  readonly signal?: AbortSignal | undefined;
}

const MOST_LEAVES = 400;
const CHARS_PER_TOKEN = 3;
/** Of plain text, so that lines of so many tokens are no longer than their room. */
const MOST_CHARS_PER_TOKEN = 4;

/** An id of a summary, as a record has it. Undefined: it is none. */
export function summaryIdIn(id: string): number | undefined {
  const [, digits] = /^[\s[(<@]*sum_(\d{1,15})[\s\])>]*$/.exec(id) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** A summary as it is shown. */
export interface ShownSummary {
  readonly text: string;
  /** The messages that it stands for, where it is a leaf. Absent: it stands for summaries. */
  readonly range?: { readonly from: number; readonly to: number; readonly conversation: number };
}

/** Of the room, at most: the rest is for messages, or for parts. */
const FACTS_OF_LEAF = 1 / 8;
const FACTS_OF_PARTS = 1 / 2;

/**
 * In so many characters every part has its line, whatever there is to say of all
 * together. Undefined: there is no such summary here.
 */
export async function describeSummary(
  store: Store,
  id: number,
  { scope, signal, room }: Omit<PastContext, "session"> & { readonly room: number },
): Promise<ShownSummary | undefined> {
  const summary = await patiently(() => summaryById(store, scope, id), signal);
  if (summary === undefined) return undefined;
  const { depth, first, last, conversation } = summary;
  const share = depth === 0 ? FACTS_OF_LEAF : FACTS_OF_PARTS;
  const about = [aboutOf(summary), ...factLines(summary, share * room)].join("\n");
  if (depth === 0)
    return { text: `${about}\n\nIts messages:`, range: { from: first, to: last, conversation } };
  const parts = await patiently(() => partsOfSummary(store, id), signal);
  const opening = `${about}\n\nIt stands for these, oldest first:\n`;
  const lines = linesOf(parts, (room - opening.length) / MOST_CHARS_PER_TOKEN);
  return { text: `${opening}${onLines(lines)}` };
}

function aboutOf(summary: StoredSummary): string {
  const { id, depth, parent, facts, conversation } = summary;
  return [
    `${summaryName(id)}, a summary of ${facts.messages} messages (some ${facts.tokens} tokens)`,
    `depth ${depth}`,
    ...(parent === null ? [] : [`part of ${summaryName(parent)}`]),
    `conversation ${conversation}`,
  ].join(" · ");
}

function factLines(summary: StoredSummary, room: number): string[] {
  const { facts, words, model } = summary;
  const said = words === null ? [] : [`In the words of ${model}, which nobody checked: ${words}`];
  const days = dayLinesOf(facts, room / MOST_CHARS_PER_TOKEN);
  return [...said, ...days].map((line) => `> ${onOneLine(line)}`);
}

/** "2026-01-31", or two of them: when the first begins and the last ends, ms. Undefined: none. */
export function daysIn(id: string): { since: number; before: number } | undefined {
  const [, from, to = from] =
    /^(\d{4}-\d\d-\d\d)(?:\s*(?:\.\.|to|–|-)\s*(\d{4}-\d\d-\d\d))?$/.exec(id) ?? [];
  if (from === undefined || to === undefined) return undefined;
  const [since, last] = [Date.parse(from), Date.parse(to)].sort((a, b) => a - b);
  if (Number.isNaN(since!) || Number.isNaN(last!)) return undefined;
  return { since: since!, before: last! + DAY_MS };
}

const DAY_MS = 86_400_000;

/** What was said on these days, a line for each stretch, as far as there is room. */
export async function describeDays(
  store: Store,
  days: { since: number; before: number },
  { room, ...context }: PastContext & { room: number },
): Promise<string> {
  const { scope, signal } = context;
  const missing = await growAsked(store, context);
  const leaves = await patiently(
    () => leavesBetween(store, { scope, ...days, limit: MOST_LEAVES }),
    signal,
  );
  const apart = await patiently(
    () => unsummarisedBetween(store, { scope, ...days, limit: MOST_LEAVES }),
    signal,
  );
  const newest = await patiently(() => apart.flatMap((each) => apartBefore(store, each)), signal);
  const all = [...leaves, ...newest]
    .sort((one, other) => (one.facts.since ?? 0) - (other.facts.since ?? 0))
    .map((each) => ({ ...each, facts: withinDays(each, days) }));
  if (all.length === 0)
    return `Nothing of these days is stored here.${missing} Days are UTC; {"id": "past"} lists which there are.`;
  const text = onLines(linesOf(all, room / CHARS_PER_TOKEN));
  const count = all.length === 1 ? "One stretch" : `${all.length} stretches, oldest first`;
  return `${count}; days and times are UTC. lcm_describe shows one by its id or numbers.${missing}\n\n${text}`;
}

function withinDays(
  { facts }: Stretch,
  { since, before }: { since: number; before: number },
): Stretch["facts"] {
  const [from, to] = [since, before - 1].map(dayOf);
  const days = facts.days.filter((day) => (day.to ?? "") >= from! && (day.from ?? "~") <= to!);
  return { ...facts, days };
}

/** Everything, in as many lines as a record has of it, and where the rest of its session is. */
export async function describePast(
  store: Store,
  { room, ...context }: PastContext & { room: number },
): Promise<string> {
  const missing = await growAsked(store, context);
  const past = await pastOf(store, context);
  const earlier = await patiently(() => earlierOf(store, context.session), context.signal);
  if (past.length === 0) return `Nothing of this session is stored yet.${missing}${earlier}`;
  const text = onLines(linesOf(past, room / CHARS_PER_TOKEN));
  return `All that was said in this conversation, oldest first; days and times are UTC. lcm_describe shows a stretch by its id or numbers, and a day by its date.${missing}${earlier}\n\n${text}`;
}

/** Of these more are only counted. */
const MOST_EARLIER = 10;

/** What the session said before it was begun anew, newest first; nothing where it never was. */
function earlierOf(store: Store, session: OwnedSession): string {
  const current = coverageOf(store, session)?.conversation;
  const others = sessionConversations(store, session).filter((each) => each !== current);
  const spans = others
    .slice(0, MOST_EARLIER)
    .flatMap((conversation) => spanOfMessages(store, { conversation, first: 0, end: ALL }) ?? []);
  if (spans.length === 0) return "";
  const left = others.length - MOST_EARLIER;
  const more = left > 0 ? ` and ${left} more` : "";
  return ` Before it was begun anew the session said ${spans.map(spanName).join(", ")}${more}: numbers and days of those lead there, too.`;
}

function spanName({ first, last, facts: { since, until } }: Omit<Stretch, "id" | "words">): string {
  if (since === null || until === null) return `#${first}-#${last}`;
  const [from, to] = [dayOf(since), dayOf(until)];
  return `#${first}-#${last} (${from === to ? from : `${from} to ${to}`})`;
}

const ALL = Number.MAX_SAFE_INTEGER;
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

const onLines = (text: string) => text.split("\n").map(onOneLine).join("\n");
