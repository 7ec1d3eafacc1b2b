// Reads what a recorded reply was billed for, in the words of each wire.
import type { Usage } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import { memberOf } from "./strand.ts";

/** Anthropic's: what was cached is counted beside the input. Undefined: it says nothing. */
export function anthropicUsage(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined;
  return usageOf({
    input: countOf(value.input_tokens),
    output: countOf(value.output_tokens),
    cacheRead: countOf(value.cache_read_input_tokens),
    cacheWrite: countOf(value.cache_creation_input_tokens),
  });
}

/** OpenAI's, of both wires and of Codex: what was cached is counted within the input. */
export function openaiUsage(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined;
  const all = countOf(value.input_tokens ?? value.prompt_tokens);
  const details = value.input_tokens_details ?? value.prompt_tokens_details;
  const told = countOf(value.cached_input_tokens ?? memberOf(details, "cached_tokens"));
  const cacheRead = Math.min(all, told);
  const output = countOf(value.output_tokens ?? value.completion_tokens);
  return usageOf({ input: all - cacheRead, output, cacheRead, cacheWrite: 0 });
}

function usageOf(counts: Omit<Usage, "totalTokens" | "cost">): Usage | undefined {
  const { input, output, cacheRead, cacheWrite } = counts;
  const totalTokens = input + output + cacheRead + cacheWrite;
  return totalTokens === 0 ? undefined : { ...counts, totalTokens };
}

const countOf = (value: unknown): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
