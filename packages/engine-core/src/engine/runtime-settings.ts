// Builds the frozen settings snapshot that engines receive, with null for unknown.
import type { ReasonCode, RuntimeSettings } from "@clew/plugin-sdk/core";

/** What the settings snapshot is built from; absent, null and blank all become null there. */
export interface RuntimeSettingsInput {
  /** "provider/model" as asked for. Absent: not known. */
  requestedModel?: string | null | undefined;
  /**
   * "provider/model" that answers; another than the requested one makes the mode "fallback".
   * Absent: not known.
   */
  resolvedModel?: string | null | undefined;
  /** Absent: not known. */
  provider?: string | null | undefined;
  /** Absent: not known. */
  modelFamily?: string | null | undefined;
  /** The engine's own id. Absent: not known. */
  selectedId?: string | null | undefined;
  /** Absent: "configured" when there is a `selectedId`, else "unknown". */
  selectionSource?: "configured" | "default" | undefined;
  /** Absent: not known. */
  executionHost?: { id: string; label: string } | undefined;
  /** Names the program that runs turns. Absent: none, the host itself does. */
  harnessId?: string | null | undefined;
  /** Names this run. Absent: not known. */
  runtimeId?: string | null | undefined;
  /** Tokens. Absent: not known. */
  promptTokenBudget?: number | null | undefined;
  /** Tokens. Absent: not known. */
  maxOutputTokens?: number | null | undefined;
  /** Absent: "degraded" or "fallback" when a reason or another model says so, else "normal". */
  mode?: RuntimeSettings["runtime"]["mode"] | undefined;
  /** A code, or free text that is mapped to one. Absent: none. */
  fallbackReason?: string | null | undefined;
  /** A code, or free text that is mapped to one. Absent: none. */
  degradedReason?: string | null | undefined;
}

/** `runtimeSettings` of schema version 1 (contract §1.4). */
export function buildRuntimeSettings(input: RuntimeSettingsInput): RuntimeSettings {
  const requested = text(input.requestedModel);
  const resolved = text(input.resolvedModel);
  const selectedId = text(input.selectedId);
  const fallbackReason = toReasonCode(input.fallbackReason);
  const degradedReason = toReasonCode(input.degradedReason);
  const otherModel = requested !== null && resolved !== null && requested !== resolved;
  const mode =
    input.mode ??
    (degradedReason !== null
      ? "degraded"
      : fallbackReason !== null || otherModel
        ? "fallback"
        : "normal");
  return deepFreeze({
    schemaVersion: 1,
    runtime: {
      ...{ host: "openclaw" as const, mode },
      harnessId: text(input.harnessId),
      runtimeId: text(input.runtimeId),
    },
    model: { requested, resolved, provider: text(input.provider), family: text(input.modelFamily) },
    contextEngineSelection: {
      selectedId,
      source: input.selectionSource ?? (selectedId === null ? "unknown" : "configured"),
    },
    executionHost: { id: text(input.executionHost?.id), label: text(input.executionHost?.label) },
    limits: {
      promptTokenBudget: finite(input.promptTokenBudget),
      maxOutputTokens: finite(input.maxOutputTokens),
    },
    diagnostics: { fallbackReason, degradedReason },
  });
}

const REASON_PATTERNS: readonly (readonly [RegExp, ReasonCode])[] = [
  [/timeout/i, "provider_timeout"],
  [/rate|limit|429/i, "rate_limited"],
  [/overflow|context|pressure/i, "context_overflow"],
  [/runtime/i, "runtime_unavailable"],
  [/provider|primary|unavailable/i, "provider_unavailable"],
];
const REASON_CODES: readonly string[] = [...REASON_PATTERNS.map(([, code]) => code), "unknown"];

/**
 * The reason's code: an exact code wins, then the first matching pattern, then
 * "unknown"; null for blank.
 */
export function toReasonCode(reason: string | null | undefined): ReasonCode | null {
  const given = text(reason);
  if (given === null) return null;
  if (REASON_CODES.includes(given)) return given as ReasonCode;
  return REASON_PATTERNS.find(([pattern]) => pattern.test(given))?.[1] ?? "unknown";
}

const text = (value: string | null | undefined) =>
  value === undefined || value === null || value.trim() === "" ? null : value.trim();
const finite = (value: number | null | undefined) =>
  typeof value === "number" && Number.isFinite(value) ? value : null;

function deepFreeze<T extends object>(value: T): T {
  for (const part of Object.values(value))
    if (typeof part === "object" && part !== null) deepFreeze(part);
  return Object.freeze(value);
}
