// Which settings an install or a switch changes, and how that reads.
import type { PluginManifest, PluginsConfig } from "@clew/plugin-sdk/host";
import { slotValue } from "../find/enablement.ts";
import { installFailed } from "../invalid.ts";
import { kindsOf } from "../load/hook-rules.ts";
import type { SettingStep } from "./config-text.ts";

export interface PlannedSettings {
  steps: SettingStep[];
  /** Sentences, in order. */
  notes: string[];
}

export interface SettingsRequest {
  manifest: PluginManifest;
  /** Engines it registers; the slot takes the one named like the plugin, else the first. */
  engines: readonly string[];
  plugins: PluginsConfig;
  /** Folder to add to plugins.load.paths. */
  link?: string | undefined;
}

/**
 * Switches a plugin on, and gives it the slots that its kind is for. Throws
 * PLUGIN_INVALID when it is denied.
 */
export function planSwitchOn({
  manifest,
  engines,
  plugins,
  link,
}: SettingsRequest): PlannedSettings {
  const { id } = manifest;
  if (plugins.deny?.includes(id))
    throw installFailed(`Plugin "${id}" is in plugins.deny; take it out there first.`);
  const steps: SettingStep[] = [];
  const notes: string[] = [];
  if (link !== undefined && !plugins.load?.paths?.includes(link))
    steps.push({ path: ["plugins", "load", "paths"], value: link, isItem: true });
  if (plugins.entries?.[id]?.enabled !== true)
    steps.push({ path: ["plugins", "entries", id, "enabled"], value: true });
  if (plugins.allow !== undefined && plugins.allow.length > 0 && !plugins.allow.includes(id))
    steps.push({ path: ["plugins", "allow"], value: id, isItem: true });
  const kinds = kindsOf(manifest.kind);
  const engine = engines.find((engineId) => engineId === id) ?? engines[0];
  if (kinds.includes("context-engine") && engine === undefined)
    notes.push("It claims to be a context engine but registers none, so the slot stays as it is.");
  if (!kinds.includes("context-engine") && engine !== undefined && slotValue(plugins) !== engine)
    notes.push(
      `It brings the context engine "${engine}", which its manifest does not offer for the slot; to choose it: clew config set plugins.slots.contextEngine ${engine}`,
    );
  if (kinds.includes("context-engine") && engine !== undefined)
    takeSlot("contextEngine", engine, "legacy");
  if (kinds.includes("memory")) takeSlot("memory", id, "none");
  if (plugins.enabled === false)
    notes.push(
      "All plugins are switched off; to switch them on: clew config set plugins.enabled true",
    );
  return { steps, notes };

  function takeSlot(slot: "contextEngine" | "memory", value: string, fallback: string) {
    const before = slotValue(plugins, slot);
    if (before === value) return void notes.push(`plugins.slots.${slot} is "${value}" already.`);
    steps.push({ path: ["plugins", "slots", slot], value });
    notes.push(
      `plugins.slots.${slot}: ${before === null ? "unset" : `"${before}"`} -> "${value}"; to go back: clew config set plugins.slots.${slot} ${before ?? fallback}`,
    );
  }
}

/** What tools a person has to know about; `asking`: those that did not say that they only read. */
export function toolNote(
  id: string,
  { tools, asking }: { tools: readonly string[]; asking: readonly string[] },
): string[] {
  if (tools.length === 0) return [];
  const its = `Its tools: ${tools.join(", ")}.`;
  if (asking.length === 0) return [`${its} They say that they only read, and run unasked.`];
  const who = asking.length === tools.length ? "They ask" : `Not marked as read-only, and asking`;
  const which = asking.length === tools.length ? "" : `: ${asking.join(", ")}`;
  return [
    `${its} ${who} before they run${which}; to let them run unasked: clew config set plugins.entries.${id}.tools.allow '${JSON.stringify(asking)}'`,
  ];
}
