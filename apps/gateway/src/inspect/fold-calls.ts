// Folds the reports of a session into one row per model call.
import type {
  CompactionReport,
  ModelCallReport,
  ReportItem,
  SideCallReport,
  TurnReport,
} from "@clew/engine-core";
import { createRequestProof } from "../reports/request-proof.ts";
import { isMember } from "./boundaries.ts";
import type { BranchCursor } from "./branch-cursor.ts";
import { onScaleOf, tokensOfEntry } from "./call-scale.ts";
import { costOfPlaced, type PricesOf, wasteOfPlaced } from "./cost.ts";
import { planCoverage } from "./coverage.ts";
import { createFateCounter } from "./fate-counter.ts";
import { type CallFacts, type EntryFate, fateOf, noFates, type Withheld } from "./fates.ts";
import {
  type Between,
  describeBetween,
  describeCut,
  describeThreads,
  planMarks,
} from "./happened.ts";
import { describeLetGo } from "./let-go.ts";
import { callId, engineOf, modelOf, type PlacedCall } from "./placed-call.ts";
import { createSentItems, type ItemTreatment, type SentItems } from "./sent-items.ts";
import type { CallRow, CallWaste, Cost } from "./shapes/calls.ts";
import type { FateCounts } from "./shapes/entries.ts";
import { countedTokens, noTokens, planSources } from "./sources.ts";
import { planUnseen, type Unseen } from "./unseen.ts";

/** Whether tokens are what a provider counted, where it did, or what the host estimates. */
export type TokenReckoning = "counted" | "estimated";

/** A call, and how its items were treated. */
export interface FoldedStep {
  placed: PlacedCall;
  /** Leading entries of the cursor's path that were there at the call before. */
  kept: number;
  treat: (item: ReportItem, index: number) => ItemTreatment;
}

/** What the next call is told by, where that lists all its messages. */
export interface FoldState {
  withheld: readonly (readonly [entryId: string, Withheld])[];
  pending: readonly CompactionReport[];
  aside: readonly SideCallReport[];
  unanswered: readonly string[];
  isStrict: boolean;
  /** A report before it cannot be read, or is not there. */
  isGapped: boolean;
  /** One since the call before it; null = none. */
  missed: "damaged" | "gone" | null;
}

/** Grows with the session; a call costs what differs from the one before. */
export interface CallFold {
  readonly state: FoldState;
  /** Before the first call: the cursor stands where the last one of `state` did. */
  restore(state: FoldState): void;
  /** Before the first call that is kept: the cursor stands where the last one of `turns` did. */
  goOn(turns: number): void;
  add(step: FoldedStep): CallRow;
  /** A turn that called no model: what it did comes before the next call. */
  skip(report: TurnReport): void;
  /** A report that nobody can read, or that is not there. */
  miss(isGone: boolean): void;
  /** The fate of an entry in the newest call; undefined: it was not stored then. */
  fateOf(entryId: string): EntryFate | undefined;
  readonly sent: SentItems;
  /** Side calls that are paid with the next call's row. */
  readonly aside: readonly SideCallReport[];
  /** Why turns since the newest call have no reply. */
  readonly unanswered: readonly string[];
}

export function createCallFold(
  cursor: BranchCursor,
  pricesOf: PricesOf,
  reckoning: TokenReckoning = "counted",
): CallFold {
  const sent = createSentItems();
  const proof = createRequestProof();
  const counter = createFateCounter();
  const withheld = new Map<string, Withheld>();
  let covered: ReadonlyMap<string, string> = new Map();
  let summaries = "";
  /** Compactions since the newest call. */
  let pending: readonly CompactionReport[] = [];
  /** Side calls since then of turns that called no model. */
  let aside: readonly SideCallReport[] = [];
  let unanswered: readonly string[] = [];
  let length = 0;
  /** Leading entries of the path that the counter knows. */
  let known = 0;
  let letGo: string | null = null;
  let engine = "";
  let unseen: Unseen | null = null;
  let isGapped = false;
  /** A report since the newest call cannot be read, or is not there; null = none. */
  let missed: keyof typeof MISSING | null = null;
  let isLost = false;
  const factsNow = (): CallFacts => ({
    ...{ sent: sent.sent, covered, withheld, engine, unseen, isGapped },
    ...{ madeByEngine: sent.madeByEngine, placeOf: cursor.placeOf },
  });
  const compactionsBefore = ({ report, number }: PlacedCall) => {
    const own = report.compactions.filter(({ afterCalls = 0 }) => afterCalls === number - 1);
    const all = number === 1 ? [...pending, ...own] : own;
    pending = report.compactions.filter(
      ({ afterCalls = 0 }) => afterCalls >= report.modelCalls.length,
    );
    return all;
  };
  return {
    sent,
    get state() {
      return {
        ...{ withheld: [...withheld], pending, aside, unanswered },
        ...{ isStrict: proof.isStrict, isGapped, missed },
      };
    },
    restore(state) {
      for (const [entryId, by] of state.withheld) withheld.set(entryId, by);
      ({ pending, aside, unanswered, isGapped, missed } = state);
      if (state.isStrict) proof.miss();
      length = cursor.path.length;
    },
    get aside() {
      return aside;
    },
    get unanswered() {
      return unanswered;
    },
    goOn(turns) {
      length = cursor.path.length;
      letGo = describeLetGo(turns);
    },
    fateOf(entryId) {
      const at = cursor.placeOf(entryId);
      if (isLost || at === undefined || !isMember(cursor.path[at]!)) return undefined;
      return fateOf(entryId, counter.hiddenAt(at), factsNow());
    },
    miss(isGone) {
      proof.miss();
      isGapped = true;
      missed = isGone && missed !== "damaged" ? "gone" : "damaged";
    },
    skip(report) {
      pending = [...pending, ...report.compactions];
      aside = [...aside, ...(report.sideCalls ?? [])];
      unanswered = [...unanswered, ...whyUnasked(report)];
    },
    add({ placed, kept, treat }) {
      const { path, placeOf } = cursor;
      isLost = proof.advance(placed) === "lost";
      const touched = sent.advance(placed.call.messages, treat);
      for (const id of touched) if (sent.sent.has(id)) withheld.delete(id);
      for (const { entryId, by, why } of placed.call.withheld ?? [])
        withheld.set(entryId, { by, why });
      const standing = JSON.stringify(sent.summaries.map(({ source, covers }) => [source, covers]));
      const isAll = standing !== summaries || (kept < length && sent.summaries.length > 0);
      if (isAll) covered = planCoverage(path, sent.summaries);
      summaries = standing;
      engine = engineOf(placed);
      const wasSeen = length > 0 && unseen === null;
      unseen = planUnseen(placed, cursor);
      const facts = factsNow();
      const fates = counter.advance({
        ...{ path, kept: Math.min(kept, known) },
        ...{ touched, placeOf, facts, isAll },
      });
      const between = {
        ...{ fresh: path.slice(kept), hiddenBy: counter.hiddenBy },
        isTurned: kept < length,
        threads: describeThreads(placed, { isFirst: length === 0, wasSeen }),
        compactions: compactionsBefore(placed),
        unanswered,
      };
      unanswered =
        placed.number === placed.report.modelCalls.length ? whyUnasked(placed.report) : [];
      length = path.length;
      known = length;
      const counted = reckoning === "counted" ? countedTokens(placed.call) : null;
      const cost = costOfPlaced(withSideCalls(placed, aside), pricesOf);
      aside = [];
      const waste = wasteOfPlaced(placed, pricesOf);
      const row = rowOf({ placed, sent, fates, between, cost, waste, counted });
      const first = letGo === null ? row : { ...row, happened: [letGo, ...row.happened] };
      letGo = null;
      const told = missed === null ? first : behindMissing(first, missed);
      missed = null;
      return isLost ? asLost(told) : told;
    },
  };
}

/** Why a turn broke off beside its calls, as where a cost cap was reached; of those a row tells. */
function whyUnasked({ outcome, reason, modelCalls }: TurnReport): string[] {
  const isTold = (modelCalls.at(-1)?.error ?? null) !== null;
  return outcome !== "failed" || reason === null || isTold ? [] : [reason];
}

/** What a `/compact` before it asked a model is paid with the call behind it. */
const withSideCalls = (placed: PlacedCall, aside: readonly SideCallReport[]): PlacedCall =>
  aside.length === 0
    ? placed
    : {
        ...placed,
        report: {
          ...placed.report,
          sideCalls: [
            ...aside.map((call) => ({ ...call, afterCalls: placed.number - 1 })),
            ...(placed.report.sideCalls ?? []),
          ],
        },
      };

const LOST =
  "Nobody can tell which messages were sent: the report of a turn before it, or its own, is damaged. The next call that was reported in full can be told again.";

const MISSING = {
  damaged: "the report of a turn before it is damaged: nobody can tell which calls that turn made",
  gone: "the report of a turn before it is missing: nobody can tell what the calls of that turn were sent",
};

const behindMissing = (row: CallRow, missed: keyof typeof MISSING): CallRow => ({
  ...row,
  marks: [...row.marks, "lost"],
  happened: [MISSING[missed], ...row.happened],
});

/** What is left of a row when its list of messages is not the one that was sent. */
const asLost = (row: CallRow): CallRow => ({
  ...row,
  tokens: planSources(noTokens(), null),
  estimatedTokens: 0,
  isCounted: false,
  fates: noFates(),
  marks: row.marks.includes("lost") ? row.marks : [...row.marks, "lost"],
  lost: LOST,
});

/** Why its reply ended; null = it did not yet. */
function endOf({ stopReason, error, failure }: ModelCallReport): string | null {
  if (stopReason !== null || error === null) return stopReason;
  return failure?.kind === "aborted" ? "aborted" : "error";
}

interface RowInput {
  placed: PlacedCall;
  sent: SentItems;
  fates: FateCounts;
  between: Omit<Between, "tokensOf">;
  cost: Cost | null;
  waste: CallWaste[];
  /** Tokens of the request by its provider; null = they are estimated. */
  counted: number | null;
}

function rowOf({ placed, sent, fates, between, cost, waste, counted }: RowInput): CallRow {
  const { call, report, turn, number } = placed;
  const { turnId, promptEntryId, startedAt, budget } = report;
  const { cache, usage, estimated, durationMs, error, requestHash } = call;
  const sumOf = (items: readonly ReportItem[]) =>
    items.reduce((sum, { tokens }) => sum + tokens, 0);
  const estimates = { ...sent.tokens, system: sumOf(call.system), tools: sumOf(call.tools) };
  const tokens = planSources(estimates, counted, { isListed: call.harness === undefined });
  const estimatedTokens = planSources(estimates, null).total;
  const measured = { tokens, estimatedTokens };
  const tokensOf = (entryId: string, estimate: number) =>
    tokensOfEntry(measured, sent.items)(entryId) ?? onScaleOf(measured)(estimate);
  return {
    ...{ id: callId(placed), turn, call: number, turnId },
    ...{ promptEntryId, startedAt, durationMs, running: null },
    ...{ model: modelOf(placed), engine: engineOf(placed), stopReason: endOf(call), error },
    ...measured,
    isCounted: counted !== null,
    promptBudget: budget?.promptBudget ?? null,
    contextWindow: budget?.contextWindow ?? null,
    outputTokens: (usage ?? estimated)?.output ?? null,
    cache:
      cache === undefined
        ? null
        : {
            predicted: Math.round(cache.predicted),
            ...{ read: cache.billed, written: cache.written, broke: cache.broke?.code ?? null },
          },
    ...{ cost, waste, fates },
    marks: planMarks(placed, between),
    happened: [...describeBetween({ ...between, tokensOf }), ...describeCut(report)],
    ...{ requestHash, lost: null },
  };
}
