// Who may register which engine id, and whether that replaces what was there.
import type { ContextEngineFactory } from "@clew/plugin-sdk/core";

/** The id of the built-in engine; only the owner "core" may register it. */
export const FALLBACK_ENGINE_ID = "legacy";
export const CORE_OWNER = "core";

/** An engine that may be selected. */
export interface EngineRegistration {
  /** What the slot names it by. */
  engineId: string;
  /** "core", or "plugin:<pluginId>". */
  owner: string;
  /** Makes the engine for one agent. */
  factory: ContextEngineFactory;
  /** "readOnlyDiscovery": listed, never run. */
  lifecycle: "runtime" | "readOnlyDiscovery";
}

/**
 * Refused when the id is taken: by another owner, or by the same one, unless it registered with
 * `allowSameOwnerRefresh`.
 */
export type RegistrationResult = { ok: true } | { ok: false; existingOwner: string };

export type RegistrationPlan =
  | { kind: "refuse"; existingOwner: string }
  /** What is registered already is worth more. */
  | { kind: "keep" }
  | { kind: "set" };

/**
 * Pure (contract §2.1). The same owner may refresh when it says so; a read-only discovery never
 * replaces a runtime registration.
 */
export function planRegistration(
  incoming: Pick<EngineRegistration, "engineId" | "owner" | "lifecycle">,
  existing: EngineRegistration | undefined,
  { allowSameOwnerRefresh }: { allowSameOwnerRefresh: boolean },
): RegistrationPlan {
  const { engineId, owner, lifecycle } = incoming;
  if (engineId === FALLBACK_ENGINE_ID && owner !== CORE_OWNER)
    return { kind: "refuse", existingOwner: CORE_OWNER };
  if (existing === undefined) return { kind: "set" };
  if (existing.owner !== owner) return { kind: "refuse", existingOwner: existing.owner };
  if (existing.lifecycle === "runtime" && lifecycle === "readOnlyDiscovery")
    return { kind: "keep" };
  return allowSameOwnerRefresh
    ? { kind: "set" }
    : { kind: "refuse", existingOwner: existing.owner };
}
