// Every row of the provider table as a route, and those of them that differ in policy or wire.
import type { Route } from "../policy.ts";
import { resolveTranscriptPolicy } from "../select.ts";
import { wireRules } from "../wires.ts";

const row = (
  provider: string,
  modelApi: string,
  modelId: string,
  model?: Route["model"],
): Route => ({
  provider,
  modelApi,
  modelId,
  ...(model && { model }),
});

export const ROUTES: readonly Route[] = [
  row("anthropic", "anthropic-messages", "claude-opus-4-6"),
  row("anthropic", "anthropic-messages", "claude-3-7-sonnet"),
  row("anthropic-vertex", "anthropic-messages", "claude-opus-4-6"),
  row("amazon-bedrock", "bedrock-converse-stream", "anthropic.claude-sonnet-4-6"),
  row("amazon-bedrock", "bedrock-converse-stream", "anthropic.claude-3-5-sonnet"),
  row("amazon-bedrock", "bedrock-converse-stream", "amazon.nova-pro"),
  row("minimax", "anthropic-messages", "MiniMax-M3"),
  row("minimax", "openai-completions", "MiniMax-M3"),
  row("proxy-x", "anthropic-messages", "claude-opus-4-6"),
  row("proxy-x", "anthropic-messages", "glm-9", { compat: { supportsReasoningEffort: false } }),
  row("google", "google-generative-ai", "gemini-3-pro"),
  row("google-gemini-cli", "google-gemini-cli", "gemini-3-pro"),
  row("proxy-x", "google-generative-ai", "gemini-3-pro"),
  row("google-antigravity", "google-antigravity", "claude-opus-4-6"),
  row("openai", "openai-responses", "gpt-5.5"),
  row("openai", "openai-chatgpt-responses", "gpt-5.5-codex"),
  row("openai", "openai-completions", "gpt-4.1"),
  row("azure-openai", "azure-openai-responses", "gpt-5.5"),
  row("proxy-x", "openai-responses", "gpt-5.5"),
  row("proxy-x", "openai-responses", "anthropic/claude-x"),
  row("proxy-x", "openai-completions", "qwen"),
  row("proxy-x", "openai-completions", "qwen", { reasoning: true }),
  row("mistral", "mistral-conversations", "mistral-large"),
  row("mistral", "openai-completions", "mistral-large"),
  row("openrouter", "openai-completions", "google/gemini-3"),
  row("openrouter", "openai-completions", "mistralai/devstral-2"),
  row("openrouter", "openai-completions", "anthropic/claude-opus-4.6"),
  row("opencode", "anthropic-messages", "claude-opus-4-6"),
  row("xai", "openai-responses", "grok"),
  row("xiaomi", "openai-completions", "mimo"),
  row("ollama", "ollama", "llama"),
  row("github-copilot", "anthropic-messages", "claude-opus-4-6"),
  row("github-copilot", "openai-responses", "gpt-5"),
  row("some-host", "some-api", "x"),
];

/** One route for each distinct pair of policy and wire. */
export const DISTINCT_ROUTES: readonly Route[] = [
  ...new Map(
    ROUTES.map((route) => [
      JSON.stringify([
        resolveTranscriptPolicy(route),
        String(wireRules(route).ids),
        route.modelApi,
      ]),
      route,
    ]),
  ).values(),
];

export const nameOf = ({ provider, modelApi, modelId }: Route): string =>
  `${provider} / ${modelApi} / ${modelId}`;
