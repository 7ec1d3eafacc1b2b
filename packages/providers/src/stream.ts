// Streams one model call, with retries, an idle timeout and abort.
import type { AssistantMessage } from "@clew/plugin-sdk/core";
import type { ModelCall, ModelError, StreamEvent } from "@clew/plugin-sdk/host";
import { sleep } from "@clew/plugin-sdk/host";
import { unknownApi } from "./build-request.ts";
import { findDriver } from "./find-driver.ts";
import type { Endpoint, WireDriver } from "./provider.ts";
import type { FailureOrigin } from "./shared/failure-origin.ts";
import { unknownFlavor } from "./shared/flavor.ts";
import { type AnswerLimit, openAnswer } from "./shared/http.ts";
import { silentOverflow } from "./shared/overflow.ts";
import { ReplyBuilder } from "./shared/reply.ts";
import { DEFAULT_RETRY, planRetry, type RetryNotice, type RetryOptions } from "./shared/retry.ts";
import { secretsOf } from "./shared/secrets.ts";
import { type RequestSigner, signRequest } from "./shared/sign.ts";
import { whyUnsendable } from "./shared/unsendable.ts";
import { abortError, silentOverflowError } from "./shared/wire-errors.ts";

/**
 * Longest silence of a provider, in ms: a large local model may need minutes before its first
 * token.
 */
export const DEFAULT_IDLE_TIMEOUT_MS = 240_000;

/** Longest a call may take, in ms: what goes on for longer than an hour does not end. */
export const DEFAULT_MAX_DURATION_MS = 3_600_000;

/** A hundred times what the longest replies of today come to. */
export const DEFAULT_ANSWER_LIMIT: AnswerLimit = {
  bytes: 256 * 1024 * 1024,
  setting: "answerLimit",
};

/** One call, where it goes, and how patient its caller is. */
export interface StreamModelOptions {
  /** What is asked. */
  call: ModelCall;
  /** Where; a local driver ignores it. */
  endpoint: Endpoint;
  /**
   * Signs each try, where a provider wants more than a key in a header. Default: requests are sent
   * as they are built.
   */
  sign?: RequestSigner;
  /** Default: the platform's. */
  fetch?: typeof globalThis.fetch;
  /** Longest wait for the answer to begin, and between two pieces of it; ms. Default: 240,000. */
  idleTimeoutMs?: number;
  /** The setting that raises it, for the error's message. Default: none is named. */
  idleSetting?: string;
  /** Longest a call may take from its sending to its end, ms. Default: 3,600,000. */
  maxDurationMs?: number;
  /**
   * Most bytes of one answer, unpacked; one that is larger ends the call with what had arrived.
   * Default: 256 MiB.
   */
  answerLimit?: AnswerLimit;
  /** Default: twice, after 0.5 s and 1 s, never later than 30 s. */
  retry?: Partial<RetryOptions>;
  /** Told before each wait for a retry, as `call.onRetry` is. Default: nobody is. */
  onRetry?: (notice: RetryNotice) => void;
  /** ms since the epoch; stamps messages. Default: the wall clock. */
  now?: () => number;
  /** 0 ≤ x < 1; spreads the waits of retries. Default: `Math.random`. */
  random?: () => number;
}

/**
 * One model call as a stream of events; the last is `done` or `error`, exactly one. Never throws
 * for what a provider did. Aborting `call.signal` ends it with kind "aborted" and what had arrived.
 * Only a call of which nothing had arrived is tried again.
 * @example
 * ```ts
 * import { streamModel } from "@clew/providers";
 *
 * const call = {
 *   model: {
 *     provider: "offline",
 *     api: "offline",
 *     id: "offline",
 *     contextWindow: 32_000,
 *     maxOutputTokens: 1000,
 *   },
 *   systemPrompt: "",
 *   messages: [{ role: "user" as const, content: "The code is 7391. What is the code?" }],
 *   tools: [],
 *   signal: new AbortController().signal,
 * };
 * for await (const event of streamModel({ call, endpoint: { baseUrl: "" } })) {
 *   if (event.type === "text") process.stdout.write(event.delta);
 *   if (event.type === "error") throw new Error(event.error.message);
 * }
 * ```
 *
 * ```text
 * From the person's message: “The code is 7391.”
 * ```
 */
export async function* streamModel(
  options: StreamModelOptions,
): AsyncGenerator<StreamEvent, void, undefined> {
  const { call, endpoint, now = Date.now } = options;
  const driver = findDriver(call.model.api);
  const flaw = unknownFlavor(endpoint);
  const refuse = (error: ModelError) => errorEvent(call, now, error);
  if (call.signal.aborted) yield refuse(unsent(abortError()));
  else if (driver === undefined)
    yield refuse({ kind: "invalid_request", message: unknownApi(call.model.api) });
  else if (flaw !== undefined) yield refuse({ kind: "invalid_request", message: flaw });
  else if (driver.kind === "local") yield* driver.stream({ call, now });
  else yield* streamWire(driver, { ...options, now });
}

/**
 * The same call, gathered: the reply, or why there is none with what had arrived. Never throws for
 * what a provider did.
 */
export async function completeModel(options: StreamModelOptions): Promise<CompleteResult> {
  for await (const event of streamModel(options)) {
    if (event.type === "done") {
      const { message, leftOut } = event;
      return { ok: true, message, ...(leftOut !== undefined && { leftOut }) };
    }
    if (event.type === "error") return { ok: false, error: event.error, partial: event.partial };
  }
  throw new Error("A driver ended its stream without a final event; this is a bug in the driver.");
}

/** The reply, or why there is none and what had arrived. */
export type CompleteResult =
  /** `leftOut`: what the call asked and the request did not, and why. Absent: nothing. */
  | { ok: true; message: AssistantMessage; leftOut?: readonly string[] }
  | { ok: false; error: ModelError; partial: AssistantMessage };

async function* streamWire(
  driver: WireDriver,
  options: StreamModelOptions & { now: () => number },
): AsyncGenerator<StreamEvent> {
  const {
    call,
    endpoint,
    now,
    random = Math.random,
    idleTimeoutMs = DEFAULT_IDLE_TIMEOUT_MS,
    idleSetting,
    maxDurationMs = DEFAULT_MAX_DURATION_MS,
    answerLimit = DEFAULT_ANSWER_LIMIT,
  } = options;
  const { maxRetries = options.retry?.maxRetries ?? DEFAULT_RETRY.maxRetries } = call;
  const retryOptions = { ...DEFAULT_RETRY, ...options.retry, maxRetries } satisfies RetryOptions;
  const { provider, api } = call.model;
  const request = driver.buildRequest(call, endpoint);
  const leftOut = driver.leavesOut?.(call) ?? [];
  for (let retriesDone = 0; ; retriesDone++) {
    const signed = await signRequest(request, options.sign, call.signal);
    if (!signed.ok) return yield errorEvent(call, now, unsent(signed.error));
    const secrets = secretsOf(signed.request.headers);
    const origin: FailureOrigin = { provider, api, endpoint, now, secrets };
    const unsendable = whyUnsendable(signed.request, origin);
    if (unsendable !== undefined) return yield errorEvent(call, now, unsendable);
    const answer = await openAnswer({
      request: signed.request,
      origin,
      signal: call.signal,
      fetch: options.fetch ?? globalThis.fetch,
      idleTimeoutMs,
      idleSetting,
      maxDurationMs,
      answerLimit,
    });
    if (answer.ok) {
      const decoder = driver.createDecoder({
        call,
        endpoint,
        contentType: answer.contentType,
        now,
        secrets,
      });
      for await (const piece of answer.pieces) {
        const events =
          piece.kind === "bytes"
            ? decoder.push(piece.bytes)
            : piece.kind === "end"
              ? decoder.end()
              : decoder.fail(piece.error);
        for (const event of events)
          yield withLeftOut(distrustSilentOverflow(event, call, origin), leftOut);
        if (events.at(-1)?.type === "done") answer.isWhole();
        if (events.some(isFinal)) return;
      }
      return;
    }
    const plan = planRetry({
      error: answer.error,
      retriesDone,
      options: retryOptions,
      random: random(),
    });
    if (plan.kind === "stop") return yield errorEvent(call, now, answer.error);
    const { error } = answer;
    const { delayMs } = plan;
    const whyNot = await call.onRetry?.({ error, delayMs });
    if (whyNot !== undefined) return yield errorEvent(call, now, notRepeated(error, whyNot));
    options.onRetry?.({ error, retry: retriesDone + 1, delayMs });
    await sleep(delayMs, call.signal).catch(() => {});
    if (call.signal.aborted) return yield errorEvent(call, now, unsent(abortError()));
  }
}

const unsent = (error: ModelError): ModelError => ({ ...error, unsent: true });

const notRepeated = (error: ModelError, why: string): ModelError => ({
  ...error,
  message: `${error.message} It was not tried again: ${why}`,
});

const withLeftOut = (event: StreamEvent, leftOut: readonly string[]): StreamEvent =>
  event.type === "done" && leftOut.length > 0 ? { ...event, leftOut } : event;

const isFinal = (event: StreamEvent) => event.type === "done" || event.type === "error";

/**
 * A reply whose usage says that the prompt did not fit is an overflow, so that hosts shrink the
 * context instead of keeping it.
 */
function distrustSilentOverflow(
  event: StreamEvent,
  { model }: ModelCall,
  origin: FailureOrigin,
): StreamEvent {
  const observed =
    event.type === "done" ? silentOverflow(event.message, model.contextWindow) : undefined;
  if (event.type !== "done" || observed === undefined) return event;
  const error = silentOverflowError(observed, model.contextWindow, origin);
  return {
    type: "error",
    error,
    partial: { ...event.message, stopReason: "error", errorMessage: error.message },
  };
}

function errorEvent(call: ModelCall, now: () => number, error: ModelError): StreamEvent {
  const partial = new ReplyBuilder(call, now).message(
    error.kind === "aborted" ? "aborted" : "error",
    error.message,
  );
  return { type: "error", error, partial };
}
