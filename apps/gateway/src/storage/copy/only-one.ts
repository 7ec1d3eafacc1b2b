// Lets one command at a time copy what a home has.
import { join } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { acquireLock } from "../../locks/lock.ts";

/** Throws SESSION_LOCKED. */
export async function onlyOneCopy(home: string): Promise<{ release(): Promise<void> }> {
  const file = join(home, "copies", "storage-copy.lock");
  const outcome = await acquireLock(file);
  if (outcome.held) return outcome.lock;
  throw new ContextEngineError(
    "SESSION_LOCKED",
    outcome.owner === null
      ? `Another copy of ${home} may be under way, as ${file} cannot be read; delete that file if none is.`
      : `Another copy of ${home} is under way in process ${outcome.owner.pid} on ${outcome.owner.host}; wait for it, or stop it.`,
  );
}
