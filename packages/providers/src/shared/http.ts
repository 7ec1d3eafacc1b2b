// Sends one request and reads its answer piece by piece.
import type { ModelError } from "@clew/plugin-sdk/host";
import type { WireRequest } from "../provider.ts";
import type { FailureOrigin } from "./failure-origin.ts";
import {
  abortError,
  answerTooLarge,
  classifyError,
  emptyAnswerError,
  endlessError,
  idleError,
  redirectError,
} from "./wire-errors.ts";

/** How large an answer may be. */
export interface AnswerLimit {
  /** Of everything that is sent, unpacked, whatever it says. */
  bytes: number;
  /** The setting that raises it, for the error's message. */
  setting: string;
}

export interface OpenAnswerOptions {
  request: WireRequest;
  /** Whose failure it is when there is none. */
  origin: FailureOrigin;
  /** Of the caller. */
  signal: AbortSignal;
  fetch: typeof globalThis.fetch;
  idleTimeoutMs: number;
  /** What allows more, for the error's message. */
  idleSetting?: string | undefined;
  /** Longest a call may take from its sending to its end; ms. */
  maxDurationMs: number;
  answerLimit: AnswerLimit;
}

export type AnswerPiece =
  | { kind: "bytes"; bytes: Uint8Array }
  | { kind: "end" }
  | { kind: "error"; error: ModelError };

/** An answer of which the first byte has arrived, or why none did. */
export type Answer =
  | {
      ok: true;
      contentType: string | null;
      pieces: AsyncIterable<AnswerPiece>;
      /** Nothing that matters is to come: who reads no further lets the next call have its way. */
      isWhole(): void;
    }
  | { ok: false; error: ModelError };

/** Bytes of an error body that are read at most. */
const ERROR_BODY_LIMIT = 65_536;
/** For how long at most: what went wrong is known from the status already. */
const ERROR_BODY_MS = 10_000;
/** Of the time in which something has to arrive, so that the status decides what is told. */
const ERROR_BODY_SHARE = 0.8;

/**
 * Sends the request and waits for the first byte of a 2xx answer. Never throws for what a server or
 * network did.
 */
export async function openAnswer(options: OpenAnswerOptions): Promise<Answer> {
  const { request, origin } = options;
  const watch = watchdog(options.signal, options, origin);
  const failed = (cause: unknown): Answer => {
    watch.stop();
    return { ok: false, error: watch.error() ?? classifyError({ kind: "network", cause }, origin) };
  };
  try {
    const { method, headers, body } = request;
    // A fetch that ignores its signal must not hold the caller.
    const response = await Promise.race([
      // Never on to another address: the request holds the key and the conversation.
      options.fetch(request.url, {
        method,
        headers,
        body,
        signal: watch.signal,
        redirect: "manual",
      }),
      watch.ended,
    ]);
    if (response === undefined) return failed(undefined);
    const reader = response.body?.getReader();
    watch.onEnd(() => void reader?.cancel().catch(() => {}));
    if (isRedirect(response)) {
      watch.stop();
      reader?.cancel().catch(() => {});
      return { ok: false, error: redirectError(response, origin) };
    }
    if (!response.ok) {
      watch.touch();
      const bodyMs = Math.min(ERROR_BODY_MS, ERROR_BODY_SHARE * options.idleTimeoutMs);
      const text = reader === undefined ? "" : await readText(reader, bodyMs);
      watch.stop();
      const failure = {
        kind: "http",
        status: response.status,
        headers: response.headers,
        body: text,
      } as const;
      return { ok: false, error: watch.error() ?? classifyError(failure, origin) };
    }
    watch.touch();
    const first = reader === undefined ? undefined : await firstBytes(reader);
    const error = watch.error();
    if (reader === undefined || first === undefined || error !== undefined) {
      watch.stop();
      return { ok: false, error: error ?? emptyAnswerError(origin) };
    }
    const state = { isWhole: false };
    return {
      ok: true,
      contentType: response.headers.get("content-type"),
      pieces: readPieces(first, reader, watch, origin, options.answerLimit, state),
      isWhole() {
        state.isWhole = true;
      },
    };
  } catch (cause) {
    return failed(cause);
  }
}

/** A browser tells no more of one than that it was one. */
const isRedirect = ({ status, type }: Response): boolean =>
  type === "opaqueredirect" || (status >= 300 && status < 400);

type Reader = ReadableStreamDefaultReader<Uint8Array>;
type Watchdog = ReturnType<typeof watchdog>;

async function* readPieces(
  first: Uint8Array,
  reader: Reader,
  watch: Watchdog,
  origin: FailureOrigin,
  limit: AnswerLimit,
  state: { readonly isWhole: boolean },
): AsyncGenerator<AnswerPiece> {
  let ended = false;
  let bytes = first.byteLength;
  try {
    yield { kind: "bytes", bytes: first };
    while (true) {
      if (bytes > limit.bytes) return yield { kind: "error", error: answerTooLarge(limit, origin) };
      watch.touch();
      const { done, value } = await reader.read();
      const error = watch.error();
      ended = done;
      if (error !== undefined) return yield { kind: "error", error };
      if (done) return yield { kind: "end" };
      bytes += value.byteLength;
      if (bytes <= limit.bytes) yield { kind: "bytes", bytes: value };
    }
  } catch (cause) {
    yield {
      kind: "error",
      error: watch.error() ?? classifyError({ kind: "network", cause, started: true }, origin),
    };
  } finally {
    watch.stop();
    // The final event came before the end of the body, or the caller stopped reading.
    if (!ended && state.isWhole) readToEnd(reader);
    else if (!ended) reader.cancel().catch(() => {});
  }
}

/** How long the end of a whole answer is waited for, and bytes before it. */
const LAST_BYTES_MS = 1000;
const LAST_BYTES = 65_536;

/** A connection whose answer is cut off is closed, and the next call would need a new one. */
function readToEnd(reader: Reader): void {
  const cancel = () => void reader.cancel().catch(() => {});
  const late = setTimeout(cancel, LAST_BYTES_MS);
  late.unref?.();
  const readOn = async () => {
    for (let bytes = 0; bytes <= LAST_BYTES; ) {
      const { done, value } = await reader.read();
      if (done) return;
      bytes += value.byteLength;
    }
    cancel();
  };
  readOn()
    .catch(() => {})
    .finally(() => clearTimeout(late));
}

async function firstBytes(reader: Reader): Promise<Uint8Array | undefined> {
  while (true) {
    const { done, value } = await reader.read();
    if (done) return undefined;
    if (value.byteLength > 0) return value;
  }
}

/** What arrives of a text in so many ms. */
async function readText(reader: Reader, forMs: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), forMs);
  });
  try {
    while (text.length < ERROR_BODY_LIMIT) {
      const read = await Promise.race([reader.read(), over]);
      if (read?.done === true) return text + decoder.decode();
      if (read === undefined) break;
      text += decoder.decode(read.value, { stream: true });
    }
  } finally {
    clearTimeout(timer);
  }
  reader.cancel().catch(() => {});
  return text;
}

/**
 * Ends a request when the caller aborts, when nothing arrives for `idleTimeoutMs`, and after
 * `maxDurationMs` whatever arrives; `touch` starts the first wait again.
 */
function watchdog(
  caller: AbortSignal,
  { idleTimeoutMs: idleMs, idleSetting: setting, maxDurationMs }: OpenAnswerOptions,
  origin: FailureOrigin,
) {
  const controller = new AbortController();
  const { signal } = controller;
  let reason: ModelError | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const longest = setTimeout(() => end(endlessError(maxDurationMs, origin)), maxDurationMs);
  const stop = () => {
    clearTimeout(timer);
    clearTimeout(longest);
    caller.removeEventListener("abort", onAbort);
  };
  const end = (error: ModelError) => {
    reason ??= error;
    stop();
    controller.abort();
  };
  const onAbort = () => end(abortError());
  const touch = () => {
    clearTimeout(timer);
    if (!signal.aborted)
      timer = setTimeout(() => end(idleError({ idleMs, setting }, origin)), idleMs);
  };
  const ended = new Promise<undefined>((resolve) =>
    signal.addEventListener("abort", () => resolve(undefined), { once: true }),
  );
  if (caller.aborted) onAbort();
  else caller.addEventListener("abort", onAbort, { once: true });
  touch();
  return {
    signal,
    ended,
    touch,
    stop,
    /** Why the request was ended by us; undefined while it was not. */
    error: () => reason,
    onEnd: (action: () => void) =>
      signal.aborted ? action() : signal.addEventListener("abort", action, { once: true }),
  };
}
