// Opens what a home's sessions are kept in, for commands that only read.
import type { Environment } from "../config/environment.ts";
import { loadConfig } from "../config/load.ts";
import { fileStorage, openStorage } from "../storage/open-storage.ts";
import type { Storage } from "../storage/storage.ts";

/**
 * Throws CONFIG_INVALID and STORAGE_FAILED of a database; settings that cannot be read say nothing
 * of files.
 */
export async function storedSessions(environment: Environment): Promise<Storage> {
  const loaded = await loadConfig(environment.configFile).catch(() => undefined);
  return loaded?.config.storage.driver === "postgres"
    ? openStorage({ environment, config: loaded.config })
    : fileStorage(environment.home);
}
