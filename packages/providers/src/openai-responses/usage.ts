// What a Responses answer was billed for.
import type { Usage } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import { tellsCounts, tokenCount } from "../shared/token-count.ts";

/** Undefined: the server did not count the prompt. `input_tokens` holds what was cached. */
export function readUsage(usage: unknown): Usage | undefined {
  if (!isRecord(usage)) return undefined;
  if (!tellsCounts([usage.input_tokens], [usage.output_tokens])) return undefined;
  const prompt = tokenCount(usage.input_tokens);
  const output = tokenCount(usage.output_tokens);
  const details = isRecord(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const cacheRead = Math.min(prompt, tokenCount(details.cached_tokens));
  const cacheWrite = Math.min(prompt - cacheRead, tokenCount(details.cache_write_tokens));
  return {
    input: prompt - cacheRead - cacheWrite,
    output,
    cacheRead,
    cacheWrite,
    totalTokens: tokenCount(usage.total_tokens) || prompt + output,
  };
}
