// Asks a provider and an emulated one the same, and compares what came of it.
import type { AssistantMessage } from "@clew/plugin-sdk/core";
import type { ModelCall, ModelError, ModelRef } from "@clew/plugin-sdk/host";
import { modelProfile } from "@clew/plugin-sdk/host";
import { buildRequest, completeModel, type Endpoint, type RequestSigner } from "@clew/providers";
import { createEmulator, type Emulator } from "@clew/providers/testing";
import { isStandingRefusal } from "../models/explain-refusal.ts";
import type { Check, Given } from "./check.ts";
import { likeModel } from "./like-model.ts";

/** What came of the last call of a check. */
export type Outcome =
  | { kind: "taken"; shows: Readonly<Record<string, boolean>> }
  | { kind: "refused"; as: string; words: string }
  | { kind: "unanswered"; words: string }
  /** No later check would fare better. */
  | { kind: "barred"; error: ModelError };

export interface CheckResult {
  id: string;
  title: string;
  state: "same" | "different" | "unanswered" | "does-not-apply";
  /** Null where it does not apply. */
  provider: Outcome | null;
  emulator: Outcome | null;
}

export interface RunOptions {
  checks: readonly Check[];
  model: ModelRef;
  endpoint: Endpoint;
  sign?: RequestSigner;
  signal: AbortSignal;
}

/** Ends early where the provider bars this key, account or model. */
export async function* runChecks(options: RunOptions): AsyncGenerator<CheckResult> {
  const { checks, model, endpoint, sign, signal } = options;
  const emulator = await createEmulator(model.api, {
    answers: likeModel,
    tolerant: true,
    ...flavorOf(model),
  });
  try {
    const theirs: Side = { endpoint, fetch: globalThis.fetch, ...(sign && { sign }) };
    const ours: Side = {
      endpoint: { ...endpoint, apiKey: "emulated" },
      fetch: redirectedTo(emulator, endpoint),
    };
    for (const check of checks) {
      const { id, title } = check;
      if (check.applies?.(profileOf(model)) === false) {
        yield { id, title, state: "does-not-apply", provider: null, emulator: null };
        continue;
      }
      const told = await runOn(theirs, check, model, signal);
      if (signal.aborted) return;
      if (told.kind === "barred") {
        yield { id, title, state: "unanswered", provider: told, emulator: null };
        return;
      }
      const emulated = await runOn(ours, check, model, signal);
      yield { id, title, state: compare(told, emulated), provider: told, emulator: emulated };
    }
  } finally {
    await emulator.close();
  }
}

/** The rules of the server that is meant, where servers of one wire differ. */
function flavorOf({ api, provider }: ModelRef): { flavor?: string } {
  if (api === "anthropic-messages")
    return provider.startsWith("minimax") ? { flavor: "minimax" } : {};
  if (api === "mistral-conversations") return { flavor: "user-after-tool" };
  if (api !== "openai-completions") return {};
  const flavor = provider === "moonshot" ? "kimi" : provider;
  const known = ["openai", "groq", "deepseek", "kimi", "openrouter", "gemini", "vllm", "minimax"];
  return known.includes(flavor) ? { flavor } : {};
}

/** One of the two that are asked. */
interface Side {
  endpoint: Endpoint;
  sign?: RequestSigner;
  fetch: typeof globalThis.fetch;
}

/** Requests are built for the provider's address, so that both get the same. */
const redirectedTo =
  (emulator: Emulator, { baseUrl }: Endpoint): typeof globalThis.fetch =>
  (url, init) => {
    const { pathname, search } = new URL(String(url));
    const ofServer = pathname.slice(new URL(baseUrl).pathname.replace(/\/$/, "").length);
    const address = pathname.includes("/projects/")
      ? `${emulator.url}${pathname}`
      : `${emulator.baseUrl}${ofServer}`;
    return globalThis.fetch(`${address}${search}`, init);
  };

const profileOf = (model: ModelRef) => model.profile ?? modelProfile(model);

/** The calls of a check, with replies that are not known yet left out. */
export function callsOf(check: Check, model: ModelRef): ModelCall[] {
  const { signal } = new AbortController();
  return check.steps.map((_, at) => callAt(check, at, { model, signal, replies: [] }));
}

function callAt(
  check: Check,
  at: number,
  { model, signal, replies }: Pick<ModelCall, "model" | "signal"> & Pick<Given, "replies">,
): ModelCall {
  const profile = profileOf(model);
  const legal = new RegExp(profile.calls.ids);
  const stem = ["call_check0", "callchec0"].find((id) => legal.test(id)) ?? "check0";
  const given: Given = { profile, id: (digit) => stem.replace("0", `${digit}`), replies };
  const { messages, more } = check.steps[at]!;
  return {
    ...{ model, systemPrompt: "Be brief.", tools: [], maxOutputTokens: 200, signal },
    ...{ messages: messages(given), maxRetries: 1 },
    ...more,
  };
}

async function runOn(
  { endpoint, sign, fetch }: Side,
  check: Check,
  model: ModelRef,
  signal: AbortSignal,
): Promise<Outcome> {
  const replies: AssistantMessage[] = [];
  for (const [at, { needs }] of check.steps.entries()) {
    const shown = needs?.(replies.at(-1)!) ?? {};
    if (Object.values(shown).includes(false)) return { kind: "taken", shows: shown };
    const call = callAt(check, at, { model, signal, replies });
    const result = await completeModel({ call, endpoint, fetch, ...(sign && { sign }) });
    if (!result.ok) return outcomeOf(result.error);
    replies.push(result.message);
  }
  return { kind: "taken", shows: check.shows?.(replies.at(-1)!) ?? {} };
}

/** Kinds that say nothing about the request. */
const PASSING = ["rate_limited", "overloaded", "unavailable", "network", "timeout", "aborted"];

function outcomeOf(error: ModelError): Outcome {
  const { kind, message } = error;
  if (isStandingRefusal(error)) return { kind: "barred", error };
  if (PASSING.includes(kind)) return { kind: "unanswered", words: message };
  return { kind: "refused", as: kind, words: message };
}

/** Providers put one refusal into many words: that there is one is compared, not which. */
function compare(provider: Outcome, emulator: Outcome): CheckResult["state"] {
  if (provider.kind === "unanswered") return "unanswered";
  if (provider.kind !== emulator.kind) return "different";
  return provider.kind === "taken" && JSON.stringify(provider) !== JSON.stringify(emulator)
    ? "different"
    : "same";
}

/** Most that the checks can cost. */
export interface Estimate {
  calls: number;
  inputTokens: number;
  outputTokens: number;
  /** US dollars; null = no price is known. */
  cost: number | null;
}

/** By the bytes of each request, four to a token, and the longest reply it allows. */
export function estimateChecks(
  { checks, model, endpoint }: Pick<RunOptions, "checks" | "model" | "endpoint">,
  prices: { input: number; output: number } | null = profileOf(model).cost,
): Estimate {
  const calls = checks
    .filter(({ applies }) => applies?.(profileOf(model)) !== false)
    .flatMap((check) => callsOf(check, model));
  const sum = (of: (call: ModelCall) => number) =>
    calls.reduce((total, call) => total + of(call), 0);
  const inputTokens = sum((call) => Math.ceil(buildRequest(call, endpoint).body.length / 4));
  const outputTokens = sum(({ maxOutputTokens = 0 }) => maxOutputTokens);
  const cost =
    prices === null ? null : (inputTokens * prices.input + outputTokens * prices.output) / 1e6;
  return { calls: calls.length, inputTokens, outputTokens, cost };
}
