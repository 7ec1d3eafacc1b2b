// Keeps the calls of a session known at the cost of what is new.
import type { ReportItem, WithheldEntry } from "@clew/engine-core";
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
import { planCoverage } from "./coverage.ts";
import type { CallFacts, EntryFate } from "./fates.ts";
import { type CallFold, type CostOf, createCallFold, type TokenReckoning } from "./fold-calls.ts";
import { type CallOnBranch, moveToCall, placeOnBranch } from "./one-call.ts";
import { callId, type PlacedCall, parseCallId, placedCalls } from "./placed-call.ts";
import { createEntryFinder, type SessionSource } from "./session-source.ts";
import type { CallRow } from "./shapes.ts";
import { createTreatments, type Treatments } from "./treatments.ts";

/** A call with everything it takes to explain it. */
export interface OpenedCall extends PlacedCall {
  row: CallRow;
  /** The branch it was made on, to its newest entry. */
  path: readonly TranscriptEntry[];
  /** All messages that were sent, in order. */
  messages: readonly ReportItem[];
  facts: CallFacts;
}

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
  /** Reads what came since. False: the reports are not the ones that were read. */
  refresh(source: SessionSource): Promise<boolean>;
  /** Oldest first. */
  readonly rows: readonly CallRow[];
  /** Undefined: there is no such call. */
  open(id: string): Promise<OpenedCall | undefined>;
  /**
   * Tells of each call in order, and waits for what it may be promised; the branch is the walker's
   * own and moves on with the next call.
   */
  walk(onCall: (walked: WalkedCall) => unknown): Promise<void>;
}

interface KnownCall {
  row: CallRow;
  /** Place of its report among `places`, and of the one that holds the full list before it. */
  report: number;
  full: number;
}

/** Costs of calls are `costOf`'s affair. */
export function createSessionCalls(
  first: SessionSource,
  costOf: CostOf,
  reckoning: TokenReckoning = "counted",
): SessionCalls {
  const { folder, sessionId } = first;
  const part = (hash: string) => readPart(folder, hash);
  const finder = createEntryFinder(first);
  const cursor = createBranchCursor(finder.find);
  const treatments = createTreatments(part, cursor);
  const fold = createCallFold(cursor, costOf, reckoning);
  const places: ReportPlace[] = [];
  const calls: KnownCall[] = [];
  const rows: CallRow[] = [];
  /** What reports told of entries that were kept from the model, and in which call. */
  const withheld: (WithheldEntry & { at: number })[] = [];
  let end = REPORTS_START;
  let full = 0;
  let running: Promise<unknown> = Promise.resolve();

  const moveTo = (at: BranchCursor, placed: PlacedCall, messages: readonly ReportItem[]) =>
    moveToCall(finder, at, placed, messages);

  const addCall = async (
    at: BranchCursor,
    looked: Treatments,
    to: CallFold,
    placed: PlacedCall,
  ): Promise<CallRow> => {
    const { kept, items } = placed.call.messages;
    const stayed = await moveTo(at, placed, to.sent.items.slice(0, kept).concat(items));
    return to.add({ placed, kept: stayed, treat: await looked.of(placed, items, kept) });
  };

  const take = async ({ report, ...place }: PlacedReport) => {
    places.push(place);
    if (report.modelCalls.length === 0) fold.skip(report);
    for (const placed of placedCalls(place.turn, report)) {
      if (placed.call.messages.kept === 0) full = places.length - 1;
      const row = await addCall(cursor, treatments, fold, placed);
      for (const told of placed.call.withheld ?? []) withheld.push({ ...told, at: rows.length });
      rows.push(row);
      calls.push({ row, report: places.length - 1, full });
    }
  };

  const factsAt = (
    { row }: KnownCall,
    { report }: PlacedCall,
    { path, sent }: CallOnBranch,
  ): CallFacts => {
    const until = rows.indexOf(row);
    return {
      ...{ sent: sent.sent, madeByEngine: sent.madeByEngine, engine: report.engine.ran },
      covered: planCoverage(path, sent.summaries),
      withheld: new Map(
        withheld.flatMap(({ at, entryId, by, why }) =>
          at <= until ? [[entryId, { by, why }]] : [],
        ),
      ),
    };
  };

  /** The reports from the last full list before the call to its own. */
  const reportsOf = ({ report, full: from }: KnownCall) =>
    readReportsAt(folder, sessionId, places.slice(from, report + 1));

  const openIn = async (known: KnownCall): Promise<OpenedCall | undefined> => {
    const placed = (await reportsOf(known)).flatMap(({ turn, report }) =>
      placedCalls(turn, report),
    );
    const at = placed.findIndex((each) => callId(each) === known.row.id);
    const call = placed[at];
    const messages = foldMessages(placed.slice(0, at + 1).map((each) => each.call));
    if (call === undefined || messages === null) return undefined;
    const onBranch = await placeOnBranch(finder, part, call, messages);
    const { path } = onBranch;
    return { ...call, row: known.row, path, messages, facts: factsAt(known, call, onBranch) };
  };

  return {
    folder,
    rows,
    refresh(source) {
      const next = running.then(async () => {
        finder.follow(source);
        const before = end;
        end = await readReports(folder, sessionId, before, take);
        return end.bytes >= before.bytes;
      });
      running = next.catch(() => undefined);
      return next;
    },
    async open(id) {
      const wanted = parseCallId(id);
      const known = wanted && calls.find(({ row }) => row.id === callId(wanted));
      return known && openIn(known);
    },
    async walk(onCall) {
      const own = createBranchCursor(finder.find);
      const looked = createTreatments(part, own);
      const folded = createCallFold(own, costOf, reckoning);
      const find = (id: string) => own.path[own.placeOf(id) ?? -1];
      const { fateOf } = folded;
      await readReports(folder, sessionId, REPORTS_START, async ({ turn, report }) => {
        if (report.modelCalls.length === 0) folded.skip(report);
        for (const placed of placedCalls(turn, report)) {
          const row = await addCall(own, looked, folded, placed);
          await onCall({ ...placed, row, find, fateOf });
        }
      });
    },
  };
}
