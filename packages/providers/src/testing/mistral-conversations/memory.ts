// What a Mistral server remembers of prompts.
import { tokensIn } from "../server/bill.ts";
import { canonical, text } from "../server/json.ts";
import type { PromptCache, Segment } from "../server/prompt-cache.ts";
import type { Accepted, WireMemory } from "../server/wire.ts";
import type { MistralView } from "./view.ts";

/** Nothing is cached for a request that names no key. */
export function createMemory(cache: PromptCache): WireMemory<MistralView, Accepted> {
  return {
    examine(view, { account }) {
      const key = text(view.body.prompt_cache_key);
      const rules = key === "" ? { minimumTokens: Number.POSITIVE_INFINITY } : {};
      const prompt = cache.settle(`${account} ${view.model} ${key}`, segmentsOf(view), rules);
      return { kind: "accepted", accepted: { prompt } };
    },
  };
}

/** Tools, then message by message. */
export function segmentsOf({ body, messages }: MistralView): Segment[] {
  return [body.tools ?? [], ...messages.map(({ value }) => value)].map((item) => {
    const content = canonical(item);
    return { content, tokens: tokensIn(content.length) };
  });
}
