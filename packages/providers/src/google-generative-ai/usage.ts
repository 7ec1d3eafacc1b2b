// What a Gemini answer was billed for.
import type { Usage } from "@clew/plugin-sdk/core";
import { tellsCounts, tokenCount } from "../shared/token-count.ts";

/**
 * Undefined where the server did not count the prompt, which holds what came out of the cache. Its
 * candidates hold no thoughts.
 */
export function readUsage(usage: Readonly<Record<string, unknown>>): Usage | undefined {
  const { promptTokenCount, toolUsePromptTokenCount, candidatesTokenCount, thoughtsTokenCount } =
    usage;
  const asked = [promptTokenCount, toolUsePromptTokenCount];
  if (!tellsCounts(asked, [candidatesTokenCount, thoughtsTokenCount])) return undefined;
  const cacheRead = tokenCount(usage.cachedContentTokenCount);
  const prompt = tokenCount(promptTokenCount) + tokenCount(toolUsePromptTokenCount);
  const input = Math.max(0, prompt - cacheRead);
  const output = tokenCount(candidatesTokenCount) + tokenCount(thoughtsTokenCount);
  return { input, output, cacheRead, cacheWrite: 0, totalTokens: input + cacheRead + output };
}
