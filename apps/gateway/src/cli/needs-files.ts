// Refuses commands that would look for sessions in files where they are in PostgreSQL.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { Environment } from "../config/environment.ts";
import { loadConfig } from "../config/load.ts";

const TAKEN_IN =
  'take it into a new home on files (CLEW_HOME=FOLDER), and copy it over by "clew storage copy"';
const IN_A_COPY =
  'copy the sessions into a new folder ("clew storage copy --to FOLDER"), and run it there (CLEW_HOME=FOLDER)';

/** These read or write session files themselves; what to do instead. */
export const NEED_FILES: ReadonlyMap<string, string> = new Map([
  ["clew demo make", "make it in a new home on files (CLEW_HOME=FOLDER)"],
  ["clew demo remove", 'delete its session by "clew sessions delete"'],
  ["clew sessions import", TAKEN_IN],
  [
    "clew sessions repair",
    "nothing is to be repaired, as no session is in a file that can be torn",
  ],
  ["clew plugins rollback", 'install the version by "clew plugins install NAME@VERSION"'],
  ["clew lossless verify", IN_A_COPY],
  ["clew lossless migrate", TAKEN_IN],
  ["clew lossless import", TAKEN_IN],
  ["clew lossless retain", "set keepDays, by which each gateway lets go of what is too old"],
]);

/** Settings that cannot be read are told by the command itself. Throws HOST_CAPABILITY_MISSING. */
export async function refuseWithoutFiles(
  name: string,
  { configFile }: Pick<Environment, "configFile">,
): Promise<void> {
  const instead = NEED_FILES.get(name);
  if (instead === undefined) return;
  const loaded = await loadConfig(configFile).catch(() => undefined);
  if (loaded?.config.storage.driver !== "postgres") return;
  throw new ContextEngineError(
    "HOST_CAPABILITY_MISSING",
    `"${name}" works on session files, and storage.driver is "postgres"; instead: ${instead}.`,
  );
}
