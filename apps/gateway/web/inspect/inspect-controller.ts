// Reads what the inspector shows, always for the place where the person is by now.
import type { Store } from "../store.ts";
import type { InspectApi } from "./inspect-api.ts";
import {
  callBefore,
  callShown,
  entryAt,
  type InspectState,
  initialInspect,
  missingCalls,
  NO_ENTRIES,
  PAGE_SIZE,
  stepFrom,
} from "./inspect-state.ts";
import { newestAs, type Place } from "./place.ts";
import { missingPages, type Span } from "./virtual.ts";

/** Calls read at once. */
const ROWS = 500;

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
  /** Opens the entry with a number. */
  showEntry(number: number): Promise<void>;
  /** Reads the entries of the transcript that are in sight. */
  need(span: Span): Promise<void>;
}

export interface InspectParts {
  api: InspectApi;
  store: Store<InspectState>;
}

export function createInspectController({ api, store }: InspectParts): InspectController {
  const parts = { api, store };
  const run = latestOnly(async () => {
    await readRows(parts);
    await Promise.all([readCall(parts), readUsage(parts)]);
  });
  const go = (change: Partial<Place>) => {
    const before = store.get();
    const place = { ...before.place, ...change };
    const isNarrowed = place.filter !== before.place.filter;
    store.set({ place, ...(isNarrowed && { entries: NO_ENTRIES }) });
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
      const to = stepFrom(state, compared ? callBefore(state) : callShown(state), by);
      if (to === null) return;
      await go(compared ? { from: to.call ?? state.rows.at(-1)?.id ?? null } : to);
    },
    async showEntry(number) {
      if (store.get().place.filter !== "all") await go({ filter: "all" });
      await readEntries(parts, { first: number - 1, end: number }).catch(tell(store));
      const entry = entryAt(store.get().entries, number - 1);
      if (entry === undefined) store.set({ problem: `There is no entry ${number} in this call.` });
      else await go({ opened: { kind: "entry", id: entry.entryId } });
    },
    need: (span) => readEntries(parts, span).catch(tell(store)),
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

async function readRows({ api, store }: InspectParts): Promise<void> {
  for (;;) {
    const { key, rows } = store.get();
    const more = await api.calls(key, rows.at(-1)?.id ?? null, ROWS);
    if (store.get().key !== key) continue;
    if (more.calls.length > 0) store.set({ rows: [...rows, ...more.calls] });
    if (more.next === null) break;
  }
  store.set({ isReading: false, problem: null });
}

/** Again when there are more calls. */
async function readUsage({ api, store }: InspectParts): Promise<void> {
  const { key, rows, usage, usageOf } = store.get();
  if (rows.length === 0 || (usage !== null && usageOf === rows.length)) return;
  const read = await api.usage(key);
  if (store.get().key === key) store.set({ usage: read, usageOf: rows.length });
}

/** The call shown and what it is compared with, unless they are there already. */
async function readCall({ api, store }: InspectParts): Promise<void> {
  const { key, view, diff } = store.get();
  const [id, from] = [callShown(store.get()), callBefore(store.get())];
  if (id === null) return;
  const [missing, notCompared] = missingCalls(store.get());
  if (missing !== undefined) return store.set({ problem: missing, view: null, diff: null });
  const isThere = view?.row.id === id;
  const isCompared = diff?.to.id === id && diff.from.id === from;
  const [nextView, nextDiff] = await Promise.all([
    isThere ? view : api.call(key, id),
    from === null || notCompared !== undefined ? null : isCompared ? diff : api.diff(key, from, id),
  ]);
  if (store.get().key !== key) return;
  store.set({
    ...{ view: nextView, diff: nextDiff, problem: notCompared ?? null },
    ...(!isThere && { entries: NO_ENTRIES }),
  });
  if (store.get().entries.pages.size === 0) await readFirstEntries({ api, store });
}

/** How many there are is told with some of them. */
async function readFirstEntries(parts: InspectParts): Promise<void> {
  const { view, place } = parts.store.get();
  const all = view?.row.fates.all ?? 0;
  const last = place.filter === "all" ? Math.max(0, all - 1) : 0;
  await readEntries(parts, { first: last, end: last + 1 });
}

async function readEntries({ api, store }: InspectParts, span: Span): Promise<void> {
  const { key, place, view, entries } = store.get();
  if (view === null) return;
  const call = view.row.id;
  const missing = missingPages(span, PAGE_SIZE, (page) => entries.pages.has(page));
  const read = await Promise.all(
    missing.map(async (page) => {
      const asked = { call, filter: place.filter, skip: page * PAGE_SIZE, limit: PAGE_SIZE };
      return [page, await api.entries(key, asked)] as const;
    }),
  );
  const now = store.get();
  // Of another call, or narrowed otherwise by now.
  if (now.key !== key || now.view !== view || now.place.filter !== place.filter) return;
  if (read.length === 0) return;
  store.set({
    entries: {
      total: read.at(-1)?.[1].matching ?? now.entries.total,
      pages: new Map([
        ...now.entries.pages,
        ...read.map(([page, { entries: rows }]) => [page, rows] as const),
      ]),
    },
  });
}
