// Has one of all gateways tidy the blob storage and fill the search index, now and then.
import type { LogPort } from "@clew/engine-core";
import type { PostgresStore } from "@clew/store-postgres";
import type { Jobs } from "../../jobs/jobs.ts";
import { describeBytes } from "../../limits/size.ts";
import { counted } from "../../text/number.ts";
import type { Indexing } from "./keep-indexed.ts";

/** So long a body that nothing names stays: whoever is about to name it has done so by then. */
const OLDER_THAN_MS = 24 * 3_600_000;
const SWEEP_MS = 6 * 3_600_000;
/** What a gateway left that died behind its turns; searches read it until then. */
const INDEX_MS = 30_000;

export interface UpkeepPorts {
  queue: Pick<Jobs, "every">;
  store: Pick<PostgresStore<never>, "sweepBlobs">;
  indexing: Pick<Indexing, "fillLeft">;
  log: Pick<LogPort, "info" | "warn"> | undefined;
  /** Large bodies are kept elsewhere. */
  hasBlobs: boolean;
}

export async function beginUpkeep({ queue, indexing, hasBlobs, ...ports }: UpkeepPorts) {
  await queue.every("search-index", INDEX_MS, (signal) => indexing.fillLeft(signal));
  if (hasBlobs) await queue.every("blob-sweep", SWEEP_MS, (signal) => sweepOnce(ports, signal));
}

/** Never rejects. */
export async function sweepOnce(
  { store, log }: Pick<UpkeepPorts, "store" | "log">,
  signal: AbortSignal,
): Promise<void> {
  try {
    const { dropped, bytes } = await store.sweepBlobs({ olderThanMs: OLDER_THAN_MS, signal });
    if (dropped > 0)
      log?.info(
        `took ${counted(dropped, "object")} (${describeBytes(bytes)}) out of the blob storage that no session names any more`,
      );
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    log?.warn(`what no session names any more stays in the blob storage for now: ${why}`);
  }
}
