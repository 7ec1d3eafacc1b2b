// Which hooks there are, and which permission each needs.
import type { PluginManifest } from "@clew/plugin-sdk/host";
import { nearestName } from "../../text/nearest.ts";
import { nameIn } from "./registrations.ts";

/**
 * "asked": the hook sees the conversation, once somebody has said that it may. "sees": it does,
 * unless somebody said that it may not. "prompt": it also changes what the model is told.
 */
type Need = "asked" | "sees" | "prompt";

const HOOKS: Record<string, readonly Need[]> = {
  before_prompt_build: ["asked", "prompt"],
  before_agent_start: ["asked", "prompt"],
  agent_end: ["asked"],
  llm_input: ["asked"],
  llm_output: ["asked"],
  before_dispatch: ["sees"],
  message_received: ["sees"],
  before_message_write: ["sees"],
  before_tool_call: ["sees"],
  after_tool_call: ["sees"],
  before_reset: ["sees"],
  session_end: [],
  subagent_spawned: [],
  subagent_ended: [],
  gateway_start: [],
  gateway_stop: [],
  before_compaction: [],
  after_compaction: [],
  "command:new": [],
  "command:reset": [],
  "gateway:startup": [],
};

export const HOOK_NAMES: readonly string[] = Object.keys(HOOKS);

/** Names that `registerHook` takes for several events, or for one of another name. */
export const INTERNAL_EVENTS: Readonly<Record<string, readonly string[]>> = {
  command: ["command:new", "command:reset"],
  gateway: ["gateway:startup"],
};

export type HookRule =
  | { kind: "allowed" }
  | { kind: "blocked"; reason: string }
  | { kind: "unknown"; reason: string };

/**
 * Pure. Prompt injection is allowed unless `allowPromptInjection` is false. A hook may see the
 * conversation when `allowConversationAccess` is true. Unless it is false, an engine's plugin may,
 * which is given the conversation anyway, and so may any in the hooks that the other host does not
 * ask for either.
 */
export function hookRule(name: string, permissions: unknown, manifest: PluginManifest): HookRule {
  // Plugins hand over anything for a name.
  const isText = typeof name === "string";
  const needs = isText && Object.hasOwn(HOOKS, name) ? HOOKS[name] : undefined;
  if (needs === undefined)
    return {
      kind: "unknown",
      reason: `hook "${nameIn(name)}" is never called by this host${guess(nameIn(name))}`,
    };
  const { allowPromptInjection, allowConversationAccess } = (permissions ?? {}) as Record<
    string,
    unknown
  >;
  const setting = (key: string) => `plugins.entries.${manifest.id}.hooks.${key}`;
  const blocked = (why: string): HookRule => ({
    kind: "blocked",
    reason: `hook "${name}" ${why}`,
  });
  if (needs.includes("prompt") && allowPromptInjection === false)
    return blocked(`is blocked by ${setting("allowPromptInjection")}`);
  const sees = needs.includes("asked") || needs.includes("sees");
  if (sees && allowConversationAccess === false)
    return blocked(`sees the conversation and is blocked by ${setting("allowConversationAccess")}`);
  if (needs.includes("asked") && allowConversationAccess !== true && !isEnginePlugin(manifest))
    return blocked(
      `sees the conversation and is blocked; to let it: clew config set ${setting("allowConversationAccess")} true`,
    );
  return { kind: "allowed" };
}

function guess(name: string): string {
  const nearest = nearestName(name, HOOK_NAMES);
  return nearest === null
    ? "; the author guide lists those that are"
    : `; did you mean "${nearest}"?`;
}

export function isEnginePlugin({ kind }: PluginManifest): boolean {
  return kindsOf(kind).includes("context-engine");
}

export function kindsOf(kind: PluginManifest["kind"]): readonly string[] {
  return kind === undefined ? [] : typeof kind === "string" ? [kind] : kind;
}
