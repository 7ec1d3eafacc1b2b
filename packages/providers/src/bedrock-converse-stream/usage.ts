// What a Converse answer was billed for.
import type { Usage } from "@clew/plugin-sdk/core";
import { tellsCounts, tokenCount } from "../shared/token-count.ts";

/** Undefined: the server did not count the prompt. `inputTokens` holds no reads or writes. */
export function readUsage(usage: Readonly<Record<string, unknown>>): Usage | undefined {
  const { cacheReadInputTokens: read, cacheWriteInputTokens: written } = usage;
  if (!tellsCounts([usage.inputTokens, read, written], [usage.outputTokens])) return undefined;
  const input = tokenCount(usage.inputTokens);
  const output = tokenCount(usage.outputTokens);
  const cacheRead = tokenCount(read);
  const cacheWrite = tokenCount(written);
  const totalTokens = input + output + cacheRead + cacheWrite;
  return { input, output, cacheRead, cacheWrite, totalTokens };
}
