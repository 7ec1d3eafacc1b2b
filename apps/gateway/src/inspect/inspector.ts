// Answers what can be asked of the model calls of one session.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { createSlices } from "@clew/plugin-sdk/host";
import { messageText } from "../reports/message-text.ts";
import { originOf } from "../sessions/origin.ts";
import { contentHash } from "../text/content-hash.ts";
import { costOfSideCalls, NO_PRICES, type PricesOf } from "./cost.ts";
import { coveredBy, describeSummaries, explainCall } from "./describe-call.ts";
import { describeItems, itemsOf, type Part, type PlacedItem, summaryIn } from "./describe-items.ts";
import { factsHeld } from "./facts-held.ts";
import { findText, type TextAsked } from "./find-text.ts";
import { type ItemContent, readContent } from "./item-contents.ts";
import { createCallsKeeper } from "./kept-calls.ts";
import { WENT_ON } from "./left-entries.ts";
import { whySummaryLeft } from "./left-summary.ts";
import { describeLetGo, isLetGo } from "./let-go.ts";
import { FATE_NAMES, findEntry, listEntries } from "./list-entries.ts";
import type { OpenedCall } from "./opened-call.ts";
import { planPeaks } from "./peaks.ts";
import { planDiff } from "./plan-diff.ts";
import { rebuildRequest } from "./rebuild.ts";
import { sentTokens } from "./sent-tokens.ts";
import { createSessionCalls, type SessionCalls } from "./session-calls.ts";
import type { SessionSource } from "./session-source.ts";
import type { CallPage, CallRow } from "./shapes/calls.ts";
import type { EntryPage, EntryText, EntryTrace } from "./shapes/entries.ts";
import type { FoundText } from "./shapes/found-text.ts";
import type {
  CallDiff,
  CallView,
  ItemPage,
  ItemText,
  Proof,
  RebuiltRequest,
  SummaryFacts,
  SummaryRow,
} from "./shapes/one-call.ts";
import { messageOf } from "./stored-message.ts";
import { traceEntry } from "./trace-entry.ts";

export interface EntriesAsked {
  /** Absent: the newest call. */
  call?: string | undefined;
  /** A fate or a mark by name, or the id of a summary. Absent: any. */
  fate?: string | undefined;
  /** Entries behind this number. Absent: from the first on. */
  after?: number | undefined;
  /** So many of those that have the fate are left out. Absent: none. */
  skip?: number | undefined;
  limit: number;
}

export interface CallsAsked {
  /** The calls behind this one. Absent: from the first on. */
  after?: string | undefined;
  /** The calls before this one, or at the end of all ("newest"); `after` says nothing then. */
  before?: string | undefined;
  limit: number;
}

export interface ItemsAsked {
  skip: number;
  limit: number;
}

/** Of one session; each answer is as its files are now, null = there is no such call. */
export interface Inspector {
  calls(asked: CallsAsked): Promise<CallPage | null>;
  call(id: string, first?: number): Promise<CallView | null>;
  items(id: string, asked: ItemsAsked): Promise<ItemPage | null>;
  /** Whether its request can be made again to the byte. */
  proof(id: string): Promise<Proof | null>;
  /** That its turn was let go with others; null = it was not. */
  whyGone(id: string): Promise<string | null>;
  /** Whether there is such a call. */
  has(id: string): Promise<boolean>;
  item(id: string, part: Part, index: number): Promise<ItemText | null>;
  request(id: string): Promise<RebuiltRequest | null>;
  diff(from: string, to: string): Promise<CallDiff | null>;
  entries(asked: EntriesAsked): Promise<EntryPage | null>;
  /** In full, with what became of it in a call; `call` undefined = in the newest one. */
  entry(entryId: string, call: string | undefined): Promise<EntryText | null>;
  /** As it stood in the newest call that showed it; null = none did. */
  summary(summaryId: string): Promise<SummaryRow | null>;
  /** What became of an entry from call to call; by its id, or its number in the newest call. */
  trace(name: string): Promise<EntryTrace | null>;
  /** Where a text stands, in which calls it could be read, and what took it. */
  find(asked: TextAsked): Promise<FoundText>;
}

type SummaryText = Pick<SummaryRow, "summaryId" | "by" | "text">;

/** Summaries whose facts are kept. */
const MOST_HELD = 256;

export function createInspector(
  read: () => Promise<SessionSource>,
  pricesOf: PricesOf = NO_PRICES,
): Inspector {
  let known: { sessionId: string; calls: SessionCalls } | undefined;
  let running: Promise<unknown> = Promise.resolve();

  /** A session that moved to another transcript, or was rewritten, is read anew. */
  const readNow = async () => {
    const source = await read();
    if (known?.sessionId === source.sessionId && (await known.calls.refresh(source)))
      return known.calls;
    const { file } = source;
    const keeper =
      file === undefined ? undefined : createCallsKeeper({ ...source, file, pricesOf });
    const calls = createSessionCalls(source, pricesOf, "counted", keeper);
    await calls.refresh(source);
    known = { sessionId: source.sessionId, calls };
    return calls;
  };
  /** One after the other: questions that come together read what is new once. */
  const refresh = () => {
    const next = running.then(readNow);
    running = next.catch(() => undefined);
    return next;
  };
  const open = async (id: string | undefined) => {
    const calls = await refresh();
    const opened = await calls.open(id ?? calls.rows.at(-1)?.id ?? "");
    return opened && { opened, part: calls.part, left: calls.left };
  };
  /** What a summary holds never changes; those that were asked for last. */
  const held = new Map<string, Promise<SummaryFacts>>();
  const factsOf = (opened: OpenedCall, { summaryId, by, text }: SummaryText) => {
    const covered = coveredBy(opened, summaryId, by === "compaction");
    const key = `${summaryId} ${covered.length} ${covered.at(-1)?.id} ${contentHash(text)}`;
    const facts =
      held.get(key) ??
      factsHeld(
        covered.flatMap((entry) => messageOf(entry) ?? []),
        text,
      );
    held.delete(key);
    held.set(key, facts);
    for (const oldest of held.keys()) if (held.size > MOST_HELD) held.delete(oldest);
    return facts;
  };
  /** `isCounted`: whoever looks through calls does not wait for it. */
  const withFacts = async (
    opened: OpenedCall,
    rows: readonly Omit<SummaryRow, "facts">[],
    isCounted: boolean,
  ) => {
    const told: SummaryRow[] = [];
    for (const row of rows)
      told.push({
        ...row,
        facts: !isCounted || row.covers === null ? null : await factsOf(opened, row),
      });
    return told;
  };
  return {
    async calls(asked) {
      const session = await refresh();
      const { rows, aside, unanswered, unreadable, letGo } = session;
      const page = pageOf(rows, asked);
      const since = {
        ...{ sideCalls: aside.length, cost: costOfSideCalls(aside) },
        unanswered: unanswered.slice(),
      };
      const total = rows.length;
      const sums = {
        calls: total,
        turns: new Set(rows.map(({ turn }) => turn)).size,
        sent: rows.reduce((sum, row) => sum + sentTokens(row), 0),
      };
      const unreadableTurns = unreadable.slice();
      const missingTurns = [...(await session.missing())];
      const untold = { unreadableTurns, missingTurns, letGoTurns: letGo };
      return page && { ...page, total, sums, peaks: planPeaks(rows), since, ...untold };
    },
    async whyGone(id) {
      const { letGo } = await refresh();
      return isLetGo(id, letGo) ? describeLetGo(letGo) : null;
    },
    async has(id) {
      return (await open(id)) !== undefined;
    },
    async call(id, first) {
      const found = await open(id);
      if (found === undefined) return null;
      const { opened, part: partOf } = found;
      const all = itemsOf(opened);
      const isWhole = first === undefined || first >= all.length;
      const isRead = ({ item }: PlacedItem, place: number) =>
        isWhole || place < first || summaryIn(item.source, opened) !== null;
      const contents = await contentsOf(partOf, opened, all.filter(isRead));
      const textOf = (item: PlacedItem) => contents(item).text;
      const { call, messages } = opened;
      return {
        row: opened.row,
        why: explainCall(opened),
        items: describeItems(opened, textOf, { end: first }),
        parts: {
          system: call.system.length,
          tools: call.tools.length,
          messages: messages.length,
        },
        summaries: await withFacts(opened, describeSummaries(opened, textOf), first === undefined),
        rebuilt: isWhole ? proofOf(rebuildRequest(opened, contents)) : null,
      };
    },
    async items(id, { skip, limit }) {
      const found = await open(id);
      if (found === undefined) return null;
      const { opened, part: partOf } = found;
      const all = itemsOf(opened);
      const span = { first: skip, end: skip + limit };
      const contents = await contentsOf(partOf, opened, all.slice(span.first, span.end));
      const items = describeItems(opened, (item) => contents(item).text, span);
      return { items, total: all.length };
    },
    async proof(id) {
      const found = await open(id);
      if (found === undefined) return null;
      const { opened, part: partOf } = found;
      return proofOf(rebuildRequest(opened, await contentsOf(partOf, opened, itemsOf(opened))));
    },
    async item(id, part, index) {
      const found = await open(id);
      const placed =
        found && itemsOf(found.opened).find((each) => each.part === part && each.index === index);
      if (found === undefined || placed === undefined) return null;
      const { opened, part: partOf } = found;
      const contents = await contentsOf(partOf, opened, [placed]);
      const first = itemsOf(opened).findIndex((each) => each.part === part && each.index === index);
      const textOf = (each: PlacedItem) => contents(each).text;
      const item = describeItems(opened, textOf, { first, end: first + 1 })[0]!;
      const { text } = contents(placed);
      const stored = messageOf(opened.find(item.entryId ?? ""));
      const before = stored === undefined ? text : messageText(stored);
      return { item, text, before: before === text ? null : before };
    },
    async request(id) {
      const found = await open(id);
      return found === undefined
        ? null
        : rebuildRequest(
            found.opened,
            await contentsOf(found.part, found.opened, itemsOf(found.opened)),
          );
    },
    async diff(fromId, toId) {
      const [from, to] = [await open(fromId), await open(toId)];
      if (from === undefined || to === undefined) return null;
      for (const { opened } of [from, to]) {
        const { id, lost } = opened.row;
        if (lost !== null)
          throw new ContextEngineError("REQUEST_INVALID", `Call ${id} cannot be compared. ${lost}`);
      }
      const same = sameItems(from.opened, to.opened);
      const { fateOf } = to.opened;
      const before = await compared(from, same);
      // All that was ever said is read only where something of it has left.
      const hasLeft = before.items.some(({ entryId }) => entryId !== null && !fateOf(entryId));
      const left = new Map(
        hasLeft ? (await from.left()).map(({ entry, why }) => [entry.id, why]) : [],
      );
      return planDiff(before, await compared(to, same), {
        fateOf,
        whyLeft: (entryId) => left.get(entryId) ?? WENT_ON,
        whySummaryLeft: (summaryId) => whySummaryLeft(summaryId, from.opened, to.opened),
      });
    },
    async entry(entryId, call) {
      const found = await open(call);
      if (found === undefined) return null;
      const entry = findEntry(found.opened, entryId);
      return entry === null ? null : { call: found.opened.row.id, ...entry };
    },
    async entries({ call, fate, after, skip, limit }) {
      const found = await open(call);
      if (found === undefined) return null;
      const { opened } = found;
      if (fate !== undefined && !FATE_NAMES.includes(fate) && opened.numbersWith(fate).length === 0)
        throw new ContextEngineError(
          "REQUEST_INVALID",
          `There is no fate "${fate}"; name one of ${FATE_NAMES.join(", ")}, or the id of a summary that stands in the call.`,
        );
      const listed = listEntries(opened, {
        limit,
        ...(fate !== undefined && { fate }),
        ...(after !== undefined && { after }),
        ...(skip !== undefined && { skip }),
      });
      return { call: opened.row.id, fates: opened.row.fates, ...listed };
    },
    async summary(summaryId) {
      const calls = await refresh();
      const opened = await calls.open(calls.newestWith(summaryId) ?? "");
      if (opened === undefined) return null;
      const isOfIt = ({ item }: PlacedItem) => summaryIn(item.source, opened) === summaryId;
      const contents = await contentsOf(calls.part, opened, itemsOf(opened).filter(isOfIt));
      const rows = describeSummaries(opened, (item) => contents(item).text);
      const [row] = await withFacts(
        opened,
        rows.filter((each) => each.summaryId === summaryId),
        true,
      );
      return row ?? null;
    },
    trace: async (name) => traceEntry(await refresh(), name),
    find: async (asked) => findText(await refresh(), asked),
  };
}

type PartOf = SessionCalls["part"];

const proofOf = ({ isSame, why }: RebuiltRequest): Proof => ({ isSame, why });

/** Null: the call that it goes by is not among them. */
function pageOf(
  rows: readonly CallRow[],
  { after, before, limit }: CallsAsked,
): Pick<CallPage, "calls" | "next"> | null {
  const placeOf = (id: string) => rows.findLastIndex((row) => row.id === id);
  if (before !== undefined) {
    const end = before === "newest" ? rows.length : placeOf(before);
    if (end < 0) return null;
    const from = Math.max(0, end - limit);
    return { calls: rows.slice(from, end), next: from === 0 ? null : rows[from]!.id };
  }
  const from = after === undefined ? 0 : placeOf(after) + 1;
  if (after !== undefined && from === 0) return null;
  const calls = rows.slice(from, from + limit);
  const isLast = from + calls.length >= rows.length;
  return { calls, next: isLast ? null : calls.at(-1)!.id };
}

/** How many items both begin with. */
function sameItems(from: OpenedCall, to: OpenedCall): number {
  const [left, right] = [itemsOf(from), itemsOf(to)];
  let same = 0;
  while (left[same] !== undefined && left[same]?.item.hash === right[same]?.item.hash) same++;
  return same;
}

/** Texts are read of what is not `same`. */
async function compared({ opened, part }: { opened: OpenedCall; part: PartOf }, same: number) {
  const contents = await contentsOf(part, opened, itemsOf(opened).slice(same));
  return {
    row: opened.row,
    items: describeItems(opened, (item) => contents(item).text),
    originOf: (entryId: string) => {
      const entry = opened.find(entryId);
      return entry === undefined ? entryId : originOf(entry);
    },
  };
}

/** Contents of some items of a call; others have their turn meanwhile. */
async function contentsOf(
  partOf: PartOf,
  opened: OpenedCall,
  items: readonly PlacedItem[],
): Promise<(item: PlacedItem) => ItemContent> {
  const found = new Map<string, ItemContent>();
  const key = ({ part, index }: PlacedItem) => `${part} ${index}`;
  const slices = createSlices();
  for (const placed of items) {
    if (slices.isOver()) await slices.next();
    const { source } = placed.item;
    const entry = source.kind === "entry" ? opened.find(source.entryId) : undefined;
    found.set(key(placed), await readContent(partOf, placed, entry));
  }
  return (item) => found.get(key(item)) ?? NOT_READ;
}

const NOT_READ: ItemContent = { message: null, text: "", lost: null };
