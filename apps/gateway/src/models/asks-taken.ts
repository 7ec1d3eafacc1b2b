// Which of the things that settings ask of a model its route takes at all.
import { type CallAsk, findProvider, type ModelRef } from "@clew/plugin-sdk/host";
import { buildRequest, type Endpoint, serverAt } from "@clew/providers";

/** A setting of calls besides thinking. */
export type AskPart =
  | "cacheRetention"
  | "serviceTier"
  | "temperature"
  | "maxTokens"
  | "parallelToolCalls"
  | "clearToolResultsAbove"
  | "compactAbove";

/** Where a call goes. */
export interface AskRoute {
  model: ModelRef;
  endpoint: Endpoint;
}

/** Two asks that differ in one part only. */
const PAIRS: Readonly<Record<AskPart, readonly [CallAsk, CallAsk]>> = {
  cacheRetention: [{ cache: { retention: "none" } }, { cache: { retention: "long" } }],
  serviceTier: [{}, { serviceTier: "any" }],
  temperature: [{}, { temperature: 0.5 }],
  maxTokens: [{ maxOutputTokens: 1000 }, { maxOutputTokens: 2000 }],
  parallelToolCalls: [{}, { parallelToolCalls: false }],
  clearToolResultsAbove: [{}, { serverContext: { clearToolResultsAbove: 50_000 } }],
  compactAbove: [{}, { serverContext: { compactAbove: 60_000 } }],
};

/** Pure. True: the request says it; what makes no difference to its bytes is not asked. */
export function takesAsk(part: AskPart, route: AskRoute): boolean {
  const [without, asking] = PAIRS[part].map((ask) => bytesOf(ask, route));
  return without !== asking;
}

/** Null: it runs in this process and is asked nothing. */
function bytesOf(ask: CallAsk, { model, endpoint }: AskRoute): string | null {
  try {
    return JSON.stringify(
      buildRequest(
        {
          ...ask,
          model,
          systemPrompt: "s",
          messages: [{ role: "user", content: "u" }],
          tools: [{ name: "t", description: "", parameters: { type: "object" } }],
          signal: new AbortController().signal,
          sessionId: "s",
        },
        endpoint,
      ),
    );
  } catch {
    return null;
  }
}

/**
 * Pure. Why a class of service is kept from a provider; undefined: it is one of its own, or nobody
 * recorded which it has. A fallback is another vendor's, and would refuse the request for it.
 */
export function foreignTier(tier: string, { model, endpoint }: AskRoute): string | undefined {
  const { id, serviceTiers } = serverAt(endpoint) ?? findProvider(model.provider) ?? {};
  return serviceTiers === undefined || serviceTiers.includes(tier)
    ? undefined
    : `which ${id} does not have: it is not sent; there are ${serviceTiers.join(", ")}`;
}
