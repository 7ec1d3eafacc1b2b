// Allows one install, update or uninstall at a time for each home.
import { existsSync, mkdirSync, readdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { prepareHome } from "../../home/prepare-home.ts";
import { acquireLock } from "../../locks/lock.ts";
import { pluginsFolder } from "../find/records.ts";
import { installFailed } from "../invalid.ts";
import { clearLeftovers } from "./leftovers.ts";
import { finishRollback } from "./previous.ts";

/** Several enable or disable at once, each of which tries its plugin. */
const ATTEMPTS = 300;
const PAUSE_MS = 100;

/**
 * Throws STORAGE_FAILED, and PLUGIN_INSTALL_FAILED when another process does not finish within
 * some seconds.
 */
export async function withPluginsLock<Result>(
  home: string,
  work: () => Promise<Result>,
): Promise<Result> {
  await prepareHome(home);
  const file = join(pluginsFolder(home), ".lock");
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    mkdirSync(pluginsFolder(home), { recursive: true, mode: 0o700 });
    const outcome = await acquireLock(file).catch((error: NodeJS.ErrnoException) => {
      // Whoever had it before may just have removed the empty folder.
      if (error.code === "ENOENT") return { held: false } as const;
      throw error;
    });
    if (outcome.held) {
      const release = () => outcome.lock.release().then(() => removeIfEmpty(pluginsFolder(home)));
      return (async () => {
        finishRollback(home);
        clearLeftovers(home);
        return work();
      })().finally(release);
    }
    await setTimeout(PAUSE_MS);
  }
  throw installFailed(
    `Another clew is installing or removing plugins (${file}); wait for it and try again.`,
  );
}

/** So that nothing is left of an install that failed, or of a plugin that was the only one. */
function removeIfEmpty(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder);
}
