// Measures the memory, descriptors and disk that a gateway takes.
import { once } from "node:events";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunningGateway } from "../gateway/gateway-process.ts";
import type { MemoryReading } from "./memory-probe.ts";

export interface Sample {
  /** Since it began. */
  seconds: number;
  /** How often the gateway was started anew by then. */
  restarts: number;
  rssMB: number;
  /** What of it is in use. NaN: nobody was asked. */
  liveMB: number;
  /** Of V8's compiled code, which is not in `liveMB`. NaN: likewise. */
  codeMB: number;
  descriptors: number;
  /** All but what calls cost and what was logged, of which a line for each is kept. */
  diskMB: number;
  costsMB: number;
}

export interface Sampling {
  /** Resolves when no sample is taken any more. */
  stop(): Promise<void>;
}

/** One after the other. */
export function sampleEvery(everyMs: number, sample: () => Promise<void>): Sampling {
  const over = new AbortController();
  const work = async () => {
    while (!over.signal.aborted) {
      await sleep(everyMs, undefined, { signal: over.signal }).catch(() => {});
      // A gateway that was killed meanwhile has nothing to measure.
      if (!over.signal.aborted) await sample().catch(() => {});
    }
  };
  const working = work();
  return {
    stop() {
      over.abort();
      return working;
    },
  };
}

export async function sampleOf(
  gateway: RunningGateway,
  home: string,
): Promise<Omit<Sample, "seconds" | "restarts">> {
  const open = await readdir(`/proc/${gateway.process.pid}/fd`).catch(() => []);
  const rssMB = Math.round((await gateway.rss()) / 1e6);
  const costs = await bytesBelow(join(home, "costs"));
  const kept = costs + (await bytesBelow(join(home, "logs")));
  return {
    ...{ rssMB, ...(await memoryOf(gateway)), descriptors: open.length },
    ...{ diskMB: ((await bytesBelow(home)) - kept) / 1e6, costsMB: costs / 1e6 },
  };
}

const UNKNOWN: MemoryReading = { liveMB: Number.NaN, codeMB: Number.NaN };

/** Unknown: it was killed meanwhile. */
async function memoryOf({ process: child }: RunningGateway): Promise<MemoryReading> {
  if (!child.connected) return UNKNOWN;
  const over = new AbortController();
  const until = { signal: over.signal };
  const answer = once(child, "message", until) as Promise<[MemoryReading]>;
  const gone = once(child, "disconnect", until).then(() => [UNKNOWN]);
  child.send("memory", () => {});
  try {
    const [reading] = await Promise.race([answer, gone]);
    return reading!;
  } finally {
    over.abort();
  }
}

async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(
      async (file) => (await stat(join(file.parentPath, file.name)).catch(() => null))?.size ?? 0,
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
