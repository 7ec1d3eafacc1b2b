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

/** The same ask with another value of one part; only where that part is asked. */
const INSTEAD: Readonly<Record<AskPart, (ask: CallAsk) => CallAsk>> = {
  // The short time is what a driver asks for by itself.
  cacheRetention: ({ cache }) => ({
    cache: { retention: cache?.retention === "short" ? "none" : "short" },
  }),
  serviceTier: ({ serviceTier }) => ({ serviceTier: `other than ${serviceTier}` }),
  // Some take no more than 1.
  temperature: ({ temperature }) => ({ temperature: temperature === 0 ? 1 : 0 }),
  maxTokens: ({ maxOutputTokens = 0 }) => ({ maxOutputTokens: maxOutputTokens + 1 }),
  parallelToolCalls: ({ parallelToolCalls }) => ({
    parallelToolCalls: parallelToolCalls === false,
  }),
  clearToolResultsAbove: ({ serverContext: { clearToolResultsAbove = 0, ...others } = {} }) => ({
    serverContext: { ...others, clearToolResultsAbove: clearToolResultsAbove + FAR },
  }),
  compactAbove: ({ serverContext: { compactAbove = 0, ...others } = {} }) => ({
    serverContext: { ...others, compactAbove: compactAbove + FAR },
  }),
};

/** Tokens; a provider takes what is too low for its own least. */
const FAR = 100_000;

/**
 * Pure. True: the request says it, beside everything else that is asked. What makes no difference
 * to its bytes is not asked, such as a temperature of a model that thinks.
 */
export const takesAsk = (part: AskPart, ask: CallAsk, route: AskRoute): boolean =>
  bytesOf(ask, route) !== bytesOf({ ...ask, ...INSTEAD[part](ask) }, route);

/** Most that a reply may be asked to have, tokens; undefined: nobody has said. */
export function replyLimit({ model }: AskRoute): number | undefined {
  const known = model.profile?.limits.maxOutputTokens;
  // What the settings say of a model is meant for it.
  return known === undefined || known === null ? undefined : Math.max(known, model.maxOutputTokens);
}

/**
 * Pure. From how many tokens on the provider compacts, where it does not at so few as are asked;
 * undefined: it does as it is asked.
 */
export function compactsFrom(ask: CallAsk, route: AskRoute): number | undefined {
  const asked = ask.serverContext?.compactAbove;
  if (asked === undefined) return undefined;
  const bytes = bytesOf(ask, route);
  const isSame = (compactAbove: number) =>
    bytesOf({ ...ask, serverContext: { ...ask.serverContext, compactAbove } }, route) === bytes;
  if (!isSame(asked + 1)) return undefined;
  let same = asked + 1;
  for (let other = asked + FAR; other - same > 1; ) {
    const between = Math.floor((same + other) / 2);
    if (isSame(between)) same = between;
    else other = between;
  }
  return same;
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
