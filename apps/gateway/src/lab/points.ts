// Measures each played call, what was sent, what it would cost and what it still held.
import type { ModelCallReport, ReportItem, TurnReport } from "@clew/engine-core";
import type { ModelCall, ModelRef } from "@clew/plugin-sdk/host";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { CallMark, Cost, PlayedPoint, SourceTokens } from "../inspect/shapes.ts";
import { createPlayedCache, type PlayedCache } from "../replay/prompt-cache.ts";
import type { RecordedTurn } from "../replay/recorded-turns.ts";
import type { ReplayWatch } from "../replay/run-replay.ts";
import { countPresent, type NeededNames, planNeededNames } from "./evidence.ts";

/** The recorded call in whose place a played one stands. */
export interface PlayedPlace {
  /** Null: the recording is in no transcript. */
  promptEntryId: string | null;
  /** Of the turn, from 0. */
  step: number;
}

export interface MeasuredPoint extends PlayedPoint {
  place: PlayedPlace;
}

/** Grows from turn to turn where a session goes on. */
export interface SentBefore {
  cache: PlayedCache;
  /** The messages of the newest call. */
  sent: readonly ReportItem[];
}

export const nothingSent = (): SentBefore => ({ cache: createPlayedCache(), sent: [] });

interface MeterRequest {
  turns: readonly RecordedTurn[];
  branch: () => readonly TranscriptEntry[];
  model: ModelRef;
  /** What each call's next ones need. Absent: as `turns` alone tell it. */
  names?: NeededNames;
  /** What was sent before. Absent: nothing was. */
  before?: SentBefore;
}

/** Its points grow while a replay goes on. */
export function createMeter(request: MeterRequest): {
  watch: ReplayWatch;
  points: readonly MeasuredPoint[];
} {
  const { turns, branch, model } = request;
  const names = request.names ?? planNeededNames(turns);
  const before = request.before ?? nothingSent();
  const points: MeasuredPoint[] = [];
  const history = createHistory(branch);
  let seen: SeenCall[] = [];
  return {
    points,
    watch: {
      usageOf: before.cache.usage,
      onCall(call, { turn, step }) {
        seen.push({ ...history.look(), evidence: evidenceOf(call, names, { turn, step }) });
      },
      onReport(report, turn) {
        for (const [at, call] of report.modelCalls.entries()) {
          const { kept, items } = call.messages;
          before.sent = before.sent.slice(0, kept).concat(items);
          const { sent } = before;
          const known = seen[at];
          if (known === undefined) continue;
          const place = { promptEntryId: turns[turn - 1]?.promptEntryId ?? null, step: at };
          points.push({ ...pointOfReport({ report, call, turn, at, sent, known, model }), place });
        }
        seen = [];
      },
    },
  };
}

export interface SeenCall {
  entries: number;
  marks: CallMark[];
  evidence: PlayedPoint["evidence"];
}

const evidenceOf = (
  call: ModelCall,
  names: NeededNames,
  { turn, step }: { turn: number; step: number },
): PlayedPoint["evidence"] => {
  const needed = names[turn - 1]?.[step] ?? new Set<string>();
  return { needed: needed.size, present: countPresent(call, needed) };
};

/** Counts what is stored, and what was compacted or pruned since it was looked at last. */
function createHistory(branch: () => readonly TranscriptEntry[]) {
  let at = 0;
  let entries = 0;
  return {
    look(): Pick<SeenCall, "entries" | "marks"> {
      const marks = new Set<CallMark>();
      const all = branch();
      for (const entry of all.slice(at)) {
        if (entry.type === "compaction") marks.add("compaction");
        else if (entry.type === "custom" && entry.customType === "clew.session-prune")
          marks.add("prune");
        else if (MESSAGE_LIKE.has(entry.type)) entries++;
      }
      at = all.length;
      return { entries, marks: [...marks] };
    },
  };
}

/** What counts as an entry that may be shown. */
export const MESSAGE_LIKE: ReadonlySet<string> = new Set([
  "message",
  "custom_message",
  "branch_summary",
]);

export interface PointRequest {
  report: TurnReport;
  call: ModelCallReport;
  turn: number;
  /** Place in the turn, from 0. */
  at: number;
  /** Everything that was sent. */
  sent: readonly ReportItem[];
  known: SeenCall;
  model: ModelRef;
}

/** Pure. */
export function pointOfReport({
  report,
  call,
  turn,
  at,
  sent,
  known,
  model,
}: PointRequest): PlayedPoint {
  const tokens = planTokens(call, sent);
  const promptBudget = report.budget?.promptBudget ?? null;
  const engineMs = report.engineCalls.reduce((sum, { durationMs }) => sum + durationMs, 0);
  const shown = new Set(
    sent.flatMap(({ source }) => (source.kind === "entry" ? [source.entryId] : [])),
  );
  const { usage } = call;
  return {
    ...{ id: `${turn}.${at + 1}`, ofCall: null, turn, call: at + 1, tokens, promptBudget },
    isOverBudget: promptBudget !== null && tokens.total > promptBudget,
    cache: { read: usage?.cacheRead ?? 0, written: usage?.cacheWrite ?? 0 },
    cost: costOf(call, model),
    entries: { all: known.entries, shown: Math.min(known.entries, shown.size) },
    evidence: known.evidence,
    engineMs: Math.round((engineMs / Math.max(1, report.modelCalls.length)) * 1000) / 1000,
    marks: marksOf(report, call, { at, seen: known.marks }),
  };
}

/** An engine that compacts by itself leaves no entry. */
function marksOf(
  report: TurnReport,
  { cache, failure }: ModelCallReport,
  { at, seen }: { at: number; seen: readonly CallMark[] },
): CallMark[] {
  const marks = new Set<CallMark>(seen);
  const before = report.compactions.filter(
    ({ compacted, afterCalls = 0 }) => compacted && afterCalls === at,
  );
  if (report.engine.ownsCompaction && before.length > 0) marks.add("compaction");
  if (report.engine.degraded !== null) marks.add("degraded");
  if (failure?.kind === "overflow") marks.add("overflow");
  if (cache?.broke?.code === "messages-changed") marks.add("cache-broken");
  return [...marks];
}

const BY_ROLE: Readonly<Record<string, Exclude<keyof SourceTokens, "total">>> = {
  user: "messages",
  bashExecution: "messages",
  assistant: "replies",
  toolResult: "toolOutput",
  compactionSummary: "summaries",
  branchSummary: "summaries",
};

function planTokens({ system, tools }: ModelCallReport, sent: readonly ReportItem[]): SourceTokens {
  const sum = (items: readonly ReportItem[]) =>
    items.reduce((total, item) => total + item.tokens, 0);
  const tokens: SourceTokens = {
    ...{ system: sum(system), tools: sum(tools), summaries: 0, messages: 0 },
    ...{ replies: 0, toolOutput: 0, notes: 0, total: 0 },
  };
  for (const { source, role = "", tokens: own } of sent)
    tokens[
      source.kind === "summary"
        ? "summaries"
        : source.kind === "entry"
          ? (BY_ROLE[role] ?? "notes")
          : "notes"
    ] += own;
  const { total: _none, ...parts } = tokens;
  return { ...tokens, total: Object.values(parts).reduce((all, part) => all + part, 0) };
}

const PER = 1_000_000;

/** Null: the prices of the model are not known. */
function costOf({ usage }: ModelCallReport, { profile }: ModelRef): Cost | null {
  const prices = profile?.cost ?? null;
  if (usage === null || prices === null) return null;
  const { cacheRead: readPrice, cacheWrite: writePrice } = prices;
  if (typeof readPrice !== "number" || typeof writePrice !== "number") return null;
  const input = (usage.input * prices.input) / PER;
  const cacheRead = (usage.cacheRead * readPrice) / PER;
  const cacheWrite = (usage.cacheWrite * writePrice) / PER;
  const output = (usage.output * prices.output) / PER;
  const total = input + cacheRead + cacheWrite + output;
  return { input, cacheRead, cacheWrite, output, summariser: 0, total };
}
