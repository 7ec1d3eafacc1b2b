// Remembers on disk which plugin an engine belongs to.
import type { LogPort } from "@clew/engine-core";
import { messageOf } from "../invalid.ts";
import { type InstallRecords, NO_RECORDS, readRecords, writeRecords } from "./records.ts";

interface OwnedEngine {
  engineId: string;
  pluginId: string;
}

/** What was installed, or nothing when that cannot be read: a start must not fail over it. */
export function recallRecords(home: string, log: LogPort): InstallRecords {
  try {
    return readRecords(home);
  } catch (error) {
    log.error(`[plugins] ${messageOf(error)}`);
    return NO_RECORDS;
  }
}

/**
 * Of one of several entries the plugin they belong to is remembered. Writes only what is new; a
 * failure costs a worse sentence later and nothing else.
 */
export function rememberEngines(home: string, engines: readonly OwnedEngine[], log: LogPort): void {
  try {
    const records = readRecords(home);
    const current = Object.fromEntries(
      engines.map(({ engineId, pluginId }) => [engineId, pluginId.split("/")[0]!]),
    );
    const isKnown = Object.entries(current).every(
      ([engineId, pluginId]) => records.engines[engineId] === pluginId,
    );
    if (!isKnown) writeRecords(home, { ...records, engines: { ...records.engines, ...current } });
  } catch (error) {
    log.warn(
      `[plugins] which engine belongs to which plugin could not be remembered: ${messageOf(error)}`,
    );
  }
}
