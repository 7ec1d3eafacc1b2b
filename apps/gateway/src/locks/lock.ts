// Locks a file for one process, and takes over the locks of dead processes.
import { randomUUID } from "node:crypto";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { z } from "zod";
import { ownProcessStart, processStart } from "./process-identity.ts";

const OwnerSchema = z.object({
  token: z.string().min(1),
  pid: z.number().int(),
  /** Start time of the process, so that a reused pid is not mistaken for the owner. */
  started: z.string(),
  host: z.string(),
  /** ISO 8601. */
  since: z.string(),
});
export type LockOwner = z.infer<typeof OwnerSchema>;

export interface Lock {
  /** The dead process this lock was taken from. */
  takenFrom?: LockOwner;
  release(): Promise<void>;
}

export type LockOutcome =
  | { held: true; lock: Lock }
  | { held: false; owner: LockOwner | null; file: string };

/**
 * Takes the lock `file` or says who has it. Creation is atomic with its content (a hard link of a
 * finished file). A dead owner is succeeded by linking `<file>.<its token>`, which only one
 * process can do; the base file is checked again afterwards, because a link made after the lock
 * changed hands means nothing.
 */
export async function acquireLock(file: string): Promise<LockOutcome> {
  const own: LockOwner = {
    token: randomUUID(),
    pid: process.pid,
    started: ownProcessStart(),
    host: hostname(),
    since: new Date().toISOString(),
  };
  const draft = `${file}.draft-${own.token}`;
  await writeFile(draft, JSON.stringify(own), { mode: 0o600, flag: "wx" });
  try {
    // Each round ends in an answer unless the lock changed hands while we looked.
    for (let round = 0; round < 20; round++) {
      const outcome = await tryOnce(file, draft, own);
      if (outcome !== "changed") return outcome;
    }
    return { held: false, owner: await readOwner(file), file };
  } finally {
    await rm(draft, { force: true });
  }
}

async function tryOnce(
  file: string,
  draft: string,
  own: LockOwner,
): Promise<LockOutcome | "changed"> {
  if (await linked(draft, file)) return held(file, own);
  const root = await readOwner(file);
  if (root === null) return (await exists(file)) ? { held: false, owner: null, file } : "changed";

  const chain: string[] = [];
  let last = root;
  for (;;) {
    if (isAlive(last)) return { held: false, owner: last, file };
    const successor = `${file}.${last.token}`;
    if (await linked(draft, successor)) {
      if ((await readOwner(file))?.token !== root.token) {
        await rm(successor, { force: true });
        return "changed";
      }
      await rename(successor, file);
      await Promise.all(chain.map((dead) => rm(dead, { force: true })));
      return held(file, own, last);
    }
    const next = await readOwner(successor);
    if (next === null) return "changed";
    chain.push(successor);
    last = next;
  }
}

function held(file: string, own: LockOwner, takenFrom?: LockOwner): LockOutcome {
  const release = async () => {
    if ((await readOwner(file))?.token === own.token) await rm(file, { force: true });
  };
  return { held: true, lock: { release, ...(takenFrom !== undefined && { takenFrom }) } };
}

/** False only when it is certain that the owner runs no more; on another host nobody can tell. */
export function isAlive(owner: LockOwner): boolean {
  return owner.host !== hostname() || processStart(owner.pid) === owner.started;
}

/** Who holds `file` now; null when nobody does or it cannot be read. */
export async function readOwner(file: string): Promise<LockOwner | null> {
  try {
    return OwnerSchema.parse(JSON.parse(await readFile(file, "utf8")));
  } catch {
    return null;
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await readFile(file);
    return true;
  } catch {
    return false;
  }
}
