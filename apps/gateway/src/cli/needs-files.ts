// Refuses commands that would look for sessions in files where they are in PostgreSQL.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { Environment } from "../config/environment.ts";
import { loadConfig } from "../config/load.ts";

/** These read or write session files themselves. */
const NEED_FILES: ReadonlySet<string> = new Set([
  ...["delete", "fork", "import", "rename", "search", "tail"].map(
    (name) => `clew sessions ${name}`,
  ),
  ...["clew compact", "clew undo-compaction", "clew compare", "clew whatif", "clew replay"],
  ...["clew forget", "clew retain", "clew mcp", "clew demo", "clew demo make", "clew demo remove"],
  ...["clew engine retry", "clew engine status", "clew plugins rollback", "clew usage"],
]);
const NEED_FILES_BELOW = ["clew lossless "];

/** Settings that cannot be read are told by the command itself. Throws HOST_CAPABILITY_MISSING. */
export async function refuseWithoutFiles(
  name: string,
  { configFile }: Pick<Environment, "configFile">,
): Promise<void> {
  if (!NEED_FILES.has(name) && !NEED_FILES_BELOW.some((begin) => name.startsWith(begin))) return;
  const loaded = await loadConfig(configFile).catch(() => undefined);
  if (loaded?.config.storage.driver !== "postgres") return;
  throw new ContextEngineError(
    "HOST_CAPABILITY_MISSING",
    `"${name}" works on session files, and storage.driver is "postgres": it cannot be had there yet; what can is the page, the HTTP API, and clew chat, inspect, sessions list, show and export.`,
  );
}
