// Runs `clew plugins rollback`, which brings back what an update replaced.
import { join } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { claimHome } from "../../home/claim.ts";
import type { OfferedAgain } from "../../sessions/offer-again.ts";
import { counted } from "../../text/number.ts";
import { readPluginFiles } from "../find/manifest.ts";
import { type InstallRecord, pluginsFolder, readRecords } from "../find/records.ts";
import { installFailed, messageOf, notOffered } from "../invalid.ts";
import { readCurrentConfig } from "./config-file.ts";
import { copyFault, dataFault } from "./data-links.ts";
import type { InstallPlace } from "./install.ts";
import { withPluginsLock } from "./lock.ts";
import type { DataPlace } from "./plugin-data.ts";
import {
  beginRollback,
  finishRollback,
  planRollback,
  previousFolder,
  readKept,
} from "./previous.ts";
import { tryPlugin } from "./trial.ts";

export interface RollbackRequest {
  pluginId: string;
  /** False: the plugin's data stays as it is. */
  withData: boolean;
}

export interface RollbackReport {
  pluginId: string;
  /** Of what was brought back. */
  version: string | null;
  /** Sentences. */
  notes: string[];
}

/**
 * Throws PLUGIN_NOT_FOUND, PLUGIN_INVALID, PLUGIN_INSTALL_FAILED or GATEWAY_RUNNING; then nothing
 * has changed.
 */
export function rollbackPlugin(
  { pluginId, withData }: RollbackRequest,
  place: InstallPlace,
): Promise<RollbackReport> {
  const { home } = place;
  return withPluginsLock(home, async () => {
    const current = readRecords(home).plugins[pluginId];
    if (current === undefined)
      throw notOffered(
        `Plugin "${pluginId}" was not installed by clew, so there is no other version of it.`,
      );
    if (current.source === "link")
      throw installFailed(
        `Plugin "${pluginId}" is linked, so what is in ${current.root} is used; to use an installed version again: clew plugins install --force`,
      );
    const kept = readKept(home, pluginId);
    if (kept === undefined)
      throw installFailed(
        `There is nothing to go back to: plugin "${pluginId}" was not updated since it was installed.`,
      );
    const hasData = withData && (kept.data ?? []).length > 0;
    if (hasData) refuseUnmovable(home, pluginId, kept.data!);
    await tryKept(pluginId, kept.record, place);
    const now = new Date().toISOString();
    const offered = await whileNobodyServes(home, hasData, () => {
      const { journal, next } = planRollback({ home, pluginId, kept, current, withData, now });
      beginRollback(home, journal, next);
      return finishRollback(home);
    });
    const { version } = kept.record;
    return {
      pluginId,
      version,
      notes: [
        `${pluginId}: ${current.version ?? "?"} -> ${version ?? "?"}, as it was until ${kept.keptAt}.`,
        hasData
          ? "Its data is what it was then; what came since is kept, and another rollback brings it back."
          : "Its data stays as it is.",
        ...describeOffered(offered),
      ],
    };
  });
}

/** An older Clew kept what lies behind links, too, where it is still what was written since. */
function refuseUnmovable(home: string, pluginId: string, places: readonly DataPlace[]): void {
  const copies = join(previousFolder(home, pluginId), "data");
  const fault = dataFault(home, places) ?? copyFault(home, copies, places);
  if (fault === null) return;
  throw installFailed(
    `The data of plugin "${pluginId}" cannot be exchanged, because ${fault}; nothing was changed. To bring back the code alone, add --no-data.`,
  );
}

/** Pure. */
const describeOffered = ({ messages, sessions }: OfferedAgain): string[] =>
  messages === 0
    ? []
    : [
        `What its engine took since (${counted(messages, "message")} of ${counted(sessions, "session")}) is offered to it again at the next turn there.`,
      ];

/** A plugin that has its files open would go on writing to those that were moved. */
async function whileNobodyServes<Result>(
  home: string,
  isNeeded: boolean,
  work: () => Result,
): Promise<Result> {
  if (!isNeeded) return work();
  const claim = await claimHome(home).catch((error: unknown) => {
    throw new ContextEngineError(
      "GATEWAY_RUNNING",
      `A plugin's data cannot be exchanged while a gateway may have it open. ${messageOf(error)} To bring back the code alone, add --no-data.`,
      { cause: error },
    );
  });
  try {
    return work();
  } finally {
    await claim.release();
  }
}

/** Clew itself may be another one since. */
async function tryKept(
  pluginId: string,
  { root }: InstallRecord,
  { home, configFile }: InstallPlace,
): Promise<void> {
  const kept = join(previousFolder(home, pluginId), "files");
  const below = join(pluginsFolder(home), root).slice(join(pluginsFolder(home), pluginId).length);
  const { raw, plugins } = await readCurrentConfig(configFile);
  const entryConfig = plugins.entries?.[pluginId];
  await tryPlugin(readPluginFiles(join(kept, below)), { home, raw, entryConfig });
}
