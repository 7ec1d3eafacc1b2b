// Copies all that a database has into a folder in which it can be forgotten.
import { randomUUID } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { PostgresCopy } from "@clew/store-postgres";
import { transcriptPlace } from "../../sessions/paths.ts";
import { copyOut } from "../../storage/copy/copy-out.ts";
import { printInHome } from "../../storage/copy/engine-rows-out.ts";
import { createEngineStores } from "../../storage/copy/engine-stores.ts";
import { jobIdsIn, readJobTexts, runsOfText } from "../../storage/copy/job-texts.ts";
import { bytesIn, type LeftBehind, shaOf } from "../../storage/copy/walk-home.ts";
import { scratchOf } from "../scratch-place.ts";
import { onlyReading } from "./only-reading.ts";
import type { ScratchRecord } from "./scratch-record.ts";

export interface ScratchRequest {
  /** That of the command. */
  home: string;
  copy: PostgresCopy;
  /** As the settings of the lossless engine say. */
  compress: boolean;
  signal: AbortSignal;
  says(text: string): void;
}

export interface Scratch {
  record: ScratchRecord;
  /** What could not be looked into. */
  left: LeftBehind[];
}

/** In the place of one that an earlier process left. The database is only read. */
export async function makeScratch(request: ScratchRequest): Promise<Scratch> {
  const { copy, compress, signal, says } = request;
  const home = scratchOf(request.home);
  await rm(home, { recursive: true, force: true });
  await mkdir(home, { recursive: true, mode: 0o700 });
  const engines = createEngineStores({ home, databasePath: undefined, compress, isMade: true });
  try {
    const sessions = await copy.sessions();
    const reading = { copy: onlyReading(copy, sessions), homeId: randomUUID() };
    const { left } = await copyOut({ ...reading, home, engines, isCheck: false, signal, says });
    const files = await stampsOf(home);
    const there = sessions.filter(
      ({ agentId, sessionId }) => files[transcriptPlace(agentId, sessionId)] !== undefined,
    );
    const record: ScratchRecord = {
      ...{ v: 1, clusterId: copy.clusterId, sessions: [], files },
      ...{ waiting: await waitingIn(copy), runs: await runsIn(home) },
    };
    for (const { agentId, sessionId, key, step } of there) {
      const rows = await printInHome(engines, { agentId, sessionId, key });
      record.sessions.push({ agentId, sessionId, key, step, rows });
    }
    return { record, left };
  } finally {
    engines.close();
  }
}

async function waitingIn(copy: PostgresCopy): Promise<ScratchRecord["waiting"]> {
  const rows = Map.groupBy(await copy.inbox(), ({ agentId, key }) => `${agentId}\n${key}`);
  return [...rows.values()].map((own) => ({
    ...{ agentId: own[0]!.agentId, key: own[0]!.key },
    names: own.map(({ name }) => name),
  }));
}

async function runsIn(home: string): Promise<ScratchRecord["runs"]> {
  const found: ScratchRecord["runs"] = [];
  for (const id of await jobIdsIn(home)) {
    const runs = runsOfText((await readJobTexts(home, id)).runs);
    found.push({ id, runs: runs.map(({ due, startedAt }) => ({ due, startedAt })) });
  }
  return found;
}

/** SHA-256 of all files of sessions and jobs, by their places; locks are left out. */
export async function stampsOf(home: string): Promise<Record<string, string>> {
  const stamps: Record<string, string> = {};
  for (const folder of ["agents", "cron"]) {
    const entries = await readdir(join(home, folder), {
      ...{ recursive: true, withFileTypes: true },
    }).catch(() => []);
    for (const entry of entries) {
      if (!entry.isFile() || /\.lock(?:\.|$)/.test(entry.name)) continue;
      const path = join(entry.parentPath, entry.name);
      const place = relative(home, path).split(sep).join("/");
      stamps[place] = await shaOf(bytesIn({ ...WHOLE, place, path }));
    }
  }
  return stamps;
}

const WHOLE = { kind: "file" as const, isOwn: false, size: Number.MAX_SAFE_INTEGER, changedAt: 0 };
