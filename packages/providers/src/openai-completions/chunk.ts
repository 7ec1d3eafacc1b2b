// The parts of a Chat Completions answer that we read.
import type { Usage } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import { tellsCounts, tokenCount } from "../shared/token-count.ts";

/** A delta of one call; servers leave out what they do not know. */
export interface ToolCallDelta {
  index?: number | null;
  id?: string | null;
  function?: { name?: string | null; arguments?: unknown } | null;
  /** Google's signature of the thought behind the call. */
  extra_content?: unknown;
}

/** The signature in a call's `extra_content`; undefined when it has none. */
export function thoughtSignatureOf({ extra_content: extra }: ToolCallDelta): string | undefined {
  const google = isRecord(extra) ? extra.google : undefined;
  const signature = isRecord(google) ? google.thought_signature : undefined;
  return typeof signature === "string" && signature !== "" ? signature : undefined;
}

export interface Delta {
  /** Text; with Mistral also a list of texts and thoughts. */
  content?: string | readonly unknown[] | null;
  refusal?: string | null;
  /** DeepSeek, vLLM, llama.cpp. */
  reasoning_content?: string | null;
  /** Ollama, OpenRouter, Groq. */
  reasoning?: string | null;
  /** OpenRouter; beside `reasoning`, which says the same for people. */
  reasoning_details?: unknown;
  /** A list, as far as a server keeps to the wire. */
  tool_calls?: unknown;
}

export interface Choice {
  delta?: Delta | null;
  /** An answer that was not streamed. */
  message?: Delta | null;
  finish_reason?: string | null;
}

export interface Chunk {
  id?: unknown;
  choices?: Choice[] | null;
  usage?: ChatUsage | null;
  error?: unknown;
  /** "error" with Mistral, which tells the HTTP status beside it. */
  object?: unknown;
  raw_status_code?: unknown;
}

interface ChatUsage {
  prompt_tokens?: number | null;
  completion_tokens?: number | null;
  total_tokens?: number | null;
  prompt_tokens_details?: {
    cached_tokens?: number | null;
    cache_write_tokens?: number | null;
  } | null;
  /** DeepSeek. */
  prompt_cache_hit_tokens?: number | null;
}

/**
 * Billed tokens; `prompt_tokens` includes cached ones, our `input` does not. Undefined where
 * the server did not count the prompt.
 */
export function readUsage(usage: ChatUsage | null | undefined): Usage | undefined {
  if (!usage || !tellsCounts([usage.prompt_tokens], [usage.completion_tokens])) return undefined;
  const prompt = tokenCount(usage.prompt_tokens);
  const output = tokenCount(usage.completion_tokens);
  const cacheRead = Math.min(
    prompt,
    tokenCount(usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens),
  );
  const cacheWrite = Math.min(
    prompt - cacheRead,
    tokenCount(usage.prompt_tokens_details?.cache_write_tokens),
  );
  const input = prompt - cacheRead - cacheWrite;
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    totalTokens: tokenCount(usage.total_tokens) || prompt + output,
  };
}
