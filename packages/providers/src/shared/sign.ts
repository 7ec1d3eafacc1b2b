// Signs a request right before it is sent.
import type { ModelError } from "@clew/plugin-sdk/host";
import type { WireRequest } from "../provider.ts";
import { abortError } from "./wire-errors.ts";

/**
 * Gives the headers by which a complete request is signed; they win over its own. Asked again
 * before each try, because signatures age. What it throws ends the call, with its message as the
 * reason: a sentence without secrets.
 */
export type RequestSigner = (
  request: WireRequest,
  options: { signal: AbortSignal },
) => Promise<Readonly<Record<string, string>>>;

export type Signed = { ok: true; request: WireRequest } | { ok: false; error: ModelError };

/** Never throws; a signer that does not come back is not waited for after an abort. */
export async function signRequest(
  request: WireRequest,
  sign: RequestSigner | undefined,
  signal: AbortSignal,
): Promise<Signed> {
  if (sign === undefined) return { ok: true, request };
  const waiting = new AbortController();
  try {
    const headers = await Promise.race([
      sign(request, { signal }),
      aborted(signal, waiting.signal),
    ]);
    if (headers === undefined) return { ok: false, error: abortError() };
    return { ok: true, request: { ...request, headers: { ...request.headers, ...headers } } };
  } catch (cause) {
    if (signal.aborted) return { ok: false, error: abortError() };
    const message = cause instanceof Error ? cause.message : String(cause);
    return { ok: false, error: { kind: "auth", message } };
  } finally {
    waiting.abort();
  }
}

/** Undefined when `signal` is aborted; listens until `until`. */
const aborted = (signal: AbortSignal, until: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    const options = { once: true, signal: until };
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), options);
  });
