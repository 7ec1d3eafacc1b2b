// Answers what can be asked of the model calls of one session.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { messageText } from "../reports/message-text.ts";
import { NO_PRICES, type PricesOf } from "./cost.ts";
import { describeSummaries, explainCall } from "./describe-call.ts";
import { describeItems, itemsOf, type Part, type PlacedItem } from "./describe-items.ts";
import { findText } from "./find-text.ts";
import { type ItemContent, readContent } from "./item-contents.ts";
import { FATE_NAMES, findEntry, listEntries } from "./list-entries.ts";
import type { OpenedCall } from "./opened-call.ts";
import { originOf } from "./origin.ts";
import { planDiff } from "./plan-diff.ts";
import { rebuildRequest } from "./rebuild.ts";
import { createSessionCalls, type SessionCalls } from "./session-calls.ts";
import type { SessionSource } from "./session-source.ts";
import type {
  CallDiff,
  CallPage,
  CallView,
  EntryPage,
  EntryText,
  EntryTrace,
  FoundText,
  ItemText,
  RebuiltRequest,
  SummaryRow,
} from "./shapes.ts";
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

/** Of one session; each answer is as its files are now, null = there is no such call. */
export interface Inspector {
  calls(asked: { after?: string | undefined; limit: number }): Promise<CallPage | null>;
  call(id: string): Promise<CallView | null>;
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
  find(text: string): Promise<FoundText>;
}

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
    const calls = createSessionCalls(source, pricesOf);
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
    return opened && { opened, folder: calls.folder };
  };
  return {
    async calls({ after, limit }) {
      const { rows, unreadable } = await refresh();
      const from = after === undefined ? 0 : rows.findIndex(({ id }) => id === after) + 1;
      if (after !== undefined && from === 0) return null;
      const page = rows.slice(from, from + limit);
      const isLast = from + page.length >= rows.length;
      return {
        ...{ calls: page, total: rows.length, next: isLast ? null : page.at(-1)!.id },
        unreadableTurns: unreadable.slice(),
      };
    },
    async has(id) {
      return (await open(id)) !== undefined;
    },
    async call(id) {
      const found = await open(id);
      if (found === undefined) return null;
      const { opened, folder } = found;
      const contents = await contentsOf(folder, opened);
      const textOf = (item: PlacedItem) => contents(item).text;
      const { isSame, why } = rebuildRequest(opened, contents);
      return {
        row: opened.row,
        why: explainCall(opened),
        items: describeItems(opened, textOf),
        summaries: describeSummaries(opened, textOf),
        rebuilt: { isSame, why },
      };
    },
    async item(id, part, index) {
      const found = await open(id);
      const placed =
        found && itemsOf(found.opened).find((each) => each.part === part && each.index === index);
      if (found === undefined || placed === undefined) return null;
      const { opened, folder } = found;
      const contents = await contentsOf(folder, opened, placed);
      const item = describeItems(opened, (each) => contents(each).text).find(
        (each) => each.part === part && each.index === index,
      )!;
      const { text } = contents(placed);
      const stored = messageOf(opened.find(item.entryId ?? ""));
      const before = stored === undefined ? text : messageText(stored);
      return { item, text, before: before === text ? null : before };
    },
    async request(id) {
      const found = await open(id);
      return found === undefined
        ? null
        : rebuildRequest(found.opened, await contentsOf(found.folder, found.opened));
    },
    async diff(fromId, toId) {
      const [from, to] = [await open(fromId), await open(toId)];
      if (from === undefined || to === undefined) return null;
      for (const { opened } of [from, to]) {
        const { id, lost } = opened.row;
        if (lost !== null)
          throw new ContextEngineError("REQUEST_INVALID", `Call ${id} cannot be compared. ${lost}`);
      }
      return planDiff(await compared(from), await compared(to), to.opened.fateOf);
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
      const contents = await contentsOf(calls.folder, opened);
      const rows = describeSummaries(opened, (item) => contents(item).text);
      return rows.find((row) => row.summaryId === summaryId) ?? null;
    },
    trace: async (name) => traceEntry(await refresh(), name),
    find: async (text) => findText(await refresh(), text),
  };
}

async function compared({ opened, folder }: { opened: OpenedCall; folder: string }) {
  const contents = await contentsOf(folder, opened);
  return {
    row: opened.row,
    items: describeItems(opened, (item) => contents(item).text),
    originOf: (entryId: string) => {
      const entry = opened.find(entryId);
      return entry === undefined ? entryId : originOf(entry);
    },
  };
}

/** Contents of all items of a call, or of one of them. */
async function contentsOf(
  folder: string,
  opened: OpenedCall,
  only?: PlacedItem,
): Promise<(item: PlacedItem) => ItemContent> {
  const found = new Map<string, ItemContent>();
  const key = ({ part, index }: PlacedItem) => `${part} ${index}`;
  for (const placed of only === undefined ? itemsOf(opened) : [only]) {
    const { source } = placed.item;
    const entry = source.kind === "entry" ? opened.find(source.entryId) : undefined;
    found.set(key(placed), await readContent(folder, placed, entry));
  }
  return (item) => found.get(key(item)) ?? NOT_READ;
}

const NOT_READ: ItemContent = { message: null, text: "", lost: null };
