// Turns a summary plan into checked texts, the best first.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { SUMMARY_HEADINGS } from "@clew/plugin-sdk/transcript";
import { type AuditProblem, amendSummary, auditSummary, describeProblem } from "./audit.ts";
import { CHUNKS, splitMessagesByTokenShare, total } from "./chunks.ts";
import { collectFacts, type Facts } from "./facts.ts";
import type { CompactionOptions } from "./options.ts";
import type { SummaryPlan } from "./plan.ts";
import type { RequestEnvironment } from "./request.ts";
import { demoteHeadings, joinSummary, type SummaryParts } from "./sections.ts";
import { serializedTokens } from "./serialize.ts";
import {
  EMPTY_HISTORY,
  extract,
  type SummarizeRequest,
  type SummaryResult,
  type SummaryTier,
  summarizeStages,
  summarizeTiers,
} from "./summarize.ts";

export interface WrittenSummary {
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
  environment: RequestEnvironment;
  focus: string | undefined;
  /** Placed beside whatever is written. */
  ledger: string;
  /** True when this text makes the context smaller. */
  shrinks: (text: string) => boolean;
}

const MAX_RETRIES = 3;

/**
 * Asks the model, at most `maxRetries` times again with what was wrong. Undefined, with a reason,
 * when no text passes and shrinks.
 */
export async function writeSummary(
  writing: SummaryWriting,
): Promise<WrittenSummary | { text: undefined; reason: string }> {
  const { plan, options } = writing;
  const facts = collectFacts(plan, options);
  const earlier = await shareStep(writing, facts);
  const prefix = await summarisePrefix(writing);
  let problems: AuditProblem[] = [];
  let reason: string | undefined;

  const retries = options.qualityGuard.enabled
    ? Math.min(MAX_RETRIES, options.qualityGuard.maxRetries)
    : 0;
  for (let attempt = 0; attempt <= retries; attempt++) {
    const body = await summariseHistory(writing, earlier, problems);
    reason = body.reason ?? prefix?.reason;
    // Code writes the same again; only a model can correct itself.
    const byCode = body.tier === "extract" || body.tier === "none";
    const parts = {
      ...facts.parts,
      body: body.summary,
      prefix: prefix?.summary,
      ledger: writing.ledger,
    };
    const checked = check(writing, facts, parts, { mayAmend: byCode || attempt === retries });
    if (checked.ok)
      return {
        text: checked.text,
        tier: weaker(body.tier, prefix?.tier),
        reason,
        amended: checked.amended,
      };
    problems = checked.problems;
    if (byCode || problems.length === 0) {
      reason ??= "its summary was no shorter than what it replaces";
      break;
    }
    reason = `the model's summary failed the check (${problems.map(({ kind }) => kind).join(", ")})`;
  }
  return writeByCode(writing, facts, reason ?? "the model gave no usable summary");
}

/** A summary made by code, smaller each time until it shrinks the context. */
function writeByCode(
  writing: SummaryWriting,
  facts: Facts,
  reason: string,
): WrittenSummary | { text: undefined; reason: string } {
  const { plan } = writing;
  const rest = [...plan.history, ...plan.prefix];
  for (const share of [0.5, 0.25, 0.1]) {
    const maxOutputTokens = Math.min(
      plan.limits.summaryTokens,
      Math.floor(plan.summarisedTokens * share),
    );
    const body = extract({
      maxOutputTokens,
      maxChars: plan.limits.summaryChars,
      done: facts.previousSummary,
      rest,
    });
    const checked = check(
      writing,
      facts,
      { ...facts.parts, body, prefix: undefined, ledger: writing.ledger },
      { mayAmend: true },
    );
    if (checked.ok)
      return { text: checked.text, tier: "extract", reason, amended: checked.amended };
  }
  return {
    text: undefined,
    reason: `removed nothing: ${reason}, and a summary made by code is not shorter than what it would replace`,
  };
}

type Checked =
  | { ok: true; text: string; amended: boolean }
  | { ok: false; problems: AuditProblem[] };

/**
 * The fullest text of these parts that passes and shrinks; the quotation of recent turns goes
 * first, then the lists that code adds, the ledger last.
 */
function check(
  { plan, options, shrinks }: SummaryWriting,
  facts: Facts,
  parts: SummaryParts,
  { mayAmend }: { mayAmend: boolean },
): Checked {
  const { summaryChars } = plan.limits;
  const audit = (text: string) =>
    options.qualityGuard.enabled ? auditSummary({ text, ...facts.audit }) : [];
  // What a person wrote may hold any heading, and the ledger is not the model's: neither is judged.
  const judged = (candidate: SummaryParts) =>
    joinSummary({ ...candidate, openRequest: undefined, ledger: "" }, summaryChars);
  let fewest: AuditProblem[] | undefined;
  for (const variant of variants(parts)) {
    const problems = audit(judged(variant));
    if (problems.length > 0 && !mayAmend) {
      fewest ??= problems;
      continue;
    }
    const body =
      problems.length === 0
        ? variant.body
        : amendSummary(variant.body, problems, facts.audit.latestAsk);
    if (body === undefined) {
      fewest ??= problems;
      continue;
    }
    const amended = { ...variant, body };
    const remaining = problems.length === 0 ? [] : audit(judged(amended));
    const text = joinSummary(amended, summaryChars);
    if (remaining.length === 0 && shrinks(text))
      return { ok: true, text, amended: problems.length > 0 };
    if (remaining.length > 0) fewest ??= remaining;
  }
  return { ok: false, problems: fewest ?? [] };
}

const variants = (parts: SummaryParts): SummaryParts[] => [
  parts,
  { ...parts, recentTurns: "" },
  { ...parts, recentTurns: "", failures: "", files: "" },
  { ...parts, recentTurns: "", failures: "", files: "", ledger: "" },
];

/**
 * Safeguard: of a history larger than its share of the window, the older half is summarised first,
 * until the rest fits (spec §2.7).
 */
async function shareStep(
  writing: SummaryWriting,
  facts: Facts,
): Promise<{ messages: AgentMessage[]; previousSummary: string | undefined }> {
  const { plan, options } = writing;
  let rest = plan.history;
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
  return { messages: rest, previousSummary: earlier.summary };
}

async function summarisePrefix(writing: SummaryWriting): Promise<SummaryResult | undefined> {
  const { prefix, limits } = writing.plan;
  if (prefix.length === 0) return undefined;
  const result = await summarizeTiers({
    ...summaryRequest(writing),
    messages: prefix,
    form: "turn-prefix",
    maxOutputTokens: limits.prefixTokens,
  });
  return { ...result, summary: demoteHeadings(result.summary) };
}

async function summariseHistory(
  writing: SummaryWriting,
  { messages, previousSummary }: { messages: AgentMessage[]; previousSummary: string | undefined },
  problems: readonly AuditProblem[],
): Promise<SummaryResult> {
  if (messages.length === 0)
    return { tier: "none", summary: withHeadings(writing, previousSummary) };
  const corrections = problems.map(describeProblem);
  const instructions =
    corrections.length === 0
      ? []
      : [`A first attempt was refused. ${corrections.join(" ")} Write it anew, complete.`];
  return summarizeStages({ ...summaryRequest(writing), messages, previousSummary, instructions });
}

/** An earlier summary in our form; one of another form is read into it. */
function withHeadings({ plan }: SummaryWriting, previousSummary: string | undefined): string {
  const complete =
    previousSummary !== undefined &&
    auditSummary({ text: previousSummary, identifiers: [], latestAsk: undefined }).length === 0;
  if (complete) return previousSummary;
  if (previousSummary === undefined)
    return `${EMPTY_HISTORY}\n\n${SUMMARY_HEADINGS.map((heading) => `${heading}\n- (none)`).join("\n\n")}`;
  return extract({
    maxOutputTokens: plan.limits.summaryTokens,
    maxChars: plan.limits.summaryChars,
    done: previousSummary,
    rest: [],
  });
}

function summaryRequest({
  plan,
  options,
  environment,
  focus,
}: SummaryWriting): Omit<SummarizeRequest, "messages"> {
  return {
    ...environment,
    maxOutputTokens: plan.limits.summaryTokens,
    maxChars: plan.limits.summaryChars,
    identifierPolicy: options.identifierPolicy,
    focus,
    lastResort: "extract",
  };
}

const weaker = (body: SummaryTier, prefix: SummaryTier | undefined): SummaryTier =>
  prefix === "extract" || (prefix === "partial" && body !== "extract") ? prefix : body;
