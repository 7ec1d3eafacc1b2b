import { readFileSync } from "node:fs";
import { APIS, PROVIDERS } from "@clew/plugin-sdk/host";
import { describe, expect, it } from "vitest";
import { nameOf, ROWS, routeOf } from "./__fixtures__/routes.ts";
import { DEFAULT_POLICY, type PolicyFlags } from "./policies.ts";
import type { ModelTraits } from "./route.ts";
import { deriveFlags, resolveTranscriptPolicy } from "./select.ts";

const policyOf = (provider: string, modelApi: string, modelId: string, model?: ModelTraits) =>
  resolveTranscriptPolicy({ provider, modelApi, modelId, ...(model && { model }) });

/** One row of the table in shorthand: mode, ids, then the names of the flags that are on. */
function shorthand(flags: ReturnType<typeof policyOf>): string {
  const {
    sanitizeMode,
    sanitizeToolCallIds,
    toolCallIdMode,
    preserveNativeAnthropicToolUseIds,
    sanitizeThoughtSignatures,
  } = flags;
  const ids = sanitizeToolCallIds
    ? `${toolCallIdMode}${preserveNativeAnthropicToolUseIds ? "+toolu" : ""}`
    : "-";
  const columns: [keyof PolicyFlags, string][] = [
    ["preserveSignatures", "keepSig"],
    ["dropThinkingBlocks", "dropThink"],
    ["dropReasoningFromHistory", "dropReason"],
    ["applyGoogleTurnOrdering", "bootstrap"],
    ["validateGeminiTurns", "gemini"],
    ["validateAnthropicTurns", "anthropic"],
    ["allowSyntheticToolResults", "synth"],
    ["repairToolUseResultPairing", "repair"],
  ];
  const on = columns.filter(([flag]) => flags[flag]).map(([, name]) => name);
  return [
    sanitizeMode === "full" ? "full" : "img",
    ids,
    ...(sanitizeThoughtSignatures ? ["b64"] : []),
    ...on,
  ].join(" ");
}

describe("the provider table", () => {
  it.each(ROWS.map((row) => [nameOf(routeOf(row)), row] as const))("%s", (_name, row) => {
    expect(shorthand(resolveTranscriptPolicy(routeOf(row)))).toBe(row[3]);
  });

  it.each(PROVIDERS.filter(({ policy }) => policy !== undefined))(
    "has a row for each api $id speaks, because it has a policy of its own",
    ({ id, apis }) => {
      const rows = ROWS.filter(([provider]) => provider.trim().toLowerCase() === id);
      expect(rows.map(([, api]) => api)).toEqual(expect.arrayContaining([...apis]));
    },
  );

  it.each(APIS.filter(({ policy }) => policy !== undefined))(
    "has a row for $id, because that api has a policy",
    ({ id }) => {
      expect(ROWS.map(([, api]) => api)).toContain(id);
    },
  );

  const flags = Object.entries(DEFAULT_POLICY).flatMap(([flag, usual]) =>
    typeof usual === "boolean" ? [{ flag: flag as keyof typeof DEFAULT_POLICY, usual }] : [],
  );
  const documentation = readFileSync(new URL("./policies.ts", import.meta.url), "utf8");

  it.each(flags)("has a row that sets $flag, or nobody sets it and its comment says so", (each) => {
    const set = ROWS.some((row) => resolveTranscriptPolicy(routeOf(row))[each.flag] !== each.usual);
    const comment = new RegExp(`\\/\\*\\*((?:(?!\\*\\/)[\\s\\S])*)\\*\\/\\s*${each.flag}:`);
    const saysSo = /\b[Nn]obody (?:un)?sets it\b/.test(comment.exec(documentation)?.[1] ?? "");
    expect({ set, saysSo }).toEqual({ set: !saysSo, saysSo: !set });
  });

  it("gives nine-character ids to a Mistral model of any provider but OpenAI's", () => {
    expect(policyOf("ollama", "openai-completions", "mixtral-8x7b").toolCallIdMode).toBe("strict9");
    expect(policyOf("openai", "openai-completions", "mistral-tuned").toolCallIdMode).toBe("strict");
  });

  it("normalises the thinking of Claude behind Antigravity, and of nobody else there", () => {
    expect(policyOf("google-antigravity", "google-antigravity", "claude-opus-4-6")).toMatchObject({
      normalizeAntigravityThinkingBlocks: true,
      preserveSignatures: true,
    });
    expect(
      policyOf("google-antigravity", "google-antigravity", "gemini-3")
        .normalizeAntigravityThinkingBlocks,
    ).toBe(false);
  });

  it("lets a host add a provider and override one of ours", () => {
    const route = { modelApi: "openai-completions", modelId: "x" };
    const policies = {
      acme: { toolCallIdMode: "strict9" as const },
      mistral: () => ({ validateGeminiTurns: true }),
    };
    expect(resolveTranscriptPolicy({ ...route, provider: "acme", policies })).toMatchObject({
      toolCallIdMode: "strict9",
      applyGoogleTurnOrdering: true,
    });
    expect(resolveTranscriptPolicy({ ...route, provider: "mistral", policies })).toMatchObject({
      toolCallIdMode: "strict9",
      validateGeminiTurns: true,
    });
  });

  it("is not fooled by a provider named like a property of every object", () => {
    expect(policyOf("constructor", "toString", "x")).toEqual(
      policyOf("some-host", "some-api", "x"),
    );
  });

  it("keeps thinking turns whole only where thinking is signed, validated and accepted back", () => {
    const keeps = (provider: string, modelApi: string, modelId: string) =>
      deriveFlags(policyOf(provider, modelApi, modelId), { modelApi }).keepThinkingTurns;
    expect(keeps("anthropic", "anthropic-messages", "claude-opus-4-6")).toBe(true);
    expect(keeps("anthropic", "anthropic-messages", "claude-3-7-sonnet")).toBe(false);
    expect(keeps("opencode", "anthropic-messages", "claude-opus-4-6")).toBe(false);
    expect(keeps("google", "google-generative-ai", "gemini-3")).toBe(false);
  });
});
