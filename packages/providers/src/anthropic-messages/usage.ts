// What a Messages answer was billed for.
import type { Usage } from "@clew/plugin-sdk/core";
import { tellsCounts, tokenCount } from "../shared/token-count.ts";

/** Undefined: the server did not count the prompt. `input_tokens` holds no reads or writes. */
export function readUsage(usage: Readonly<Record<string, unknown>>): Usage | undefined {
  const { cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage;
  if (!tellsCounts([usage.input_tokens, read, written], [usage.output_tokens])) return undefined;
  const input = tokenCount(usage.input_tokens);
  const output = tokenCount(usage.output_tokens);
  const cacheRead = tokenCount(read);
  const cacheWrite = tokenCount(written);
  const totalTokens = input + output + cacheRead + cacheWrite;
  return { input, output, cacheRead, cacheWrite, totalTokens };
}
