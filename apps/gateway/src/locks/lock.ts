// Locks a file for one process, and takes over the locks of dead processes.
import { randomUUID } from "node:crypto";
import { access, link, open, readdir, rename, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { fromJson, toJson } from "../own-json.ts";
import { isCopy, PlaceSchema, placeOf } from "./file-place.ts";
import { mayRun, ownProcessStart } from "./process-identity.ts";

const OwnerSchema = z.object({
  token: z.string().min(1),
  pid: z.number().int(),
  /**
   * Start time of the process, so that a reused pid is not mistaken for the owner; null = unknown.
   */
  started: z.string().nullable(),
  host: z.string(),
  /** ISO 8601. */
  since: z.string(),
  /** Where the lock was made. Absent in one made by hand, which counts wherever it lies. */
  place: PlaceSchema.optional(),
  /** True: it is taken only to be removed at once. Absent: it is used. */
  passing: z.boolean().optional(),
});

type Owner = z.infer<typeof OwnerSchema>;

export interface LockOwner extends Owner {
  /** The lock was copied from another folder, so it locks nothing here. */
  isCopy: boolean;
}

export interface Lock {
  /** The dead process this lock was taken from, or whoever owns the original of a copied lock. */
  takenFrom?: LockOwner;
  /** False when somebody removed or replaced it. */
  isHeld(): Promise<boolean>;
  release(): Promise<void>;
}

export type LockOutcome =
  | { held: true; lock: Lock }
  | { held: false; owner: LockOwner | null; file: string };

/** Whoever is slower than that in removing a lock may have been stopped in it, ms. */
const PASSING_MS = 10_000;
const PAUSE_MS = 5;

/**
 * Takes the lock `file` or says who has it. `passing`: it is to be removed at once, and whoever
 * else wants it waits for that. Creation is atomic with its content (a hard link of a
 * finished file). A dead owner is succeeded by linking `<file>.<its token>`, which only one
 * process can do; the base file is checked again afterwards, because a link made after the lock
 * changed hands means nothing.
 */
export async function acquireLock(
  file: string,
  { passing = false }: { passing?: boolean } = {},
): Promise<LockOutcome> {
  const token = randomUUID();
  const draft = `${file}.draft-${token}`;
  try {
    await writeDraft(draft, token, passing);
    const until = performance.now() + PASSING_MS;
    // Each round ends in an answer unless the lock changed hands while we looked.
    for (let round = 0; round < 20; round++) {
      const outcome = await tryOnce(file, draft, token);
      if (outcome === "changed") continue;
      if (!outcome.held && outcome.owner?.passing === true && performance.now() < until) {
        await sleep(PAUSE_MS);
        round--;
        continue;
      }
      // Whoever was killed may have left drafts as well.
      if (outcome.held && outcome.lock.takenFrom !== undefined) await sweepDrafts(dirname(file));
      return outcome;
    }
    return { held: false, owner: await readOwner(file), file };
  } finally {
    await rm(draft, { force: true });
  }
}

/** Removes the drafts of dead processes; nobody else uses these any more. */
export async function sweepDrafts(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => /\.lock\.draft-[0-9a-f-]+$/.test(each))) {
    const owner = await readOwner(join(folder, name));
    if (owner !== null && !(await isInForce(owner)))
      await rm(join(folder, name), { force: true }).catch(() => {});
  }
}

async function writeDraft(draft: string, token: string, passing: boolean): Promise<void> {
  const started = await ownProcessStart();
  const owner = { token, pid: process.pid, started, host: hostname() };
  const handle = await open(draft, "wx", 0o600);
  try {
    const place = placeOf(draft, await handle.stat({ bigint: true }));
    await handle.writeFile(
      toJson({
        ...{ ...owner, since: new Date().toISOString(), place },
        ...(passing && { passing }),
      } satisfies Owner),
    );
  } finally {
    await handle.close();
  }
}

async function tryOnce(
  file: string,
  draft: string,
  token: string,
): Promise<LockOutcome | "changed"> {
  if (await linked(draft, file)) return held(file, token);
  const root = await readOwner(file);
  if (root === null) return (await exists(file)) ? { held: false, owner: null, file } : "changed";

  const chain: string[] = [];
  let last = root;
  for (;;) {
    if (await isInForce(last)) return { held: false, owner: last, file };
    const successor = `${file}.${last.token}`;
    if (await linked(draft, successor)) {
      if ((await readOwner(file))?.token !== root.token) {
        await rm(successor, { force: true });
        return "changed";
      }
      await rename(successor, file);
      await Promise.all(chain.map((dead) => rm(dead, { force: true })));
      return held(file, token, last);
    }
    const next = await readOwner(successor);
    if (next === null) return "changed";
    chain.push(successor);
    last = next;
  }
}

function held(file: string, token: string, takenFrom?: LockOwner): LockOutcome {
  const isHeld = async () => (await readOwner(file))?.token === token;
  const release = async () => {
    if (await isHeld()) await rm(file, { force: true });
  };
  return { held: true, lock: { isHeld, release, ...(takenFrom !== undefined && { takenFrom }) } };
}

/**
 * False only when it is certain that the owner runs no more, or never locked anything here; of a
 * process on another host nobody can tell.
 */
export async function isInForce(owner: LockOwner): Promise<boolean> {
  if (owner.isCopy) return false;
  return owner.host !== hostname() || mayRun(owner);
}

/** Who made the lock `file`; null when there is none or it cannot be read. */
export async function readOwner(file: string): Promise<LockOwner | null> {
  try {
    const handle = await open(file, "r");
    try {
      const owner = OwnerSchema.parse(fromJson(await handle.readFile("utf8")));
      const here = placeOf(file, await handle.stat({ bigint: true }));
      return { ...owner, isCopy: owner.place !== undefined && isCopy(owner.place, here) };
    } finally {
      await handle.close();
    }
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
  return access(file).then(
    () => true,
    () => false,
  );
}
