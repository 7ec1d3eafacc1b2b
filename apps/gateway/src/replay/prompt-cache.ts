// Tells what of played requests a provider's prompt cache would have given back.
import { whatIsSaid } from "@clew/engine-core";
import type { AgentMessage, Usage } from "@clew/plugin-sdk/core";
import { fixedTokensOf, type ModelCall, type ModelRef } from "@clew/plugin-sdk/host";
import { estimateMessage } from "@clew/plugin-sdk/tokens";

export interface PlayedCache {
  /** Of the next request; a reply of `output` tokens comes at `now`, ms since the epoch. */
  usage(call: ModelCall, output: number, now: number): Usage;
}

/** How long a provider keeps a prompt that nobody says otherwise of, ms. */
const USUAL_TTL_MS = 5 * 60_000;

/**
 * The beginning that a request has in common with the one before comes out of the cache, what
 * follows goes into it. Estimated: nothing was sent.
 */
export function createPlayedCache(): PlayedCache {
  let before: { fixed: string; messages: readonly AgentMessage[]; at: number } | undefined;
  return {
    usage(call, output, now) {
      const fixed = JSON.stringify([
        call.model.provider,
        call.model.id,
        call.systemPrompt,
        call.tools,
      ]);
      const isKept =
        before !== undefined && before.fixed === fixed && now - before.at <= keptMsOf(call.model);
      const kept = isKept ? sameBeginning(before!.messages, call.messages) : 0;
      const tokens = call.messages.map((message) => estimateMessage(message).estimate);
      const sum = (values: readonly number[]) => values.reduce((total, one) => total + one, 0);
      const fixedTokens = fixedTokensOf([{ text: call.systemPrompt }], call.tools);
      const read = isKept ? fixedTokens + sum(tokens.slice(0, kept)) : 0;
      const total = Math.ceil(fixedTokens + sum(tokens));
      const cacheRead = large(Math.floor(read), call);
      before = { fixed, messages: call.messages, at: now };
      return {
        ...{ input: 0, output, cacheRead, cacheWrite: total - cacheRead },
        totalTokens: total + output,
      };
    },
  };
}

/** How long a provider keeps a prompt, ms. */
export const keptMsOf = ({ cacheTtlMs = USUAL_TTL_MS }: Pick<ModelRef, "cacheTtlMs">): number =>
  cacheTtlMs;

/** Shorter beginnings are not kept. */
const large = (tokens: number, { model }: ModelCall): number =>
  tokens < (model.profile?.cache.minTokens ?? 0) ? 0 : tokens;

const isSaidAlike = (one: AgentMessage, other: AgentMessage): boolean =>
  JSON.stringify(whatIsSaid(one)) === JSON.stringify(whatIsSaid(other));

function sameBeginning(before: readonly AgentMessage[], now: readonly AgentMessage[]): number {
  const differs = now.findIndex(
    (message, at) =>
      message !== before[at] && (before[at] === undefined || !isSaidAlike(message, before[at])),
  );
  return differs < 0 ? now.length : differs;
}
