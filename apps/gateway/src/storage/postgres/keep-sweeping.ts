// Takes away now and then what the blob storage keeps and no session names any more.
import type { LogPort } from "@clew/engine-core";
import type { PostgresStore } from "@clew/store-postgres";
import { describeBytes } from "../../limits/size.ts";
import { counted } from "../../text/number.ts";

/** So long a body that nothing names stays: whoever is about to name it has done so by then. */
const OLDER_THAN_MS = 24 * 3_600_000;
/** The first time of a start: so that gateways that start together do not do it together, ms. */
const FIRST_MS = 20 * 60_000;
const EVERY_MS = 6 * 3_600_000;

export interface SweepingPorts {
  store: Pick<PostgresStore<never>, "sweepBlobs">;
  log: Pick<LogPort, "info" | "warn"> | undefined;
  /** Fires when this gateway may no longer act. */
  alive: AbortSignal;
}

/** Every gateway does it: what one takes away no other finds. */
export function keepSweeping(ports: SweepingPorts): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const signal = AbortSignal.any([stopping.signal, ports.alive]);
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> | undefined;
  function arm(ms: number): void {
    if (signal.aborted) return;
    timer = setTimeout(() => {
      sweeping = sweepOnce(ports, signal).finally(() => arm(EVERY_MS * (0.75 + Math.random() / 2)));
    }, ms);
    timer.unref();
  }
  arm(FIRST_MS * (0.5 + Math.random()));
  return {
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await sweeping;
    },
  };
}

/** Never rejects. */
export async function sweepOnce({ store, log }: SweepingPorts, signal: AbortSignal): Promise<void> {
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
