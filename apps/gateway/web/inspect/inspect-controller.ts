// Reads what the inspector shows, always for the place where the person is by now.
import { describeMissing } from "../../src/inspect/describe-missing.ts";
import type { CallPage, CallRow } from "../../src/inspect/shapes/calls.ts";
import type { EntryRow } from "../../src/inspect/shapes/entries.ts";
import type { CallView } from "../../src/inspect/shapes/one-call.ts";
import type { Store } from "../store.ts";
import type { InspectApi } from "./inspect-api.ts";
import {
  callBefore,
  callShown,
  type InspectState,
  ITEMS_SIZE,
  indexOfCall,
  initialInspect,
  missingCalls,
  NOTHING_SHOWN,
  PAGE_SIZE,
  rowAt,
  type ShownEntries,
  stepCompared,
  stepFrom,
  withPages,
  withTurns,
} from "./inspect-state.ts";
import { isCallName, newestAs, type Place, turnNamed } from "./place.ts";
import { missingPages, type Span } from "./virtual.ts";

/** Calls read at once: first the newest, which are shown, then the others. */
const [NEWEST_ROWS, ROWS] = [500, 5000];
/** Nobody sees that something came so much later. */
const SHORT_MS = 100;
/** Of older rows in one answer: what takes a page little time to read. */
const OLDER_ROWS = 500;

export interface InspectController {
  /** Shows a place in a session, which may be another one. */
  show(key: string, place: Place): Promise<void>;
  /** Shows a session where the person is in it; its newest call if it was another one until now. */
  follow(key: string): Promise<void>;
  /** Reads the calls that came since. */
  refresh(): Promise<void>;
  /** Changes a part of the place. */
  go(change: Partial<Place>): Promise<void>;
  /** To the call so many further on; `compared`: of those compared with. */
  step(by: number, compared?: boolean): Promise<void>;
  /** Opens the entry with a number, or with this id where the call has none of that number. */
  showEntry(number: number, entryId?: string): Promise<void>;
  /** Reads the entries of the transcript that are in sight. */
  need(span: Span): Promise<void>;
  /** Reads what the call was sent, as far as it is in sight. */
  needItems(span: Span): Promise<void>;
}

export interface InspectParts {
  api: InspectApi;
  store: Store<InspectState>;
  /** Whether there is anything to ask for. */
  isStored(key: string): Promise<boolean>;
}

export function createInspectController(parts: InspectParts): InspectController {
  const { store } = parts;
  const run = latestOnly(async () => {
    await readRows(parts);
    await readCall(parts);
    void runUsage();
    void runRest();
  });
  const runUsage = latestOnly(() => readUsage(parts));
  /** What nobody waits for. */
  const runRest = latestOnly(async () => {
    await Promise.all([readProof(parts), readOlder(parts)]);
  });
  const go = (change: Partial<Place>) => {
    store.set({ place: { ...store.get().place, ...change } });
    return run();
  };
  return {
    async show(key, place) {
      if (key !== store.get().key) store.set(initialInspect(key));
      await go(place);
    },
    follow(key) {
      const { key: before, place } = store.get();
      if (key !== before) store.set({ ...initialInspect(key), place: newestAs(place) });
      return run();
    },
    refresh: run,
    go,
    async step(by, compared = false) {
      const state = store.get();
      if (compared) {
        const from = stepCompared(state, by);
        return from === null ? undefined : go({ from });
      }
      const to = stepFrom(state, callShown(state), by);
      if (to !== null) await go(to);
    },
    async showEntry(number, entryId) {
      const [missing] = missingCalls(store.get());
      // An address may name no call.
      if (missing !== undefined) await go({ call: null });
      if (store.get().place.filter !== "all") await go({ filter: "all" });
      await readEntries(parts, { first: number - 1, end: number }).catch(tell(store));
      const entry = rowAt(store.get().entries, number - 1);
      const id = entryId ?? entry?.entryId;
      if (id === undefined) store.set({ problem: `There is no entry ${number} in this call.` });
      else await go({ opened: { kind: "entry", id } });
    },
    need: (span) => readEntries(parts, span).catch(tell(store)),
    needItems: (span) => readItems(parts, span).catch(tell(store)),
  };

  /** One reading at a time; what is asked for meanwhile is read once after it. */
  function latestOnly(read: () => Promise<void>): () => Promise<void> {
    let running: Promise<void> | undefined;
    let isAskedAgain = false;
    return () => {
      isAskedAgain = true;
      running ??= (async () => {
        while (isAskedAgain) {
          isAskedAgain = false;
          await read().catch(tell(store));
        }
        running = undefined;
      })();
      return running;
    };
  }
}

const tell = (store: Store<InspectState>) => (error: unknown) =>
  store.set({ problem: error instanceof Error ? error.message : String(error), isReading: false });

/** Those that came since, or the newest. */
async function readRows(parts: InspectParts): Promise<void> {
  const { api, store } = parts;
  for (;;) {
    const { key, rows: known } = store.get();
    // What is told of a turn under way is told anew.
    const rows = known.filter(({ running }) => running === null);
    const last = rows.at(-1);
    if (last === undefined && !(await parts.isStored(key))) break;
    const more = await api.calls(
      key,
      last === undefined
        ? { before: "newest", limit: NEWEST_ROWS }
        : { after: last.id, limit: ROWS },
    );
    if (store.get().key !== key) continue;
    const { calls, total, sums, peaks, since, next, letGoTurns, unreadableTurns, missingTurns } =
      more;
    const older = last === undefined ? next : store.get().older;
    const isSame = calls.length === 0 && rows.length === known.length;
    store.set({
      ...{ total, sums, peaks, sideCalls: since.sideCalls, letGoTurns, older },
      ...(`${unreadableTurns}` !== `${store.get().unreadableTurns}` && { unreadableTurns }),
      ...(describeMissing(missingTurns).join() !==
        describeMissing(store.get().missingTurns).join() && { missingTurns }),
      ...(!isSame && { rows: [...rows, ...calls] }),
    });
    if (last === undefined || next === null) break;
  }
  // One that is named may be older.
  while (store.get().older !== null && namesUnread(store.get())) await readOlderPage(parts);
  const placed = withTurns(store.get());
  if (placed !== store.get().place) store.set({ place: placed });
  store.set({ isReading: false, problem: null });
}

const namesUnread = ({ rows, place }: InspectState): boolean =>
  [place.call, place.from].some((id) => {
    const turn = turnNamed(id);
    // Its first call may be before the oldest that is read.
    if (turn !== null) return rows[0] !== undefined && rows[0].turn >= turn;
    return id !== null && isCallName(id) && indexOfCall(rows, id) < 0;
  }) ||
  // What the oldest that is read is compared with.
  (place.from === null && place.call !== null && rows[0]?.id === place.call);

/** Beside all else: in small answers, of which as many are shown at once as are shown already. */
async function readOlder({ api, store }: InspectParts): Promise<void> {
  const { key } = store.get();
  for (;;) {
    const { older, rows } = store.get();
    const read: CallRow[][] = [];
    let [next, count] = [older, 0];
    while (next !== null && count < rows.length) {
      await idle();
      if (store.get().key !== key) return;
      const page: CallPage = await api.calls(key, { before: next, limit: OLDER_ROWS });
      read.unshift(page.calls);
      count += page.calls.length;
      next = page.next;
    }
    const now = store.get();
    if (now.key !== key || now.older === null) return;
    // They may have been read by somebody else meanwhile.
    if (now.older === older) store.set({ rows: [...read.flat(), ...now.rows], older: next });
  }
}

/** When the page has nothing else to do, or after half a second. */
const idle = () =>
  new Promise<void>((resolve) => {
    if (typeof requestIdleCallback === "function")
      requestIdleCallback(() => resolve(), { timeout: 500 });
    else setTimeout(resolve, 0);
  });

async function readOlderPage({ api, store }: InspectParts): Promise<void> {
  const { key, older } = store.get();
  if (older === null) return;
  const { calls, next } = await api.calls(key, { before: older, limit: ROWS });
  const now = store.get();
  // It may have been read by somebody else meanwhile.
  if (now.key === key && now.older === older)
    store.set({ rows: [...calls, ...now.rows], older: next });
}

/** Again when there are more calls, one was answered, or a compaction asked a model. */
async function readUsage({ api, store }: InspectParts): Promise<void> {
  const { key, total, rows, sideCalls, usage, usageOf } = store.get();
  const { id, running, stopReason } = rows.at(-1) ?? {};
  const now = `${total} ${id} ${running} ${stopReason} ${sideCalls}`;
  if (total === 0 || (usage !== null && usageOf === now)) return;
  const read = await api.usage(key);
  if (store.get().key === key) store.set({ usage: read, usageOf: now });
}

/** The call shown and what it is compared with, unless they are there already. */
async function readCall(parts: InspectParts): Promise<void> {
  const { store } = parts;
  if (callShown(store.get()) === null) return;
  const [missing] = missingCalls(store.get());
  if (missing !== undefined)
    return store.set({ problem: missing, view: null, diff: null, entries: NOTHING_SHOWN });
  await Promise.all([readFirstEntries(parts), readView(parts)]);
}

async function readView({ api, store }: InspectParts): Promise<void> {
  const { key, view, diff } = store.get();
  const [id, from] = [callShown(store.get())!, callBefore(store.get())];
  const [, notCompared] = missingCalls(store.get());
  const isThere = view !== null && isToldBy(view.row, store.get(), id);
  const isCompared =
    isThere && diff?.to.id === id && diff.from.id === from && diff.from.running === null;
  // Somebody may have gone on to another call meanwhile, whose reading comes next.
  const isWanted = () => store.get().key === key && callShown(store.get()) === id;
  const { rows } = store.get();
  const isLost = [id, from].some((each) => (rows[indexOfCall(rows, each)]?.lost ?? null) !== null);
  const canCompare = from !== null && notCompared === undefined && !isLost;
  const comparing = (async () =>
    !canCompare ? null : isCompared ? diff : api.diff(key, from, id))();
  // One that fails before it is waited for is told all the same.
  comparing.catch(() => {});
  const nextView = isThere ? view : await api.call(key, id, ITEMS_SIZE);
  // What takes long is not waited for with the rest; what does not is shown with it.
  await Promise.race([comparing, new Promise((resolve) => setTimeout(resolve, SHORT_MS))]);
  if (!isWanted()) return;
  const isCurrent = store.get().diff?.to.id === id && store.get().diff?.from.id === from;
  store.set({
    ...{ view: nextView, problem: notCompared ?? null },
    ...{ answered: { call: id, from: null }, ...(!isCurrent && { diff: null }) },
    ...(!isThere && nextView !== null && itemsOf(nextView)),
  });
  const nextDiff = await comparing;
  if (!isWanted() || callBefore(store.get()) !== from) return;
  store.set({ diff: nextDiff, answered: { call: id, from } });
}

function itemsOf({ parts, items, rebuilt }: CallView): Pick<InspectState, "items" | "proof"> {
  const total = parts.system + parts.tools + parts.messages;
  return {
    items: { total, size: ITEMS_SIZE, pages: new Map([[0, items]]) },
    proof: rebuilt,
  };
}

/** Whether what was read of a call still is all there is to tell: it may have been under way. */
function isToldBy(read: CallRow, { rows }: InspectState, id: string | null): boolean {
  const now = rows.findLast((row) => row.id === id);
  return read.id === id && now?.running === read.running && now.fates.all === read.fates.all;
}

/** It takes all that was sent, and comes when that is shown. */
async function readProof({ api, store }: InspectParts): Promise<void> {
  const { key, view, proof } = store.get();
  if (view === null || proof !== null) return;
  const read = await api.proof(key, view.row.id);
  if (store.get().view === view) store.set({ proof: read });
}

/** How many there are is told with some of them. */
async function readFirstEntries(parts: InspectParts): Promise<void> {
  const { key, place, rows, entries } = parts.store.get();
  const id = callShown(parts.store.get());
  const row = rows.findLast((each) => each.id === id);
  const { filter } = place;
  const { of } = entries;
  const isThere = of !== null && entries.filter === filter && isToldBy(of, parts.store.get(), id);
  if (row === undefined || isThere) return;
  const last = filter === "all" ? Math.max(0, row.fates.all - 1) : 0;
  const none: ShownEntries = {
    ...{ of: row, filter, total: 0, size: PAGE_SIZE },
    pages: new Map(),
  };
  const read = await pagesOf(parts, none, { first: last, end: last + 1 });
  const now = parts.store.get();
  if (now.key !== key || now.place.filter !== filter || callShown(now) !== id) return;
  parts.store.set({ entries: { ...none, ...withPages(none, read.total, read.pages) } });
}

async function readEntries(parts: InspectParts, span: Span): Promise<void> {
  const { key, entries } = parts.store.get();
  const read = await pagesOf(parts, entries, span);
  const now = parts.store.get();
  const { of, filter } = now.entries;
  // Of another call, or narrowed otherwise by now.
  if (now.key !== key || of !== entries.of || filter !== entries.filter) return;
  if (read.pages.length === 0) return;
  parts.store.set({
    entries: { of, filter, ...withPages<EntryRow>(now.entries, read.total, read.pages) },
  });
}

/** The pages that a span of entries needs and that are not there. */
async function pagesOf({ api, store }: InspectParts, entries: ShownEntries, span: Span) {
  const { key } = store.get();
  const { of, filter, pages } = entries;
  const missing = of === null ? [] : missingPages(span, PAGE_SIZE, (page) => pages.has(page));
  const read = await Promise.all(
    missing.map(async (page) => {
      const asked = { call: of!.id, filter, skip: page * PAGE_SIZE, limit: PAGE_SIZE };
      return [page, await api.entries(key, asked)] as const;
    }),
  );
  return {
    total: read.at(-1)?.[1].matching ?? entries.total,
    pages: read.map(([page, { entries: rows }]) => [page, rows] as const),
  };
}

async function readItems({ api, store }: InspectParts, span: Span): Promise<void> {
  const { key, view, items } = store.get();
  if (view === null) return;
  const missing = missingPages(span, ITEMS_SIZE, (page) => items.pages.has(page));
  for (const page of missing) {
    const asked = { skip: page * ITEMS_SIZE, limit: ITEMS_SIZE };
    const read = await api.items(key, view.row.id, asked);
    if (store.get().view !== view || read === null) return;
    store.set({ items: withPages(store.get().items, read.total, [[page, read.items]]) });
  }
}
