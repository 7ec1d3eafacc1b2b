// Keeps the calls of a session known at the cost of what is new.
import type { ReportItem, SideCallReport, TurnReport, WithheldEntry } from "@clew/engine-core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { foldMessages } from "../reports/expand.ts";
import {
  type PlacedReport,
  REPORTS_START,
  type ReportPlace,
  readReports,
  readReportsAt,
} from "../reports/read-reports.ts";
import { keptAfter } from "../reports/report-files.ts";
import type { FileStart } from "../reports/report-lines.ts";
import { readPart } from "../reports/report-log.ts";
import { originOf } from "../sessions/origin.ts";
import { createCallWalk, type WalkParts, withList } from "./call-walk.ts";
import type { PricesOf } from "./cost.ts";
import type { EntryFate } from "./fates.ts";
import type { TokenReckoning } from "./fold-calls.ts";
import type { CallsKeeper, FoldedCalls, FoldedReport, FoldedUntil } from "./kept-calls.ts";
import { type LeftEntry, planLeft } from "./left-entries.ts";
import { findMissing } from "./missing-turns.ts";
import { openCall, openLost } from "./open-call.ts";
import type { OpenedCall } from "./opened-call.ts";
import { callId, type PlacedCall, parseCallId, placedCalls } from "./placed-call.ts";
import { NONE_RUNNING, type RunningCall, type RunningCalls, tellRunning } from "./running-calls.ts";
import { createEntryFinder, type SessionSource, type TurnUnderWay } from "./session-source.ts";
import type { CallRow, MissingTurn } from "./shapes/calls.ts";
import { createShownSummaries } from "./shown-summaries.ts";

/** A call on the way through all of them. */
export interface WalkedCall extends PlacedCall {
  row: CallRow;
  /** On the branch of the call. */
  find: (entryId: string) => TranscriptEntry | undefined;
  /** Undefined: it was not stored then. */
  fateOf: (entryId: string) => EntryFate | undefined;
}

export interface SessionCalls {
  /** Reads what came since. False: entries or reports are not the ones that were read. */
  refresh(source: SessionSource): Promise<boolean>;
  /** A content that a report names by a hash; null = it is not stored any more. */
  part(hash: string): Promise<string | null>;
  /** Oldest first, those of the turn under way included. */
  readonly rows: readonly CallRow[];
  /** Side calls since the newest of them, which are in no row yet. */
  readonly aside: readonly SideCallReport[];
  /** Why turns since then have no reply. */
  readonly unanswered: readonly string[];
  /** Turns whose reports nobody can read, ascending. */
  readonly unreadable: readonly number[];
  /** Turns that have no report, but for the one under way. */
  missing(): Promise<readonly MissingTurn[]>;
  /** How many turns, from the first on, have no reports any more, as they took too much. */
  readonly letGo: number;
  /** Ids of all entries that say what this one says: it may have been stored again. */
  alike(entryId: string): Promise<readonly string[]>;
  /** What was said and is not on the branch any more. */
  left(): Promise<readonly LeftEntry[]>;
  /** Undefined: there is no such call. Those opened last are at hand. */
  open(id: string): Promise<OpenedCall | undefined>;
  /** The newest call that showed a summary; null = none did. */
  newestWith(summaryId: string): string | null;
  /**
   * Tells of each call in order, and waits for what it may be promised; the branch is the walker's
   * own and moves on with the next call. Those of the turn under way come last.
   */
  walk(onCall: (walked: WalkedCall) => unknown): Promise<void>;
}

interface KnownCall {
  row: CallRow;
  /** Counts calls from 0. */
  at: number;
  /** Place of its report among `places`, and of the one that holds the full list before it. */
  report: number;
  full: number;
}

/** Calls that are kept opened. */
const MOST_OPENED = 8;
/** It is written when it lacks so many calls, and one in so many of all. */
const [FEWEST_KEPT, KEPT_SHARE] = [200, 8];
/** Messages found again behind damaged reports, beyond which nothing is written. */
const MOST_BRIDGED = 200_000;

/**
 * `pricesOf`: of calls whose cost was not reckoned when they were made, and of waste. `keeper`:
 * calls that it has are not folded again; tokens are counted then.
 */
export function createSessionCalls(
  first: SessionSource,
  pricesOf: PricesOf,
  reckoning: TokenReckoning = "counted",
  keeper?: CallsKeeper,
): SessionCalls {
  const { folder, sessionId } = first;
  const part = async (hash: string) => underWay?.parts[hash] ?? readPart(folder, hash);
  const finder = createEntryFinder(first);
  /** All messages of calls of which it was found again what they are a difference to, by id. */
  const bridged = new Map<string, ReportItem[]>();
  const walkParts: WalkParts = {
    ...{ finder, part, treated: new Map(), pricesOf, reckoning, bridged },
    before: () => before,
  };
  const walk = createCallWalk(walkParts);
  const { cursor, fold } = walk;
  const places: ReportPlace[] = [];
  const calls = new Map<string, KnownCall>();
  const opened = new Map<string, Promise<OpenedCall | undefined>>();
  const rows: CallRow[] = [];
  const unreadable: number[] = [];
  /** Ordinals that no report has. */
  const gone: number[] = [];
  let missing: { of: readonly unknown[]; turns: Promise<readonly MissingTurn[]> } | undefined;
  /** What reports told of entries that were kept from the model, and in which call. */
  const withheld: (WithheldEntry & { at: number })[] = [];
  let source = first;
  let underWay: TurnUnderWay | undefined;
  let running: RunningCalls = NONE_RUNNING;
  /** The newest call that was reported, and what was reported since. */
  let last: PlacedCall | undefined;
  let since: TurnReport[] = [];
  let end = REPORTS_START;
  /** What came before the oldest report that is kept. */
  let before: FileStart = REPORTS_START;
  let full = 0;
  /** How far the calls can be kept, and how many of them are. */
  let until: (FoldedUntil & { reports: number; calls: number }) | undefined;
  let keptCalls = 0;
  /** So many calls of the next report are known. */
  let foldedOfNext = 0;
  let keeping: Promise<void> | undefined;
  let refreshing: Promise<unknown> = Promise.resolve();

  const shown = createShownSummaries(({ source }) => {
    if (source.kind === "summary") return source.summaryId;
    const place = source.kind === "entry" ? cursor.placeOf(source.entryId) : undefined;
    const entry = cursor.path[place ?? -1];
    return entry?.type === "compaction" ? entry.id : null;
  });

  /** Whose messages are told as a difference to nothing. */
  const isFull = (placed: PlacedCall) =>
    placed.call.messages.kept === 0 || bridged.has(callId(placed));

  /** Before a call that lists all its messages. */
  const foldedUntil = ({ turn, start, length }: ReportPlace, begun: number): typeof until => ({
    ...{ end: { bytes: start, turns: turn - 1 }, begun, nextEnd: start + length + 1, before },
    ...{ leafId: cursor.path.at(-1)?.id ?? null, entries: cursor.path.length },
    ...{ withheld: withheld.slice(), shown: shown.all, fold: fold.state },
    ...{ unreadable: unreadable.slice(), gone: gone.slice() },
    ...{ isBroken: walk.isGapped, bridged: [...bridged] },
    ...{ reports: places.length - (begun > 0 ? 0 : 1), calls: rows.length },
  });

  const restore = async (folded: FoldedCalls): Promise<void> => {
    const { end: to, leafId, entries, fold: state, ...known } = folded.until;
    const whole = folded.reports.length - (known.begun > 0 ? 1 : 0);
    await finder.ensure([leafId]);
    const isThere = cursor.moveTo(leafId) !== undefined && cursor.path.length === entries;
    if (!isThere) {
      cursor.moveTo(null);
      return;
    }
    for (const [report, { rows: own, full: from, ...place }] of folded.reports.entries()) {
      if (report < whole) places.push(place);
      full = from;
      for (const row of own) {
        calls.set(row.id, { row, at: rows.length, report, full });
        rows.push(row);
      }
    }
    withheld.push(...known.withheld);
    unreadable.push(...known.unreadable);
    gone.push(...known.gone);
    for (const [id, messages] of known.bridged) bridged.set(id, messages.slice());
    shown.restore(known.shown, rows.length);
    fold.restore(state);
    walk.standAt({ isGapped: known.isBroken });
    end = to;
    foldedOfNext = known.begun;
    keptCalls = rows.length;
  };

  const keep = async (to: NonNullable<typeof until>) => {
    const reports: FoldedReport[] = [];
    let at = 0;
    for (const { turn, start, length } of places.slice(0, to.reports)) {
      const from = at;
      while (at < to.calls && rows[at]!.turn === turn) at++;
      const own = rows.slice(from, at);
      const full = own[0] === undefined ? 0 : calls.get(own[0].id)!.full;
      reports.push({ turn, start, length, full, rows: own });
    }
    keptCalls = to.calls;
    const { reports: _count, calls: _calls, ...until } = to;
    await keeper!.write({ until, reports });
  };
  const keepSoon = () => {
    const fresh = (until?.calls ?? 0) - keptCalls;
    if (until === undefined || keeping !== undefined) return;
    const bridging = until.bridged.reduce((sum, [, messages]) => sum + messages.length, 0);
    if (bridging > MOST_BRIDGED) return;
    if (fresh < Math.max(FEWEST_KEPT, keptCalls / KEPT_SHARE)) return;
    keeping = keep(until).finally(() => {
      keeping = undefined;
    });
  };

  const take = async ({ report, ...place }: PlacedReport) => {
    places.push(place);
    // What stood before it were no turns.
    while ((unreadable.at(-1) ?? 0) >= place.turn) unreadable.pop();
    const done = foldedOfNext;
    foldedOfNext = 0;
    if (report.modelCalls.length === 0) {
      fold.skip(report);
      since.push(report);
    }
    for (const placed of placedCalls(place.turn, report)) {
      if (placed.number <= done) continue;
      const isAll = placed.call.messages.kept === 0 && rows.length > 0;
      if (keeper !== undefined && isAll) until = foldedUntil(place, placed.number - 1);
      last = placed;
      since = [];
      const row = await walk.add(placed);
      if (isFull(placed)) full = places.length - 1;
      const { kept, items } = placed.call.messages;
      const all = bridged.get(callId(placed));
      shown.add(all === undefined ? kept : 0, all ?? items);
      for (const told of placed.call.withheld ?? []) withheld.push({ ...told, at: rows.length });
      rows.push(row);
      calls.set(row.id, { row, at: rows.length - 1, report: places.length - 1, full });
    }
  };

  const miss = (turn: number, isGone: boolean) => {
    (isGone ? gone : unreadable).push(turn);
    walk.miss(isGone);
  };

  const missingNow = () => {
    const running = underWay && {
      ...{ promptEntryId: underWay.report.promptEntryId, turn: underWay.turn, calls: Infinity },
    };
    const told = rows.map(({ promptEntryId, turn }) => ({ promptEntryId, turn, calls: 1 }));
    const turns = running === undefined ? told : [...told, running];
    const letGo = before.turns;
    return findMissing(source, { turns, gone, unreadable, letGo, newest: end.turns });
  };

  const withheldUntil = (last: number) =>
    new Map(
      withheld.flatMap(({ at, entryId, by, why }) => (at <= last ? [[entryId, { by, why }]] : [])),
    );

  /** The reports from the last full list before the call to its own. */
  const reportsOf = ({ report, full: from }: KnownCall) =>
    readReportsAt(folder, sessionId, places.slice(from, report + 1));

  const runningNow = async (): Promise<RunningCalls> => {
    if (underWay === undefined) return NONE_RUNNING;
    const reported = { last, since, messages: fold.sent.items };
    return tellRunning(underWay, running, reported, () => createCallWalk(walkParts));
  };

  const openRunning = async ({ placed, row, messages }: RunningCall): Promise<OpenedCall> => {
    if (row.lost !== null) return openLost(placed, row);
    const told = running.calls.flatMap(({ placed: { call, number } }) =>
      number <= placed.number ? (call.withheld ?? []) : [],
    );
    const kept = new Map(told.map(({ entryId, by, why }) => [entryId, { by, why }]));
    const withheld = new Map([...withheldUntil(rows.length), ...kept]);
    const isGapped = unreadable.length + gone.length > 0;
    return openCall({ placed, row, messages, withheld, isGapped }, { ...walkParts, cursor });
  };

  const isGapped = ({ row }: KnownCall) =>
    [unreadable, gone].some((turns) => turns.some((turn) => turn < row.turn));

  const openAnew = async (wanted: KnownCall): Promise<OpenedCall | undefined> => {
    const placed = (await reportsOf(wanted)).flatMap(({ turn, report }) =>
      placedCalls(turn, report).map((each) => {
        const all = bridged.get(callId(each));
        return all === undefined ? each : withList(each, { kept: 0, items: all });
      }),
    );
    const at = placed.findIndex((each) => callId(each) === wanted.row.id);
    const call = placed[at];
    if (call !== undefined && wanted.row.lost !== null) return openLost(call, wanted.row);
    const messages = foldMessages(placed.slice(0, at + 1).map((each) => each.call));
    if (call === undefined || messages === null) return undefined;
    const { row, at: place } = wanted;
    const toOpen = { placed: call, row, messages, withheld: withheldUntil(place) };
    return openCall({ ...toOpen, isGapped: isGapped(wanted) }, { ...walkParts, cursor });
  };

  return {
    ...{ unreadable, part },
    missing() {
      const of = [source.branch, rows.length, end.turns, underWay?.turn];
      if (missing === undefined || of.some((each, at) => each !== missing?.of[at]))
        missing = { of, turns: missingNow() };
      return missing.turns;
    },
    get letGo() {
      return before.turns;
    },
    get rows() {
      return running.calls.length === 0 ? rows : [...rows, ...running.calls.map(({ row }) => row)];
    },
    get aside() {
      return running.calls.length === 0 ? fold.aside : [];
    },
    get unanswered() {
      return running.calls.length === 0 ? fold.unanswered : [];
    },
    refresh(fresh) {
      const next = refreshing.then(async () => {
        source = fresh;
        if (!finder.follow(source)) return false;
        const from = end;
        const start = await keptAfter(folder, sessionId);
        // What was read of reports that were let go since is not there any more.
        if (from.turns > 0 && start.turns !== before.turns) return false;
        before = start;
        await keeper?.note();
        const folded = from === REPORTS_START ? await keeper?.read() : undefined;
        if (folded !== undefined) await restore(folded);
        // Before its report is read: the turn may end between the two.
        underWay = source.underWay;
        end = await readReports(folder, sessionId, end, take, { onUnreadable: miss });
        if (underWay !== undefined && underWay.turn <= end.turns) underWay = undefined;
        running = await runningNow();
        keepSoon();
        return end.bytes >= from.bytes;
      });
      refreshing = next.catch(() => undefined);
      return next;
    },
    async alike(entryId) {
      const all = await source.allEntries();
      const own = all.find(({ id }) => id === entryId);
      const origin = own === undefined ? entryId : originOf(own);
      return all.flatMap((entry) => (originOf(entry) === origin ? [entry.id] : []));
    },
    left: async () => planLeft(await source.allEntries(), source.branch),
    newestWith: (summaryId) => rows[shown.newestWith(summaryId) ?? -1]?.id ?? null,
    async open(id) {
      const named = parseCallId(id);
      const now = running.calls.find(({ row }) => named !== undefined && row.id === callId(named));
      if (now !== undefined) {
        const found = running.opened.get(now.row.id) ?? openRunning(now);
        running.opened.set(now.row.id, found);
        return found;
      }
      const wanted = named && calls.get(callId(named));
      if (wanted === undefined) return undefined;
      const { row } = wanted;
      const found = opened.get(row.id) ?? openAnew(wanted);
      opened.delete(row.id);
      opened.set(row.id, found);
      const forget = () => opened.delete(row.id);
      // What could not be read now may be read the next time.
      found.then((call) => call ?? forget(), forget);
      for (const oldest of opened.keys()) if (opened.size > MOST_OPENED) opened.delete(oldest);
      return found;
    },
    async walk(onCall) {
      const own = createCallWalk(walkParts);
      const { path, placeOf } = own.cursor;
      const find = (id: string) => path[placeOf(id) ?? -1];
      const { fateOf } = own.fold;
      const now = underWay;
      const onReport = async ({ turn, report }: Pick<PlacedReport, "turn" | "report">) => {
        if (report.modelCalls.length === 0) own.fold.skip(report);
        for (const placed of placedCalls(turn, report)) {
          const row = await own.add(placed);
          await onCall({ ...placed, row, find, fateOf });
        }
      };
      const missed = (_turn: number, isGone: boolean) => own.miss(isGone);
      const { turns } = await readReports(folder, sessionId, REPORTS_START, onReport, {
        onUnreadable: missed,
      });
      if (now !== undefined && now.turn > turns) await onReport(now);
    },
  };
}
