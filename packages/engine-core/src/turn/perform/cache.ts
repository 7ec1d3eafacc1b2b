// Compares a request with the session's last one, for the provider's prompt cache.
import type { Usage } from "@clew/plugin-sdk/core";
import type { CallAsk, ModelRef, ProviderTold } from "@clew/plugin-sdk/host";
import { profileOf } from "../../recovery/remedy.ts";
import type { CacheReport, ReportItem } from "../../report.ts";
import { predictCache, type SentRequest } from "../../request/predict-cache.ts";
import type { RequestDescription } from "../../request/request-items.ts";
import type { World } from "./world.ts";

/** What is expected of the cache, and what to remember of the request once it is answered. */
export interface CachePlan {
  expected: Pick<CacheReport, "predicted" | "broke">;
  sent: Omit<SentRequest, "at" | "responseId">;
}

export function planCache(
  { state, setup, ports }: World,
  { system, tools, messages, shared }: RequestDescription,
  { cache }: CallAsk,
): CachePlan {
  const { model, settings } = setup;
  const { how, minTokens, shortMs, longMs } = profileOf(model).cache;
  const retention = cache?.retention ?? "short";
  const expected = predictCache(state.sent, {
    ...{ model: cacheName(model), now: ports.clock.now(), tools, system },
    ...{ kept: shared.messages, keptTokens: shared.tokens, tokenRatio: settings.tokenRatio },
    cache: how === "none" ? "none" : retention === "none" ? "not-asked" : "asked",
    minTokens,
  });
  return {
    expected,
    sent: {
      model: cacheName(model),
      keptMs: (retention === "long" ? longMs : null) ?? shortMs ?? model.cacheTtlMs ?? null,
      tools: hashesOf(tools),
      system: hashesOf(system),
      messages: messages.kept + messages.items.length,
    },
  };
}

const hashesOf = (items: readonly ReportItem[]): string[] => items.map(({ hash }) => hash);

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
