// Which hooks there are, and which permission each needs.
import type { PluginManifest } from "@clew/plugin-sdk/host";

/**
 * "conversation": the hook sees what people said. "prompt": it also changes what the model is told.
 */
const HOOKS: Record<string, readonly ("conversation" | "prompt")[]> = {
  before_prompt_build: ["conversation", "prompt"],
  before_reset: ["conversation"],
  session_end: [],
  gateway_start: [],
  gateway_stop: [],
  before_compaction: [],
  after_compaction: [],
};

export type HookRule =
  | { kind: "allowed" }
  | { kind: "blocked"; reason: string }
  | { kind: "unknown"; reason: string };

/**
 * Pure. Prompt injection is allowed unless `allowPromptInjection` is false. The conversation may be
 * seen when `allowConversationAccess` is true, and by a context engine's plugin unless it is false:
 * an engine is given the conversation anyway.
 */
export function hookRule(name: string, permissions: unknown, manifest: PluginManifest): HookRule {
  const needs = Object.hasOwn(HOOKS, name) ? HOOKS[name] : undefined;
  if (needs === undefined)
    return {
      kind: "unknown",
      reason: `hook "${name}" is never called by this host; it has ${Object.keys(HOOKS).join(", ")}`,
    };
  const { allowPromptInjection, allowConversationAccess } = (permissions ?? {}) as Record<
    string,
    unknown
  >;
  const setting = (key: string) => `plugins.entries.${manifest.id}.hooks.${key}`;
  if (needs.includes("prompt") && allowPromptInjection === false)
    return {
      kind: "blocked",
      reason: `hook "${name}" is blocked by ${setting("allowPromptInjection")}`,
    };
  const maySee =
    allowConversationAccess === true ||
    (allowConversationAccess !== false && isEnginePlugin(manifest));
  if (needs.includes("conversation") && !maySee)
    return {
      kind: "blocked",
      reason: `hook "${name}" sees the conversation and is blocked until ${setting("allowConversationAccess")} is true`,
    };
  return { kind: "allowed" };
}

export function isEnginePlugin({ kind }: PluginManifest): boolean {
  return kindsOf(kind).includes("context-engine");
}

export function kindsOf(kind: PluginManifest["kind"]): readonly string[] {
  return kind === undefined ? [] : typeof kind === "string" ? [kind] : kind;
}
