// Turns a summary plan into a record with a model's checked prose.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { pause, stepsInSlices } from "@clew/plugin-sdk/host";
import { joinRecord, type LedgerState, type RecordParts } from "@clew/plugin-sdk/transcript";
import { type AuditProblem, amendSummary, auditSummary, describeProblem } from "./audit.ts";
import { CHUNKS, splitMessagesByTokenShare, total } from "./chunks.ts";
import { type Facts, factSteps, previousProse } from "./facts.ts";
import type { CompactionOptions } from "./options.ts";
import type { SummaryPlan } from "./plan.ts";
import { recordParts } from "./record.ts";
import type { RequestEnvironment } from "./request.ts";
import { joinProse, withoutEmptySections } from "./sections.ts";
import { countedTokens, countInSlices, serializedTokens } from "./serialize.ts";
import {
  type SummarizeRequest,
  type SummaryResult,
  type SummaryTier,
  summarizeStages,
} from "./summarize.ts";

export interface WrittenSummary {
  /** A record: the model's prose, if there is any, and what code keeps. */
  text: string;
  tier: SummaryTier;
  /** Why it is not the model's summary of everything. */
  reason: string | undefined;
  /** What the check missed and code added. */
  amended: boolean;
}

export interface SummaryWriting {
  plan: SummaryPlan;
  options: CompactionOptions;
  /** False: no model writes prose. */
  environment: RequestEnvironment | false;
  focus: string | undefined;
  /** Fires when the work must stop. */
  signal: AbortSignal | undefined;
  /** What code knows of everything that leaves the context. */
  ledger: LedgerState;
  /** True when this text makes the context smaller. */
  shrinks: (text: string) => boolean;
}

const MAX_RETRIES = 3;
/** What a model wrote for a larger window is worth more than a new summary may take. */
const LONGER_KEPT = 2;
/** How much of its room a record takes, tried in turns until the context shrinks. */
const SHARES = [1, 0.5, 0.25, 0.1];

/**
 * Asks the model, at most `maxRetries` times again with what was wrong. Undefined, with a reason,
 * when no text shrinks the context. No request holds what code keeps.
 */
export async function writeSummary(
  writing: SummaryWriting,
): Promise<WrittenSummary | { text: undefined; reason: string }> {
  const { environment, plan, signal } = writing;
  const parts = await recordParts(plan, writing.ledger, { signal });
  await pause(signal);
  if (environment !== false) return writeWithModel({ ...writing, environment }, parts);
  // Prose that a model wrote earlier is not thrown away.
  const { summaryChars } = plan.limits;
  const prose = previousProse(plan, LONGER_KEPT * summaryChars);
  const text = (await fullest(writing, prose, parts)) ?? (await fullest(writing, "", parts));
  return text === undefined
    ? { text, reason: "removed nothing: a record made by code is not shorter than its source" }
    : { text, tier: "extract", reason: undefined, amended: false };
}

interface ModelWriting extends SummaryWriting {
  environment: RequestEnvironment;
}

async function writeWithModel(
  writing: ModelWriting,
  parts: RecordParts,
): Promise<WrittenSummary | { text: undefined; reason: string }> {
  const { plan, options } = writing;
  const { signal } = writing;
  await countInSlices([...plan.history, ...plan.prefix], signal);
  const facts = await stepsInSlices(factSteps(plan, options), { signal });
  await pause(signal);
  const earlier = await shareStep(writing, facts);
  let problems: AuditProblem[] = [];
  let reason: string | undefined;

  const retries = options.qualityGuard.enabled
    ? Math.min(MAX_RETRIES, options.qualityGuard.maxRetries)
    : 0;
  for (let attempt = 0; attempt <= retries; attempt++) {
    const prose = await summariseMessages(writing, earlier, problems);
    reason = prose.reason;
    await pause(signal);
    // Code writes the same again; only a model can correct its headings.
    if (prose.tier === "extract" || prose.tier === "none") {
      const text = await fullest(writing, prose.summary, parts);
      if (text !== undefined) return { text, tier: prose.tier, reason, amended: false };
      break;
    }
    const checked = check(options, facts, prose.summary, parts);
    if (checked.ok) {
      const text = await fullestOfModel(writing, facts, checked.prose, parts);
      if (text !== undefined) return { text, tier: prose.tier, reason, amended: checked.amended };
      reason ??= "its summary was no shorter than what it replaces";
      break;
    }
    problems = checked.problems;
    reason = `the model's summary failed the check (${[...new Set(problems.map(({ kind }) => kind))].join(", ")})`;
  }
  return writeByCode(writing, parts, reason ?? "the model gave no usable summary");
}

/** What code keeps, and no prose. */
async function writeByCode(
  writing: SummaryWriting,
  parts: RecordParts,
  reason: string,
): Promise<WrittenSummary | { text: undefined; reason: string }> {
  const text = await fullest(writing, "", parts);
  return text === undefined
    ? {
        text,
        reason: `removed nothing: ${reason}, and a summary made by code is not shorter than what it would replace`,
      }
    : { text, tier: "extract", reason: `${reason}, so code wrote one`, amended: false };
}

/** With the newest turns quoted, or without; undefined: neither shrinks the context. */
async function fullestOfModel(
  writing: SummaryWriting,
  { recentTurns }: Facts,
  prose: string,
  parts: RecordParts,
): Promise<string | undefined> {
  const { summaryChars } = writing.plan.limits;
  const text = joinRecord({ ...parts, summary: joinProse(prose, recentTurns, summaryChars) });
  if (writing.shrinks(text)) return text;
  return fullest(writing, joinProse(prose, "", summaryChars), parts);
}

/** Beside this prose as much of the record as shrinks the context; undefined: none does. */
async function fullest(
  { plan, ledger, shrinks, signal }: SummaryWriting,
  prose: string,
  whole: RecordParts,
): Promise<string | undefined> {
  for (const share of SHARES) {
    const parts = share === 1 ? whole : await recordParts(plan, ledger, { share, signal });
    const text = joinRecord({ ...parts, summary: prose });
    if (text !== "" && shrinks(text)) return text;
  }
  return undefined;
}

type Checked =
  | { ok: true; prose: string; amended: boolean }
  | { ok: false; problems: AuditProblem[] };

/** The prose as it may be written: what code can mend needs no second request. */
function check(
  { qualityGuard }: CompactionOptions,
  { audit }: Facts,
  prose: string,
  parts: RecordParts,
): Checked {
  const beside = Object.values(parts).join("\n");
  const problems = qualityGuard.enabled ? auditSummary({ text: prose, beside, ...audit }) : [];
  const mended = amendSummary(prose, problems, audit.latestAsk);
  return mended === undefined
    ? { ok: false, problems }
    : { ok: true, prose: withoutEmptySections(mended), amended: problems.length > 0 };
}

/**
 * Safeguard: of a history larger than its share of the window, the older half is summarised first,
 * until the rest fits (spec §2.7).
 */
async function shareStep(
  writing: ModelWriting,
  facts: Facts,
): Promise<{ messages: AgentMessage[]; previousSummary: string | undefined }> {
  const { plan, options } = writing;
  let rest = [...plan.history, ...plan.prefix];
  const limit = Math.floor(plan.limits.contextWindow * options.maxHistoryShare);
  if (options.mode !== "safeguard" || total(rest, serializedTokens) <= limit * CHUNKS.safetyMargin)
    return { messages: rest, previousSummary: facts.previousSummary };
  const dropped: AgentMessage[] = [];
  while (total(rest, serializedTokens) > limit) {
    const [oldest, ...newer] = splitMessagesByTokenShare(rest, 2, serializedTokens);
    if (oldest === undefined || newer.length === 0) break;
    dropped.push(...oldest);
    rest = newer.flat();
  }
  if (dropped.length === 0) return { messages: rest, previousSummary: facts.previousSummary };
  const earlier = await summarizeStages({
    ...summaryRequest(writing),
    messages: dropped,
    previousSummary: facts.previousSummary,
  });
  return { messages: rest, previousSummary: earlier.summary || undefined };
}

async function summariseMessages(
  writing: ModelWriting,
  { messages, previousSummary }: { messages: AgentMessage[]; previousSummary: string | undefined },
  problems: readonly AuditProblem[],
): Promise<SummaryResult> {
  const corrections = problems.map(describeProblem);
  const instructions =
    corrections.length === 0
      ? []
      : [`A first attempt was refused. ${corrections.join(" ")} Write it anew, complete.`];
  const written = await summarizeStages({
    ...summaryRequest(writing),
    messages,
    previousSummary,
    instructions,
  });
  return written.tier === "none" ? { ...written, summary: previousSummary ?? "" } : written;
}

function summaryRequest({
  plan,
  options,
  environment,
  focus,
}: ModelWriting): Omit<SummarizeRequest, "messages"> {
  return {
    ...environment,
    count: countedTokens(plan),
    maxOutputTokens: plan.limits.summaryTokens,
    maxChars: plan.limits.summaryChars,
    identifierPolicy: options.identifierPolicy,
    focus,
    lastResort: "none",
  };
}
