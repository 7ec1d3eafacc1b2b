// Compares a request with the session's last one, for the provider's prompt cache.
import type { AssistantMessage, PromptCacheInfo, Usage } from "@clew/plugin-sdk/core";
import {
  type CallAsk,
  type ModelRef,
  type ProviderTold,
  promptTokensOf,
} from "@clew/plugin-sdk/host";
import { profileOf } from "../../recovery/remedy.ts";
import type { ReportItem } from "../../report/item.ts";
import type { CacheReport } from "../../report/model-call.ts";
import { predictCache, type SentRequest } from "../../request/predict-cache.ts";
import type { RequestDescription } from "../../request/request-items.ts";
import { keptOf, setAside } from "../../request/sent-aside.ts";
import type { ObservedCache } from "../../session/session-state.ts";
import type { World } from "./world.ts";

/** What is expected of the cache, and what to remember of the request once it is answered. */
export interface CachePlan {
  expected: Pick<CacheReport, "predicted" | "broke" | "repeated">;
  sent: Omit<SentRequest, "at" | "counted" | "wasRead" | "responseId">;
  /** The model billed something as read before. */
  wasRead: boolean;
}

export function planCache(
  { state, setup, ports }: World,
  { system, tools, messages, shared }: RequestDescription,
  { cache }: CallAsk,
): CachePlan {
  const { model, settings } = setup;
  const { how, minTokens, shortMs, longMs } = profileOf(model).cache;
  const retention = cache?.retention ?? "short";
  const name = cacheName(model);
  const aside = state.sentAside.get(name);
  const kept = aside === undefined ? shared : keptOf(aside, state.request);
  const before = aside?.sent ?? state.sent;
  const expected = predictCache(before, {
    ...{ model: name, now: ports.clock.now(), tools, system },
    ...{ kept: kept.messages, keptTokens: kept.tokens, movedTokens: kept.moved },
    tokenRatio: settings.tokenRatio,
    cache: how === "none" ? "none" : retention === "none" ? "not-asked" : "asked",
    minTokens,
  });
  return {
    expected,
    wasRead: before?.model === name && before.wasRead,
    sent: {
      model: name,
      keptMs: (retention === "long" ? longMs : null) ?? shortMs ?? model.cacheTtlMs ?? null,
      tools: hashesOf(tools),
      system: hashesOf(system),
      messages: messages.kept + messages.items.length,
      messageTokens: messages.tokens,
    },
  };
}

/** To be remembered of a request that was answered. */
export function sentRequest(
  { sent, wasRead }: CachePlan,
  { usage, responseId }: Pick<AssistantMessage, "usage" | "responseId">,
  at: number,
): SentRequest {
  const counted = usage === undefined ? 0 : promptTokensOf(usage);
  return {
    ...{ ...sent, at, responseId },
    counted: counted > 0 ? counted : null,
    wasRead: wasRead || (usage?.cacheRead ?? 0) > 0,
  };
}

/** Before the next request is described: what another model was asked is kept for its return. */
export const keepForReturn = ({ state, setup }: World): void =>
  setAside(state.sentAside, state.sent, { next: cacheName(setup.model), memory: state.request });

const hashesOf = (items: readonly ReportItem[]): string[] => items.map(({ hash }) => hash);

/** What engines are told of the cache; undefined before a call was answered. */
export function promptCacheInfo({
  state,
  setup,
}: Pick<World, "state" | "setup">): PromptCacheInfo | undefined {
  const { sent, lastUsage: usage, cache } = state;
  const isKept = profileOf(setup.model).cache.how !== "none" || sent?.wasRead === true;
  if (sent === undefined && usage === undefined) return undefined;
  return {
    retention: isKept ? (setup.ask.cache?.retention ?? "short") : "none",
    ...(usage !== undefined && {
      lastCallUsage: {
        input: usage.input,
        output: usage.output,
        cacheRead: usage.cacheRead,
        cacheWrite: usage.cacheWrite,
        total: usage.totalTokens,
      },
    }),
    ...(cache !== undefined && { observation: observed(cache) }),
    ...(sent !== undefined && isKept && { lastCacheTouchAt: sent.at }),
    ...(sent?.keptMs != null && isKept && { expiresAt: sent.at + sent.keptMs }),
  };
}

/** What broke a cache, in the words of the contract; of the rest it has none. */
const CHANGES: Readonly<Partial<Record<string, [code: string, detail: string]>>> = {
  "model-changed": ["model", "another model or account was asked before"],
  "tools-changed": ["tools", "the tools differ from those of the call before"],
  "system-changed": ["systemPrompt", "the system prompt differs from that of the call before"],
  "not-asked": ["cacheRetention", "the settings want no cache"],
};
/** Nothing was there that could have been read. */
const NOTHING_LOST: ReadonlySet<string> = new Set([
  "first-call",
  "not-cached",
  "not-asked",
  "too-small",
]);

function observed({
  report: { broke, billed, told },
  previousRead,
}: ObservedCache): NonNullable<PromptCacheInfo["observation"]> {
  const change = CHANGES[broke?.code ?? ""];
  return {
    broke: told !== undefined || (broke !== undefined && !NOTHING_LOST.has(broke.code)),
    ...(previousRead !== undefined && { previousCacheRead: previousRead }),
    ...(billed !== null && { cacheRead: billed }),
    ...(change !== undefined && { changes: [{ code: change[0], detail: change[1] }] }),
  };
}

/** Caches belong to accounts. */
const cacheName = ({ provider, id, account = "" }: ModelRef): string =>
  `${provider}/${id} ${account}`;

/** The provider's id of the last reply, if the same model is asked again. */
export function previousResponse({ state, setup }: World): { previousResponseId?: string } {
  const { model, responseId } = state.sent ?? {};
  return responseId === undefined || model !== cacheName(setup.model)
    ? {}
    : { previousResponseId: responseId };
}

export const cacheReport = (
  expected: CachePlan["expected"],
  usage: Usage | undefined,
  { cacheMiss }: ProviderTold,
): CacheReport => ({
  ...expected,
  billed: usage?.cacheRead ?? null,
  written: usage?.cacheWrite ?? null,
  ...(cacheMiss !== undefined && { told: cacheMiss }),
});
