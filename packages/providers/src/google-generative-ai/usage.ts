// What a Gemini answer was billed for.
import type { Usage } from "@clew/plugin-sdk/core";
import { tokenCount } from "../shared/token-count.ts";

/**
 * Undefined when the server told nothing. Its prompt holds what came out of the cache, and its
 * candidates hold no thoughts.
 */
export function readUsage(usage: Readonly<Record<string, unknown>>): Usage | undefined {
  if (typeof usage.promptTokenCount !== "number" && typeof usage.candidatesTokenCount !== "number")
    return undefined;
  const cacheRead = tokenCount(usage.cachedContentTokenCount);
  const prompt = tokenCount(usage.promptTokenCount) + tokenCount(usage.toolUsePromptTokenCount);
  const input = Math.max(0, prompt - cacheRead);
  const output = tokenCount(usage.candidatesTokenCount) + tokenCount(usage.thoughtsTokenCount);
  return { input, output, cacheRead, cacheWrite: 0, totalTokens: input + cacheRead + output };
}
