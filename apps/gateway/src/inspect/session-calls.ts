// Keeps the calls of a session known at the cost of what is new.
import type { WithheldEntry } from "@clew/engine-core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { foldMessages } from "../reports/expand.ts";
import {
  type PlacedReport,
  REPORTS_START,
  type ReportPlace,
  readReports,
  readReportsAt,
} from "../reports/read-reports.ts";
import { readPart } from "../reports/report-log.ts";
import { type BranchCursor, createBranchCursor } from "./branch-cursor.ts";
import type { PricesOf } from "./cost.ts";
import { planCoverage } from "./coverage.ts";
import type { EntryFate } from "./fates.ts";
import { type CallFold, createCallFold, type TokenReckoning } from "./fold-calls.ts";
import { branchOfCall, moveToCall, NO_BRANCH, sentInCall } from "./one-call.ts";
import { createOpenedCall, type OpenedCall } from "./opened-call.ts";
import { originOf } from "./origin.ts";
import { callId, engineOf, type PlacedCall, parseCallId, placedCalls } from "./placed-call.ts";
import { createEntryFinder, type SessionSource } from "./session-source.ts";
import type { CallRow } from "./shapes.ts";
import { createShownSummaries } from "./shown-summaries.ts";
import { createTreatments, type KnownTreatments, type Treatments } from "./treatments.ts";

/** A call on the way through all of them. */
export interface WalkedCall extends PlacedCall {
  row: CallRow;
  /** On the branch of the call. */
  find: (entryId: string) => TranscriptEntry | undefined;
  /** Undefined: it was not stored then. */
  fateOf: (entryId: string) => EntryFate | undefined;
}

export interface SessionCalls {
  /** The agent's folder of reports. */
  readonly folder: string;
  /** Reads what came since. False: entries or reports are not the ones that were read. */
  refresh(source: SessionSource): Promise<boolean>;
  /** Oldest first. */
  readonly rows: readonly CallRow[];
  /** Turns whose reports nobody can read, ascending. */
  readonly unreadable: readonly number[];
  /** Ids of all entries that say what this one says: it may have been stored again. */
  alike(entryId: string): Promise<readonly string[]>;
  /** Undefined: there is no such call. Those opened last are at hand. */
  open(id: string): Promise<OpenedCall | undefined>;
  /** The newest call that showed a summary; null = none did. */
  newestWith(summaryId: string): string | null;
  /**
   * Tells of each call in order, and waits for what it may be promised; the branch is the walker's
   * own and moves on with the next call.
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

/** `pricesOf`: of calls whose cost was not reckoned when they were made, and of waste. */
export function createSessionCalls(
  first: SessionSource,
  pricesOf: PricesOf,
  reckoning: TokenReckoning = "counted",
): SessionCalls {
  const { folder, sessionId } = first;
  const part = (hash: string) => readPart(folder, hash);
  const finder = createEntryFinder(first);
  const cursor = createBranchCursor(finder.find);
  const known: KnownTreatments = new Map();
  const treatments = createTreatments(part, cursor, known);
  const fold = createCallFold(cursor, pricesOf, reckoning);
  const places: ReportPlace[] = [];
  const calls = new Map<string, KnownCall>();
  const opened = new Map<string, Promise<OpenedCall | undefined>>();
  const rows: CallRow[] = [];
  const unreadable: number[] = [];
  /** What reports told of entries that were kept from the model, and in which call. */
  const withheld: (WithheldEntry & { at: number })[] = [];
  let source = first;
  let end = REPORTS_START;
  let full = 0;
  let running: Promise<unknown> = Promise.resolve();

  const shown = createShownSummaries(({ source }) => {
    if (source.kind === "summary") return source.summaryId;
    const place = source.kind === "entry" ? cursor.placeOf(source.entryId) : undefined;
    const entry = cursor.path[place ?? -1];
    return entry?.type === "compaction" ? entry.id : null;
  });

  const addCall = async (
    at: BranchCursor,
    looked: Treatments,
    to: CallFold,
    placed: PlacedCall,
  ): Promise<CallRow> => {
    const { kept, items } = placed.call.messages;
    const messages = () => to.sent.items.slice(0, kept).concat(items);
    const stayed = await moveToCall(finder, at, placed, messages);
    return to.add({ placed, kept: stayed, treat: await looked.of(placed, items, kept) });
  };

  const take = async ({ report, ...place }: PlacedReport) => {
    places.push(place);
    if (report.modelCalls.length === 0) fold.skip(report);
    for (const placed of placedCalls(place.turn, report)) {
      if (placed.call.messages.kept === 0) full = places.length - 1;
      const row = await addCall(cursor, treatments, fold, placed);
      shown.add(placed.call.messages.kept, placed.call.messages.items);
      for (const told of placed.call.withheld ?? []) withheld.push({ ...told, at: rows.length });
      rows.push(row);
      calls.set(row.id, { row, at: rows.length - 1, report: places.length - 1, full });
    }
  };

  const miss = (turn: number) => {
    unreadable.push(turn);
    fold.miss();
  };

  const withheldUntil = (last: number) =>
    new Map(
      withheld.flatMap(({ at, entryId, by, why }) => (at <= last ? [[entryId, { by, why }]] : [])),
    );

  /** The reports from the last full list before the call to its own. */
  const reportsOf = ({ report, full: from }: KnownCall) =>
    readReportsAt(folder, sessionId, places.slice(from, report + 1));

  const isGapped = ({ row }: KnownCall) => unreadable.some((turn) => turn < row.turn);

  const openAnew = async (wanted: KnownCall): Promise<OpenedCall | undefined> => {
    const placed = (await reportsOf(wanted)).flatMap(({ turn, report }) =>
      placedCalls(turn, report),
    );
    const at = placed.findIndex((each) => callId(each) === wanted.row.id);
    const call = placed[at];
    if (call !== undefined && wanted.row.lost !== null) return openLost(call, wanted.row);
    const messages = foldMessages(placed.slice(0, at + 1).map((each) => each.call));
    if (call === undefined || messages === null) return undefined;
    const branch = await branchOfCall(finder, cursor, call, () => messages);
    const looked = createTreatments(part, branch, known);
    const { sent, madeByEngine, summaries } = await sentInCall(looked, call, messages);
    const facts = {
      ...{ sent, madeByEngine, engine: engineOf(call) },
      covered: planCoverage(branch.path, summaries),
      withheld: withheldUntil(wanted.at),
      isGapped: isGapped(wanted),
    };
    return createOpenedCall({ ...call, ...branch, row: wanted.row, messages, facts });
  };

  return {
    ...{ folder, rows, unreadable },
    refresh(fresh) {
      const next = running.then(async () => {
        source = fresh;
        if (!finder.follow(source)) return false;
        const before = end;
        end = await readReports(folder, sessionId, before, take, miss);
        return end.bytes >= before.bytes;
      });
      running = next.catch(() => undefined);
      return next;
    },
    async alike(entryId) {
      const all = await source.allEntries();
      const own = all.find(({ id }) => id === entryId);
      const origin = own === undefined ? entryId : originOf(own);
      return all.flatMap((entry) => (originOf(entry) === origin ? [entry.id] : []));
    },
    newestWith: (summaryId) => rows[shown.newestWith(summaryId) ?? -1]?.id ?? null,
    async open(id) {
      const named = parseCallId(id);
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
      const own = createBranchCursor(finder.find);
      const looked = createTreatments(part, own, known);
      const folded = createCallFold(own, pricesOf, reckoning);
      const find = (id: string) => own.path[own.placeOf(id) ?? -1];
      const { fateOf } = folded;
      const onReport = async ({ turn, report }: PlacedReport) => {
        if (report.modelCalls.length === 0) folded.skip(report);
        for (const placed of placedCalls(turn, report)) {
          const row = await addCall(own, looked, folded, placed);
          await onCall({ ...placed, row, find, fateOf });
        }
      };
      await readReports(folder, sessionId, REPORTS_START, onReport, folded.miss);
    },
  };
}

/** Of whose messages nothing is told. */
const openLost = (call: PlacedCall, row: CallRow): OpenedCall =>
  createOpenedCall({
    ...{ ...call, ...NO_BRANCH, row, messages: [] },
    facts: {
      ...{ sent: new Map(), covered: new Map(), withheld: new Map() },
      ...{ engine: row.engine, madeByEngine: 0, isGapped: true },
    },
  });
