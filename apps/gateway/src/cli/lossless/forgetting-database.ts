// Opens the database in which a command forgets, where sessions are in one.
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { PostgresCopy } from "@clew/store-postgres";
import { openBlobs } from "../../blobs/open-blobs.ts";
import type { Environment } from "../../config/environment.ts";
import { loadConfig } from "../../config/load.ts";
import { losslessStoreSettings } from "../../config/lossless-file.ts";
import { removeScratch, resumeInDatabase } from "../../forget/postgres/in-database.ts";
import type { ScratchRequest } from "../../forget/postgres/make-scratch.ts";
import { type Forgotten, resumeForgetting } from "../../forget/run.ts";
import { scratchRecordFile } from "../../forget/scratch-place.ts";
import { onlyOneCopy } from "../../storage/copy/only-one.ts";
import { openCopy, requireDatabase } from "../../storage/copy/open-copy.ts";
import { nameOfDatabase } from "../../storage/copy/plan-copy.ts";
import { idOfHome } from "../../storage/home-id.ts";
import { planStorage } from "../../storage/plan-storage.ts";
import type { Output } from "../../terminal/output.ts";
import { interruptible } from "../interruptible.ts";

/** A database in which something is to be forgotten. */
export interface ForgettingDatabase {
  readonly request: ScratchRequest;
  /** For people. */
  readonly name: string;
}

/** What `work` is given is null where sessions are in files. Throws GATEWAY_RUNNING. */
export async function withDatabase<Answer>(
  { environment, output }: { environment: Environment; output: Pick<Output, "note"> },
  { isChange }: { isChange: boolean },
  work: (database: ForgettingDatabase | null) => Promise<Answer>,
): Promise<Answer> {
  const { home } = environment;
  const { config } = await loadConfig(environment.configFile);
  const plan = planStorage(config, environment);
  if (plan.kind === "files") return work(null);
  if (plan.kind === "refused") throw new ContextEngineError("CONFIG_INVALID", plan.problems[0]!);
  const { url } = plan;
  await requireDatabase(url);
  const lock = await onlyOneCopy(home);
  try {
    if (!isChange) refuseUnfinished(home);
    const place = `forgetting in ${await idOfHome(home)} at ${hostname()}`;
    const copy = await openCopy({
      ...{ url, blobs: await openBlobs(config, environment) },
      place,
      warn: (text) => output.note(`clew: ${text}`),
    });
    try {
      if (isChange) await requireNoGateway(copy, place);
      const { compress } = losslessStoreSettings(config);
      return await interruptible(output, (interrupted) =>
        work({ name: nameOfDatabase(url), request: { home, copy, compress, ...interrupted } }),
      );
    } finally {
      await copy.close().catch(() => {});
      if (!existsSync(scratchRecordFile(home))) await removeScratch(home);
    }
  } finally {
    await lock.release();
  }
}

/** Gateways have in memory what they store behind what is forgotten. */
async function requireNoGateway({ forgetting }: PostgresCopy, place: string): Promise<void> {
  const living = await forgetting.living(place);
  if (living.length === 0) return;
  throw new ContextEngineError(
    "GATEWAY_RUNNING",
    `Gateways of this database run (${living.join(", ")}), and would go on with what is to be forgotten; stop all of them (one that was killed counts as dead some seconds later), and forget then.`,
  );
}

function refuseUnfinished(home: string): void {
  if (!existsSync(scratchRecordFile(home))) return;
  throw new ContextEngineError(
    "REQUEST_INVALID",
    "Something else was being forgotten when a process ended; run clew lossless forget --resume, and ask then.",
  );
}

/** Null: nothing was being forgotten when a process ended. */
export async function resumeAll(
  home: string,
  database: ForgettingDatabase | null,
): Promise<Forgotten | null> {
  const stored = database && (await resumeInDatabase(database.request));
  const inFiles = await resumeForgetting(home);
  return stored ?? inFiles;
}
