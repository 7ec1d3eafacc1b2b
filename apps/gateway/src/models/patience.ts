// How long a silent model server is waited for.

import type { StreamModelOptions } from "@clew/providers";
import type { ResolvedModel } from "./resolve.ts";

type Patience = Pick<
  StreamModelOptions,
  "idleTimeoutMs" | "idleSetting" | "maxDurationMs" | "fetch"
>;

/** Above this, `fetch` may give up before we do. */
const USUAL_MS = 240_000;
const HOUR_MS = 3_600_000;

/** Pure. What a call of the model says of time. */
export function patience({
  model: { provider },
  idleTimeoutMs,
}: Pick<ResolvedModel, "model" | "idleTimeoutMs">): Patience {
  const idleSetting = `models.providers.${provider}.timeoutSeconds`;
  if (idleTimeoutMs === undefined) return { idleSetting };
  if (idleTimeoutMs <= USUAL_MS) return { idleSetting, idleTimeoutMs };
  const limitMs = 2 * idleTimeoutMs;
  const maxDurationMs = Math.max(HOUR_MS, limitMs);
  return { idleSetting, idleTimeoutMs, maxDurationMs, fetch: patientFetch(limitMs) };
}

type Dispatcher = new (limits: { headersTimeout: number; bodyTimeout: number }) => object;

// Where Node keeps what sends its requests, in this and in older versions.
const DISPATCHERS = ["undici.globalDispatcher.2", "undici.globalDispatcher.1"].map((name) =>
  Symbol.for(name),
);
const byLimit = new Map<number, object>();

/** `fetch` gives up by itself after five minutes of silence, unless it is told another limit. */
export function patientFetch(limitMs: number): typeof globalThis.fetch {
  return (input, init) => {
    const dispatcher = dispatcherFor(limitMs);
    return globalThis.fetch(
      input,
      dispatcher === undefined ? init : ({ ...init, dispatcher } as RequestInit),
    );
  };
}

function dispatcherFor(limitMs: number): object | undefined {
  const known = byLimit.get(limitMs);
  if (known !== undefined) return known;
  // It is there as soon as somebody has looked at fetch.
  void globalThis.fetch;
  const place = DISPATCHERS.find((symbol) => Reflect.get(globalThis, symbol) !== undefined);
  if (place === undefined) return undefined;
  const { constructor: Dispatching } = Reflect.get(globalThis, place) as {
    constructor: Dispatcher;
  };
  const made = new Dispatching({ headersTimeout: limitMs, bodyTimeout: limitMs });
  byLimit.set(limitMs, made);
  return made;
}
