// Edits the configuration file for installs and remembers how to undo the edits.
import { rm } from "node:fs/promises";
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import type { AgentsConfig } from "../../config/agents.ts";
import { writeConfigText } from "../../config/commands.ts";
import { checkConfigText, readConfigText } from "../../config/load.ts";
import type { InstallRecords, SettingChange } from "../find/records.ts";
import { applySteps, isBlankConfig, type SettingStep, undoSteps } from "./config-text.ts";

export interface CurrentConfig {
  plugins: PluginsConfig;
  /** `agents.list`. */
  agents: AgentsConfig["list"];
  raw: Record<string, unknown>;
  /** Null = there is no file. */
  text: string | null;
  port: number;
}

/** Throws CONFIG_INVALID. */
export async function readCurrentConfig(file: string): Promise<CurrentConfig> {
  const text = await readConfigText(file);
  const { config, raw } = checkConfigText(text ?? "{}", file);
  const { plugins, agents, gateway } = config;
  return { plugins, agents: agents.list, raw, text, port: gateway.port };
}

export interface MadeSteps {
  changes: SettingChange[];
  /** `records` with what is needed to take them back. */
  records: InstallRecords;
}

/**
 * Writes nothing when there is nothing to change or the result would not be
 * valid. Throws CONFIG_INVALID.
 */
export async function makeSteps(
  file: string,
  current: CurrentConfig,
  steps: readonly SettingStep[],
  records: InstallRecords,
): Promise<MadeSteps> {
  if (steps.length === 0) return { changes: [], records };
  const { text, changes, containers } = applySteps(current.text ?? "", steps);
  checkConfigText(text, file);
  await writeConfigText(file, text);
  const isBlank = isBlankConfig(current.text ?? "");
  return {
    changes,
    records: {
      ...records,
      containers: [...records.containers, ...containers],
      ...(isBlank && records.blankConfig === undefined && { blankConfig: current.text }),
    },
  };
}

/**
 * The text with the changes taken back; a file that we made is gone again
 * when nothing is left in it.
 */
export async function takeBack(
  file: string,
  changes: readonly SettingChange[],
  records: InstallRecords,
): Promise<InstallRecords> {
  const before = await readConfigText(file);
  const { blankConfig, ...others } = records;
  if (before === null) return { ...others, containers: [] };
  const { text, containers } = undoSteps(before, changes, records.containers);
  const isAsWeFoundIt = isBlankConfig(text) && containers.length === 0 && blankConfig !== undefined;
  if (isAsWeFoundIt && blankConfig === null) await rm(file, { force: true });
  else {
    const restored = isAsWeFoundIt ? (blankConfig ?? "") : text;
    if (restored.trim() !== "") checkConfigText(restored, file);
    if (restored !== before) await writeConfigText(file, restored);
  }
  return {
    ...others,
    containers,
    ...(!isAsWeFoundIt && blankConfig !== undefined && { blankConfig }),
  };
}

/** The text as it was before a change that could not be finished. */
export async function writeBack(file: string, before: string | null): Promise<void> {
  if ((await readConfigText(file)) === before) return;
  if (before === null) await rm(file, { force: true });
  else await writeConfigText(file, before);
}
