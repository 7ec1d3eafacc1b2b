// Reads out of a request what it asks of thinking and of temperature.
import { type CallAsk, isRecord, type ModelCall } from "@clew/plugin-sdk/host";
import { bodyOf, buildRequest } from "./build-request.ts";
import { findDriver } from "./find-driver.ts";
import type { Endpoint } from "./provider.ts";
import { profileFor } from "./shared/profile.ts";

/**
 * "unsaid" nothing is said, and the model does what it usually does · "off" it does not think ·
 * "on" it thinks, as hard as a word or a number of tokens says where one is sent.
 */
export type ThinkingSent =
  | { kind: "unsaid" }
  | { kind: "off" }
  | { kind: "on"; effort?: string; budgetTokens?: number };

/**
 * What a call asks of thinking once its driver has fitted it to the model: read from the request
 * itself, so that nobody can be told anything else than the provider.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { thinkingSent } from "@clew/providers";
 *
 * const model = { provider: "anthropic", api: "anthropic-messages", id: "claude-opus-5-5" };
 * const sent = thinkingSent(
 *   {
 *     model: { ...model, contextWindow: 200_000, maxOutputTokens: 8000 },
 *     reasoning: { effort: "off" },
 *   },
 *   { baseUrl: "https://api.anthropic.com/v1" },
 * );
 * assert.deepEqual(sent, { kind: "on", effort: "low" });
 * ```
 */
export function thinkingSent(asked: AskedOfModel, endpoint: Endpoint): ThinkingSent {
  const sent = readSent(smallestBody(asked, endpoint));
  return sent.kind === "unsaid" && isQuietUnasked(asked.model, endpoint) ? { kind: "off" } : sent;
}

/** The temperature that is sent, read in the same way; undefined: none is. */
export function temperatureSent(asked: AskedOfModel, endpoint: Endpoint): number | undefined {
  const body = recordOf(smallestBody(asked, endpoint));
  const places = [body, body.inferenceConfig, generationConfigOf(body)].map(recordOf);
  const sent = places.map(({ temperature }) => temperature);
  return sent.find((temperature) => typeof temperature === "number");
}

/** A call, as far as it asks something. */
export type AskedOfModel = Pick<ModelCall, "model"> & CallAsk;

/** Null for a model inside this process. */
function smallestBody({ model, ...ask }: AskedOfModel, endpoint: Endpoint): unknown {
  if (findDriver(model.api)?.kind !== "wire") return null;
  const call: ModelCall = {
    ...ask,
    model,
    systemPrompt: "",
    messages: [{ role: "user", content: "Hi" }],
    tools: [],
    signal: new AbortController().signal,
  };
  return bodyOf(buildRequest(call, endpoint));
}

const generationConfigOf = (body: Record<string, unknown>): unknown =>
  recordOf(body.request).generationConfig ?? body.generationConfig;

/** Claude thinks only when it is asked to, where it can be without. */
function isQuietUnasked(model: ModelCall["model"], endpoint: Endpoint): boolean {
  const { reasoning } = profileFor(model, endpoint);
  return reasoning.carrier === "signed" && reasoning.ask === "budget" && reasoning.canStop;
}

/** Each wire has fields of its own; none has two of them. */
function readSent(body: unknown): ThinkingSent {
  const root = recordOf(body);
  const own = { ...root, ...recordOf(root.additionalModelRequestFields) };
  const gemini = recordOf(generationConfigOf(root));
  const config = recordOf(gemini.thinkingConfig);
  const thinking = recordOf(own.thinking);
  const nova = recordOf(own.reasoningConfig);
  const reasoning = recordOf(own.reasoning);
  if (typeof thinking.type === "string")
    return on(thinking.type, recordOf(own.output_config).effort, thinking.budget_tokens);
  if (config.thinkingBudget === 0) return { kind: "off" };
  if (config.thinkingLevel !== undefined || config.thinkingBudget !== undefined)
    return on("enabled", config.thinkingLevel, config.thinkingBudget);
  if (typeof nova.type === "string") return on(nova.type, nova.maxReasoningEffort);
  if (reasoning.enabled === false) return { kind: "off" };
  const word = reasoning.effort ?? own.reasoning_effort;
  if (word === "none") return { kind: "off" };
  if (word !== undefined || reasoning.max_tokens !== undefined)
    return on("enabled", word, reasoning.max_tokens);
  return { kind: "unsaid" };
}

const on = (type: string, effort?: unknown, budget?: unknown): ThinkingSent =>
  type === "disabled"
    ? { kind: "off" }
    : {
        kind: "on",
        ...(typeof effort === "string" && { effort: effort.toLowerCase() }),
        ...(typeof budget === "number" && { budgetTokens: budget }),
      };

const recordOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
