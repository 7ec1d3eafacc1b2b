// What a Converse answer was billed for.
import type { Usage } from "@clew/plugin-sdk/core";
import { tokenCount } from "../shared/token-count.ts";

/** Undefined when the server told nothing. Its `inputTokens` hold neither reads nor writes. */
export function readUsage(usage: Readonly<Record<string, unknown>>): Usage | undefined {
  if (typeof usage.inputTokens !== "number" && typeof usage.outputTokens !== "number")
    return undefined;
  const input = tokenCount(usage.inputTokens);
  const output = tokenCount(usage.outputTokens);
  const cacheRead = tokenCount(usage.cacheReadInputTokens);
  const cacheWrite = tokenCount(usage.cacheWriteInputTokens);
  const totalTokens = input + output + cacheRead + cacheWrite;
  return { input, output, cacheRead, cacheWrite, totalTokens };
}
