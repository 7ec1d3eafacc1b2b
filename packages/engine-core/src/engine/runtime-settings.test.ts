import { describe, expect, it } from "vitest";
import { buildRuntimeSettings, toReasonCode } from "./runtime-settings.ts";

describe("runtimeSettings", () => {
  it("has every group, null for unknown, and is frozen throughout", () => {
    const settings = buildRuntimeSettings({ selectedId: "  ", promptTokenBudget: Number.NaN });
    expect(settings).toEqual({
      schemaVersion: 1,
      runtime: { host: "openclaw", mode: "normal", harnessId: null, runtimeId: null },
      model: { requested: null, resolved: null, provider: null, family: null },
      contextEngineSelection: { selectedId: null, source: "unknown" },
      executionHost: { id: null, label: null },
      limits: { promptTokenBudget: null, maxOutputTokens: null },
      diagnostics: { fallbackReason: null, degradedReason: null },
    });
    expect(() => Object.assign(settings.limits, { promptTokenBudget: 1 })).toThrow();
  });

  it("is degraded before it is fallback, and fallback when another model answers", () => {
    expect(buildRuntimeSettings({ requestedModel: "a", resolvedModel: "b" }).runtime.mode).toBe(
      "fallback",
    );
    expect(buildRuntimeSettings({ fallbackReason: "x" }).runtime.mode).toBe("fallback");
    expect(
      buildRuntimeSettings({
        requestedModel: "a",
        resolvedModel: "b",
        degradedReason: "context_overflow",
      }).runtime.mode,
    ).toBe("degraded");
  });

  it.each([
    ["request timeout at provider", "provider_timeout"],
    ["HTTP 429", "rate_limited"],
    ["context pressure", "context_overflow"],
    ["runtime gone", "runtime_unavailable"],
    ["primary unavailable", "provider_unavailable"],
    ["something else", "unknown"],
    ["unknown", "unknown"],
    ["  ", null],
  ])("maps %j to %j", (reason, code) => {
    expect(toReasonCode(reason)).toBe(code);
  });
});
