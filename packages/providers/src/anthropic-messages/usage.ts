// What a Messages answer was billed for.
import type { Usage } from "@clew/plugin-sdk/core";
import { tokenCount } from "../shared/token-count.ts";

/** Undefined when the server told nothing. Its `input_tokens` hold neither reads nor writes. */
export function readUsage(usage: Readonly<Record<string, unknown>>): Usage | undefined {
  if (typeof usage.input_tokens !== "number" && typeof usage.output_tokens !== "number")
    return undefined;
  const input = tokenCount(usage.input_tokens);
  const output = tokenCount(usage.output_tokens);
  const cacheRead = tokenCount(usage.cache_read_input_tokens);
  const cacheWrite = tokenCount(usage.cache_creation_input_tokens);
  const totalTokens = input + output + cacheRead + cacheWrite;
  return { input, output, cacheRead, cacheWrite, totalTokens };
}
