// Summarises any number of messages, and always ends with a text.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { chunkLabel } from "./chunk-label.ts";
import {
  CHUNKS,
  type CountMessage,
  chunkMessagesByMaxTokens,
  computeAdaptiveChunkRatio,
  conversationOnly,
  isBeyond,
  isOversized,
  maxChunkTokens,
  splitMessagesByTokenShare,
  total,
} from "./chunks.ts";
import { LAST_RESORT } from "./last-resort.ts";
import { withoutOversized } from "./oversized.ts";
import { type IdentifierPolicy, MERGE_INSTRUCTION, summaryPrompt } from "./prompts.ts";
import { type RequestEnvironment, requestSummary, type SummaryOutcome } from "./request.ts";
import { serializeConversation, serializedTokens } from "./serialize.ts";

/** What to summarise, by which model, and in which form. */
export interface SummarizeRequest extends RequestEnvironment {
  /** Oldest first. */
  messages: readonly AgentMessage[];
  /** What stood for the history before `messages`. Absent: nothing did. */
  previousSummary?: string | undefined;
  /** Tokens. Absent: the model's. */
  contextWindow?: number;
  /** Tokens of one chunk. Absent: by the adaptive share of the window. */
  maxChunkTokens?: number;
  /** Tokens of one answer. Absent: 16,000, or the model's maximum if that is less. */
  maxOutputTokens?: number;
  /** Characters the model is told to stay within. Absent: it is told none. */
  maxChars?: number;
  /** "turn-prefix": the messages begin a turn whose end is kept. Absent: "conversation". */
  form?: "conversation" | "turn-prefix";
  /** Absent: "strict". */
  identifierPolicy?: IdentifierPolicy;
  /** Trusted additions to the prompt. Absent: none. */
  instructions?: readonly string[];
  /** A person's wish what to keep; untrusted. Absent: none. */
  focus?: string | undefined;
  /** Tokens of a message. Absent: of its text in the prompt, with long tool output already cut. */
  count?: CountMessage;
  /**
   * When no model answers: "note" says only how much there was, "extract" is a summary made by
   * code, "none" what a model wrote before it stopped, which may be nothing. Absent: "note".
   */
  lastResort?: "note" | "extract" | "none";
  /** Stages. Absent: 2. */
  parts?: number;
  /** Fewer messages are never split; never below 2. Absent: 4. */
  minMessagesForSplit?: number;
}

/** How a summary came about. */
export type SummaryTier = "none" | "full" | "partial" | "note" | "extract";

export interface SummaryResult {
  summary: string;
  tier: SummaryTier;
  /** Why the model's own summary of everything is missing. */
  reason?: string;
}

export const EMPTY_HISTORY = "No prior history.";
const DEFAULT_OUTPUT_TOKENS = 16_000;

/** A summary in stages (spec "compaction" §2.3). Throws only the caller's abort. */
export async function summarizeInStages(request: SummarizeRequest): Promise<string> {
  return (await summarizeStages(request)).summary;
}

/**
 * A summary in one stage: everything, then without what is too large, then the last resort. Throws
 * only the caller's abort.
 */
export async function summarizeWithFallback(request: SummarizeRequest): Promise<string> {
  return (await summarizeTiers(request)).summary;
}

/** `summarizeInStages`, telling how. */
export async function summarizeStages(request: SummarizeRequest): Promise<SummaryResult> {
  const job = prepare(request);
  const { messages, count, previousSummary } = job;
  if (messages.length === 0) return { summary: previousSummary ?? EMPTY_HISTORY, tier: "none" };
  const parts = request.parts ?? CHUNKS.defaultParts;
  const fewest = Math.max(2, request.minMessagesForSplit ?? CHUNKS.minMessagesForSplit);
  if (parts <= 1 || messages.length < fewest || total(messages, count) <= job.maxChunkTokens)
    return finish(job, await attemptTiers(job));
  const shares = splitMessagesByTokenShare(messages, parts, count);
  if (shares.length <= 1) return finish(job, await attemptTiers(job));

  const partial: SummaryResult[] = [];
  for (const [index, share] of shares.entries()) {
    const part: Job = { ...job, messages: share, previousSummary: undefined };
    const attempt = await attemptTiers(part);
    if (!attempt.ok && attempt.terminal) {
      // No request will be answered any more: the rest is summarised as one.
      const done = joined([
        previousSummary,
        ...partial.map(({ summary }) => summary),
        attempt.done,
      ]);
      const rest = [...attempt.rest, ...shares.slice(index + 1).flat()];
      return finish(job, { ...attempt, done, rest });
    }
    partial.push(finish(part, attempt));
  }
  return merge(job, shares, partial);
}

/** `summarizeWithFallback`, telling how. */
export async function summarizeTiers(request: SummarizeRequest): Promise<SummaryResult> {
  const job = prepare(request);
  if (job.messages.length === 0)
    return { summary: job.previousSummary ?? EMPTY_HISTORY, tier: "none" };
  return finish(job, await attemptTiers(job));
}

/** A request with every default filled in. */
interface Job extends RequestEnvironment {
  messages: readonly AgentMessage[];
  previousSummary: string | undefined;
  contextWindow: number;
  maxChunkTokens: number;
  maxOutputTokens: number;
  maxChars: number | undefined;
  form: "conversation" | "turn-prefix";
  identifierPolicy: IdentifierPolicy;
  instructions: readonly string[];
  focus: string | undefined;
  count: CountMessage;
  lastResort: "note" | "extract" | "none";
}

function prepare(request: SummarizeRequest): Job {
  const { model, count = serializedTokens } = request;
  const messages = conversationOnly(request.messages);
  const contextWindow = request.contextWindow ?? model.ref.contextWindow;
  const ratio = computeAdaptiveChunkRatio(messages, contextWindow, count);
  return {
    ...request,
    messages,
    count,
    contextWindow,
    previousSummary: request.previousSummary,
    maxChunkTokens: request.maxChunkTokens ?? maxChunkTokens(contextWindow, ratio),
    maxOutputTokens:
      request.maxOutputTokens ?? Math.min(DEFAULT_OUTPUT_TOKENS, model.ref.maxOutputTokens),
    maxChars: request.maxChars,
    form: request.form ?? "conversation",
    identifierPolicy: request.identifierPolicy ?? "strict",
    instructions: request.instructions ?? [],
    focus: request.focus,
    lastResort: request.lastResort ?? "note",
  };
}

type Attempt =
  | { ok: true; summary: string; tier: "full" | "partial"; reason?: string }
  | {
      ok: false;
      /** No further request can help. */
      terminal: boolean;
      reason: string;
      /** The rolling summary so far, and what it does not cover. */
      done: string | undefined;
      rest: readonly AgentMessage[];
      /** Messages a model refused for their size although their estimate is small. */
      refused: ReadonlySet<AgentMessage>;
    };

async function attemptTiers(job: Job): Promise<Attempt> {
  const full = await summarizeChunks(job);
  if (full.ok || full.terminal) return full;
  const { kept, omitted } = withoutOversized(job.messages, {
    isOversized: (message) =>
      full.refused.has(message) || isOversized(message, job.contextWindow, job.count),
    count: job.count,
  });
  // With nothing left out it would be the same requests again.
  if (omitted.length === 0 || kept.length === 0) return full;
  const partial = await summarizeChunks({ ...job, messages: kept });
  if (!partial.ok) return partial.done === undefined ? full : partial;
  return {
    ok: true,
    tier: "partial",
    summary: `${partial.summary}\n\n${omitted.join("\n")}`,
    reason: full.reason,
  };
}

/**
 * Chunk by chunk, each request bringing the summary so far up to date. A chunk
 * that does not fit is halved.
 */
async function summarizeChunks(job: Job): Promise<Attempt> {
  const queue = chunkMessagesByMaxTokens(job.messages, job.maxChunkTokens, job.count);
  let summary = job.previousSummary;
  let covered = false;
  for (let chunk = queue.shift(); chunk !== undefined; chunk = queue.shift()) {
    const outcome: SummaryOutcome = isBeyond(chunk, job.contextWindow, job.count)
      ? {
          ok: false,
          kind: "overflow",
          reason: "it is longer than what the summarising model reads",
        }
      : await requestSummary(promptFor(job, chunk, summary), job.maxOutputTokens, job);
    if (outcome.ok) {
      summary = outcome.text;
      covered = true;
      continue;
    }
    const halves =
      outcome.kind === "overflow" ? splitMessagesByTokenShare(chunk, 2, job.count) : [];
    if (halves.length > 1) {
      queue.unshift(...halves);
      continue;
    }
    const refused = new Set(outcome.kind === "overflow" ? [largest(chunk, job.count)] : []);
    const done = covered ? summary : job.previousSummary;
    return {
      ok: false,
      terminal: outcome.kind === "terminal",
      reason: outcome.reason,
      done,
      rest: [...chunk, ...queue.flat()],
      refused,
    };
  }
  return { ok: true, summary: summary ?? EMPTY_HISTORY, tier: "full" };
}

function promptFor(
  { form, identifierPolicy, maxChars, instructions, focus }: Job,
  chunk: AgentMessage[],
  previousSummary: string | undefined,
) {
  return summaryPrompt({
    conversation: serializeConversation(chunk),
    previousSummary,
    form:
      form === "turn-prefix" ? "turn-prefix" : previousSummary === undefined ? "first" : "update",
    identifierPolicy,
    maxChars,
    instructions,
    focus,
  });
}

/** One summary of the parts' summaries; `previousSummary` belongs here and nowhere before. */
async function merge(
  job: Job,
  shares: readonly AgentMessage[][],
  partial: readonly SummaryResult[],
): Promise<SummaryResult> {
  const messages = partial.map(
    ({ summary }, index): AgentMessage => ({
      role: "user",
      content: `${chunkLabel(shares[index]!, index, shares.length)}\n${summary}`,
    }),
  );
  const attempt = await attemptTiers({
    ...job,
    messages,
    instructions: [MERGE_INSTRUCTION, ...job.instructions],
  });
  const weakest =
    partial.find(({ tier }) => tier === "extract" || tier === "note") ??
    partial.find(({ tier }) => tier === "partial");
  if (attempt.ok) {
    const reason = attempt.reason ?? weakest?.reason;
    return {
      summary: attempt.summary,
      tier: weakest?.tier ?? attempt.tier,
      ...(reason !== undefined && { reason }),
    };
  }
  const done = joined([job.previousSummary, ...partial.map(({ summary }) => summary)]);
  return finish(job, { ...attempt, done, rest: [] });
}

function finish(job: Job, attempt: Attempt): SummaryResult {
  if (attempt.ok) {
    const { summary, tier, reason } = attempt;
    return { summary, tier, ...(reason !== undefined && { reason }) };
  }
  const { done, rest, reason } = attempt;
  return { ...LAST_RESORT[job.lastResort]({ ...job, done, rest }), reason };
}

const joined = (summaries: readonly (string | undefined)[]) => {
  const text = summaries.filter((summary) => summary !== undefined).join("\n\n");
  return text === "" ? undefined : text;
};

const largest = (messages: readonly AgentMessage[], count: CountMessage) =>
  messages.reduce((most, message) => (count(message) > count(most) ? message : most), messages[0]!);
