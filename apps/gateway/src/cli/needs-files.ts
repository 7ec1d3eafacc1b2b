// Refuses commands that would look for sessions in files where they are in PostgreSQL.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { Environment } from "../config/environment.ts";
import { loadConfig } from "../config/load.ts";

/** These read or write session files themselves. */
export const NEED_FILES: ReadonlySet<string> = new Set([
  ...["clew replay", "clew compare", "clew whatif", "clew demo make", "clew demo remove"],
  ...["clew sessions tail", "clew sessions usage", "clew sessions rename"],
  ...["clew sessions fork", "clew sessions delete", "clew sessions import", "clew sessions repair"],
  ...["clew sessions compact", "clew sessions undo-compaction", "clew usage"],
  ...["clew engine status", "clew engine retry", "clew mcp", "clew plugins rollback"],
  ...["clew lossless verify", "clew lossless migrate", "clew lossless retain"],
  ...["clew lossless import", "clew lossless forget"],
]);

/** Settings that cannot be read are told by the command itself. Throws HOST_CAPABILITY_MISSING. */
export async function refuseWithoutFiles(
  name: string,
  { configFile }: Pick<Environment, "configFile">,
): Promise<void> {
  if (!NEED_FILES.has(name)) return;
  const loaded = await loadConfig(configFile).catch(() => undefined);
  if (loaded?.config.storage.driver !== "postgres") return;
  throw new ContextEngineError(
    "HOST_CAPABILITY_MISSING",
    `"${name}" works on session files, and storage.driver is "postgres": it cannot be had there yet; what can is the page, the HTTP API, and clew chat, inspect, sessions list, show, search and export.`,
  );
}
