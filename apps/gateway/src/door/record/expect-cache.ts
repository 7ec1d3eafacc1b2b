// Decides what of a client's request its provider's cache should give back.
import {
  type CacheReport,
  type NextRequest,
  predictCache,
  type ReportItem,
  type SentRequest,
} from "@clew/engine-core";
import type { Usage } from "@clew/plugin-sdk/core";
import { promptTokensOf } from "@clew/plugin-sdk/host";
import type { DoorTurn } from "../turn/door-turn.ts";

/** What is expected, and what the next request is held against. */
export interface ExpectedCache {
  expected: Pick<CacheReport, "predicted" | "broke" | "repeated">;
  sent: Omit<SentRequest, "at" | "counted" | "responseId">;
}

/** Pure. `before`: the session's last turn that was answered. */
export function expectCache(
  before: SentRequest | undefined,
  {
    turn: { call, upstream },
    request: { system, tools, messages, kept, moved },
    scale,
    now,
  }: {
    turn: Pick<DoorTurn, "call" | "upstream">;
    request: Record<"system" | "tools" | "messages", readonly ReportItem[]> & {
      kept: number;
      /** Of the messages behind them those that stood in the session's last request, estimated. */
      moved: number;
    };
    /** Tokens the provider counted for one of ours. */
    scale: number;
    /** ms since the epoch. */
    now: number;
  },
): ExpectedCache {
  const { name, model } = upstream.resolved;
  const { how = "none", minTokens = null, shortMs = null } = model.profile?.cache ?? {};
  const marks = how === "marks" && !holdsMarker(call.bytes) ? "not-asked" : "asked";
  const next: NextRequest = {
    ...{ model: name, now, tools, system, kept, tokenRatio: scale, minTokens },
    keptTokens: tokensIn(messages.slice(0, kept)),
    movedTokens: moved,
    cache: how === "none" ? "none" : marks,
  };
  return {
    expected: predictCache(before, next),
    sent: {
      model: name,
      keptMs: shortMs ?? model.cacheTtlMs ?? null,
      tools: tools.map(({ hash }) => hash),
      system: system.map(({ hash }) => hash),
      messages: messages.length,
      messageTokens: tokensIn(messages),
      wasRead: before?.model === name && before.wasRead,
    },
  };
}

/** To be remembered of a request that was answered. */
export function answeredRequest(
  { sent }: ExpectedCache,
  usage: Usage | undefined,
  at: number,
): SentRequest {
  const counted = usage === undefined ? 0 : promptTokensOf(usage);
  return {
    ...{ ...sent, at, responseId: undefined },
    counted: counted > 0 ? counted : null,
    wasRead: sent.wasRead || (usage?.cacheRead ?? 0) > 0,
  };
}

export const cacheReport = (
  { expected }: ExpectedCache,
  usage: Usage | undefined,
): CacheReport => ({
  ...expected,
  ...{ billed: usage?.cacheRead ?? null, written: usage?.cacheWrite ?? null },
});

const holdsMarker = ({ buffer, byteOffset, length }: Uint8Array): boolean =>
  Buffer.from(buffer, byteOffset, length).includes('"cache_control"');

const tokensIn = (items: readonly ReportItem[]) =>
  items.reduce((sum, { tokens }) => sum + tokens, 0);
