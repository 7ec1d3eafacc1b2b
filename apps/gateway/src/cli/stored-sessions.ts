// Opens what a home's sessions are kept in, for commands.
import type { Environment } from "../config/environment.ts";
import { loadConfig } from "../config/load.ts";
import { calledAmong, labelSession, sessionCalled } from "../sessions/labels.ts";
import { requireSessionName } from "../sessions/name-errors.ts";
import { createSessionStore } from "../sessions/store.ts";
import { fileStorage, openStorage, requirePlan } from "../storage/open-storage.ts";
import type { ChangeableSessions, Storage } from "../storage/storage.ts";

/** Each is opened once in a process, which ends with its command. */
const opened = new WeakMap<Environment, Promise<Storage>>();

/**
 * For those that only read. Throws CONFIG_INVALID and STORAGE_FAILED of a database; settings that
 * cannot be read say nothing of files.
 */
export function storedSessions(environment: Environment): Promise<Storage> {
  const storage = opened.get(environment) ?? open(environment);
  opened.set(environment, storage);
  return storage;
}

/** False also where settings cannot be read. */
const isInDatabase = async ({ configFile }: Environment): Promise<boolean> =>
  (await loadConfig(configFile).catch(() => undefined))?.config.storage.driver === "postgres";

/**
 * What a person means: a key or short name, else the session that is called so. What names none is
 * given back as it is; of a database that does not answer the command itself is told.
 */
export async function sessionTyped(environment: Environment, text: string): Promise<string> {
  if (!(await isInDatabase(environment))) return sessionCalled(environment.home, text);
  const sessions = await storedSessions(environment)
    .then((storage) => storage.sessions.list())
    .catch(() => []);
  return calledAmong(sessions, text);
}

async function open(environment: Environment): Promise<Storage> {
  const loaded = await loadConfig(environment.configFile).catch(() => undefined);
  return loaded?.config.storage.driver === "postgres"
    ? openStorage({ environment, config: loaded.config })
    : fileStorage(environment.home);
}

/** For those that change some. Throws what `storedSessions` does; whoever opens it closes it. */
export async function sessionsToChange(environment: Environment): Promise<ChangeableSessions> {
  const { home } = environment;
  const loaded = await loadConfig(environment.configFile).catch(() => undefined);
  if (loaded?.config.storage.driver !== "postgres")
    return {
      sessions: createSessionStore({ home }),
      label: (key, label) => labelSession(home, requireSessionName(key), label),
      close: async () => {},
    };
  const { config } = loaded;
  const { openToChange } = await import("../storage/postgres/open-to-change.ts");
  return openToChange(requirePlan({ environment, config }), { environment, config });
}
