// Keeps what is known of child sessions on disk, and which process runs them.
import { renameSync } from "node:fs";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { LogPort } from "@clew/engine-core";
import { makeOwnFolder } from "../home/no-links.ts";
import { writeOwn } from "../home/own-writes.ts";
import { acquireLock, isInForce, type Lock, readOwner } from "../locks/lock.ts";
import { fromJson, toJson } from "../own-json.ts";
import { listAgents } from "../sessions/list-sessions.ts";
import { agentPaths } from "../sessions/paths.ts";
import { type Child, ChildSchema, childId, isOver } from "./child.ts";
import { lostEnding } from "./ending.ts";

export interface ChildFiles {
  /** Other gateways write them, too, at any time. Absent: processes of this home alone. */
  isShared?: boolean;
  /** Durable when it resolves. */
  write(child: Child): Promise<void>;
  /** Durable beside what is there; the answer, called, puts it in its place in one step. */
  stage(child: Child): Promise<() => void | Promise<void>>;
  remove(child: Child): Promise<void>;
  /** As it is on disk now; undefined = there is none. */
  read(child: Child): Promise<Child | undefined>;
  /** Of every agent, oldest first; files that hold no child are told of in the log, and stay. */
  all(): Promise<Child[]>;
  /** Null: a process runs it, perhaps this one. */
  lock(child: Child): Promise<Lock | null>;
  /** Takes away what processes that died left half written. */
  tidy(): Promise<void>;
}

export function createChildFiles({ home, log }: { home: string; log: LogPort }): ChildFiles {
  const folderOf = (agentId: string) => agentPaths(home, agentId).subagents;
  const fileOf = ({ agentId, key }: Child) => join(folderOf(agentId), `${childId(key)}.json`);
  const makeFolder = ({ agentId }: Child) => makeOwnFolder(home, folderOf(agentId));
  const writeTo = async (file: string, child: Child) => {
    await makeFolder(child);
    await writeOwn(file, `${toJson(child, null, 2)}\n`);
  };
  return {
    write: (child) => writeTo(fileOf(child), child),
    async stage(child) {
      const staged = `${fileOf(child)}.staged`;
      await writeTo(staged, child);
      return () => renameSync(staged, fileOf(child));
    },
    remove: (child) => rm(fileOf(child), { force: true }),
    read: (child) => readChild(fileOf(child), log),
    all: () => readChildren({ home, log }),
    async lock(child) {
      await makeFolder(child);
      const outcome = await acquireLock(`${fileOf(child)}.lock`);
      return outcome.held ? outcome.lock : null;
    },
    async tidy() {
      for (const agentId of await listAgents(home)) await tidyFolder(folderOf(agentId));
    },
  };
}

/** Files of locks and records that are younger may be about to get their name, ms. */
const HALF_WRITTEN_MS = 60_000;

async function tidyFolder(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => !each.endsWith(".json"))) {
    const file = join(folder, name);
    if (name.endsWith(".json.lock")) {
      const outcome = await acquireLock(file);
      if (outcome.held) await outcome.lock.release();
    } else {
      const found = await stat(file).catch(() => null);
      if (found !== null && Date.now() - found.mtimeMs > HALF_WRITTEN_MS)
        await rm(file, { force: true });
    }
  }
}

/** Of every agent, oldest first. */
export async function readChildren({
  home,
  log,
}: {
  home: string;
  log: Pick<LogPort, "warn">;
}): Promise<Child[]> {
  const ofAgent = async (agentId: string) => {
    const folder = agentPaths(home, agentId).subagents;
    const names = await readdir(folder).catch(() => []);
    const files = names.filter((name) => name.endsWith(".json"));
    return Promise.all(files.map((name) => readChild(join(folder, name), log)));
  };
  const found = await Promise.all((await listAgents(home)).map(ofAgent));
  return found
    .flat()
    .filter((child) => child !== undefined)
    .sort((a, b) => a.startedAt - b.startedAt);
}

/** Those that are not over and that nobody runs are lost, as the next start will record. */
export function withLost(home: string, children: readonly Child[]): Promise<Child[]> {
  return Promise.all(
    children.map(async (child) => {
      const file = join(agentPaths(home, child.agentId).subagents, `${childId(child.key)}.json`);
      const owner = isOver(child) ? null : await readOwner(`${file}.lock`);
      if (isOver(child) || (owner !== null && (await isInForce(owner)))) return child;
      const { reply: _none, ...end } = lostEnding(child);
      return { ...child, end: { ...end, at: Date.now() } };
    }),
  );
}

async function readChild(file: string, log: Pick<LogPort, "warn">): Promise<Child | undefined> {
  try {
    return ChildSchema.parse(fromJson(await readFile(file, "utf8")));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT")
      log.warn(`${file} holds no child session and is passed over; delete it if nobody needs it.`);
    return undefined;
  }
}
