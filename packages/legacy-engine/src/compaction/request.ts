// Sends one request to the summarising model and judges what comes back.
import { type AssistantMessage, isAbort, type Usage } from "@clew/plugin-sdk/core";
import type { ModelCall, ModelError, ModelRef } from "@clew/plugin-sdk/host";
import { abortable, linkSignals, sleep as pause } from "@clew/plugin-sdk/host";
import { headOf, textOf } from "@clew/plugin-sdk/transcript";
import { SUMMARY_SYSTEM_PROMPT } from "./prompts.ts";

/** The model that summarises; a host's model port with the model it shall ask. */
export interface SummaryModel {
  /** Its limits decide how much it is given at once. */
  ref: ModelRef;
  /** One call, unstreamed; what a provider did wrong is a result, not a throw. */
  complete(
    call: ModelCall,
  ): Promise<{ ok: true; message: AssistantMessage } | { ok: false; error: ModelError }>;
}

/** What requests need besides their text. */
export interface RequestEnvironment {
  /** Who summarises. */
  model: SummaryModel;
  /** The caller's abort; its reason is thrown, whatever else happens. Absent: nobody aborts. */
  signal?: AbortSignal | undefined;
  /** Longest single request, ms. Absent: 180,000. */
  timeoutMs?: number | undefined;
  /**
   * Resolves after `ms`; rejects with the signal's reason on abort. Absent: the platform's timer.
   */
  sleep?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
  /** 0 ≤ number < 1, for jitter. Absent: Math.random. */
  random?: (() => number) | undefined;
  /**
   * Work goes on: called when a request starts, half way through its time, and when it ends.
   * Absent: nobody is told.
   */
  onProgress?: (() => void) | undefined;
  /**
   * Shared by the requests of one compaction: after one that no retry can help, no other is sent.
   * Absent: every request is on its own.
   */
  circuit?:
    | {
        /** Why no further request is sent; undefined = one may be. */
        brokenBy: string | undefined;
        /** How long the model is better not asked again, ms. Absent: the request was at fault. */
        restMs?: number;
      }
    | undefined;
  /**
   * Told of every answered attempt: what the provider billed, as far as it said. Absent: nobody is.
   */
  onUsage?: ((usage: Usage | undefined) => void) | undefined;
}

/** What one compaction knows of the model it asks. */
export type Circuit = NonNullable<RequestEnvironment["circuit"]>;

/** Spec "compaction" §2.1. */
export const RETRY = { attempts: 3, minDelayMs: 500, maxDelayMs: 5000, jitter: 0.2 } as const;
/** Attempts at a model that is away or busy: code keeps what a summary is needed for. */
const QUICK_ATTEMPTS = 2;
/** A model that wants to be left alone for longer is not waited for. */
const LONGEST_ASKED_WAIT_MS = 2000;
const DEFAULT_TIMEOUT_MS = 180_000;
const REST_MS = 5 * 60_000;
const LONGEST_REST_MS = 60 * 60_000;

export type SummaryOutcome =
  | { ok: true; text: string }
  /**
   * overflow: ask for less. terminal: no further request can help. failed: this one did
   * not, after every attempt.
   */
  | { ok: false; kind: "overflow" | "terminal" | "failed"; reason: string };

type AttemptOutcome =
  | { ok: true; text: string }
  | { ok: false; kind: "overflow"; reason: string }
  | Failure;

interface Failure {
  ok: false;
  kind: "terminal" | "again";
  reason: string;
  /** The model is away: after one more attempt, if any, it is left alone for that long, ms. */
  restMs?: number;
  /** What the provider asks for before the next attempt, ms. */
  retryAfterMs?: number;
}

/**
 * Asks until there is a usable text: at most three times, and twice where no answer comes. Throws
 * only the caller's abort.
 */
export async function requestSummary(
  prompt: string,
  maxOutputTokens: number,
  environment: RequestEnvironment,
): Promise<SummaryOutcome> {
  const { signal, sleep = pause, random = Math.random, circuit } = environment;
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    if (circuit?.brokenBy !== undefined)
      return { ok: false, kind: "terminal", reason: circuit.brokenBy };
    const outcome = await attemptOnce(prompt, maxOutputTokens, environment);
    if (outcome.ok || outcome.kind === "overflow") return outcome;
    const { kind, reason, restMs, retryAfterMs } = outcome;
    if (kind === "terminal" || (restMs !== undefined && attempt >= QUICK_ATTEMPTS)) {
      if (circuit !== undefined)
        Object.assign(circuit, { brokenBy: reason }, restMs !== undefined && { restMs });
      return { ok: false, kind: "terminal", reason };
    }
    if (attempt >= RETRY.attempts) return { ok: false, kind: "failed", reason };
    await sleep(
      retryDelay(attempt, random(), retryAfterMs),
      signal ?? new AbortController().signal,
    );
  }
}

/**
 * 500 ms, doubled per attempt, ±20 %, and no shorter than the provider
 * asks; within 500 to 5,000 ms.
 */
export function retryDelay(attempt: number, random: number, retryAfterMs = 0): number {
  const backoff = RETRY.minDelayMs * 2 ** (attempt - 1) * (1 + RETRY.jitter * (2 * random - 1));
  return Math.min(RETRY.maxDelayMs, Math.max(RETRY.minDelayMs, Math.round(backoff), retryAfterMs));
}

async function attemptOnce(
  prompt: string,
  maxOutputTokens: number,
  environment: RequestEnvironment,
): Promise<AttemptOutcome> {
  const {
    model,
    signal,
    timeoutMs = DEFAULT_TIMEOUT_MS,
    sleep = pause,
    onProgress,
    onUsage,
  } = environment;
  const request = linkSignals(signal);
  onProgress?.();
  const ask = async (): Promise<AttemptOutcome> => {
    const messages = [{ role: "user" as const, content: prompt }];
    const answer = await model.complete({
      model: model.ref,
      systemPrompt: SUMMARY_SYSTEM_PROMPT,
      messages,
      tools: [],
      maxOutputTokens,
      // How patient a summary is, is decided here.
      maxRetries: 0,
      signal: request.signal,
    });
    if (!answer.ok) return judgeError(answer.error);
    onUsage?.(answer.message.usage);
    return judgeMessage(answer.message);
  };
  const bound = async (): Promise<AttemptOutcome> => {
    await sleep(timeoutMs / 2, request.signal);
    onProgress?.();
    await sleep(timeoutMs / 2, request.signal);
    return {
      ok: false,
      kind: "terminal",
      reason: `the summarising model did not answer within ${timeoutMs / 1000} s`,
      restMs: REST_MS,
    };
  };
  try {
    // Neither a model nor a timer need listen to signals.
    return await abortable(signal, () => Promise.race([ask(), bound()]));
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    // A provider's abort that nobody here asked for is a failure like any other.
    const what = isAbort(error)
      ? "the provider broke the request off"
      : `the model port threw ${nameOf(error)}`;
    return { ok: false, kind: "again", reason: what, restMs: REST_MS };
  } finally {
    // Whichever lost the race ends by our own abort; that is nobody's failure.
    request.abort();
    onProgress?.();
  }
}

function judgeError(error: ModelError): AttemptOutcome {
  const reason = `the summarising model failed (${error.kind})`;
  switch (error.kind) {
    case "overflow":
      return { ok: false, kind: "overflow", reason };
    case "invalid_request":
    case "refused":
    case "signature":
    case "encrypted_content":
    case "pairing":
    case "reasoning_required":
    case "cache_rejected":
      return { ok: false, kind: "terminal", reason };
    case "timeout":
    case "auth":
    case "billing":
    case "not_found":
      return { ok: false, kind: "terminal", reason, restMs: REST_MS };
    case "rate_limited":
      return judgeLimit(reason, error.retryAfterMs);
    case "overloaded":
    case "unavailable":
    case "network":
    case "aborted":
      return { ok: false, kind: "again", reason, restMs: REST_MS };
    case "invalid_response":
      return { ok: false, kind: "again", reason };
  }
}

function judgeLimit(reason: string, retryAfterMs = 0): Failure {
  const isLong = retryAfterMs > LONGEST_ASKED_WAIT_MS;
  const restMs = isLong ? Math.min(retryAfterMs, LONGEST_REST_MS) : REST_MS;
  return { ok: false, kind: isLong ? "terminal" : "again", reason, retryAfterMs, restMs };
}

function judgeMessage(message: AssistantMessage): AttemptOutcome {
  if (message.stopReason === "error" || message.stopReason === "aborted")
    return { ok: false, kind: "again", reason: `the summary ended with "${message.stopReason}"` };
  const text = withoutFence(textOf(message).trim());
  if (text === "")
    return { ok: false, kind: "again", reason: "the summarising model returned no text" };
  if (isRefusal(text)) return { ok: false, kind: "again", reason: "the summarising model refused" };
  return { ok: true, text };
}

const withoutFence = (text: string) =>
  /^```[a-z]*\n([\s\S]*?)\n```$/i.exec(text)?.[1]?.trim() ?? text;

const REFUSAL =
  /^(?:i['’]m sorry|i am sorry|sorry,|i can(?:no|['’])t (?:help|assist|comply|summari[sz]e|provide)|i am unable|i['’]m unable|as an ai)\b/i;

/** A short text that begins like a refusal and has no heading. */
function isRefusal(text: string): boolean {
  return text.length < 800 && !/^#{1,3} /m.test(text) && REFUSAL.test(headOf(text, 80));
}

const nameOf = (error: unknown) => (error instanceof Error ? error.name : typeof error);
