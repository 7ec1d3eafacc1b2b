// Looks again and again for messages that other gateways left, and takes them in.
import type { LogPort } from "@clew/engine-core";
import type { SharedWaiting } from "./waiting-store.ts";

export interface Lookout {
  /** Looks now, and from then on. */
  start(): void;
  stop(): void;
}

export interface LookoutOptions {
  shared: Pick<SharedWaiting, "due" | "everyMs">;
  log: Pick<LogPort, "warn" | "info">;
  /** Sessions in which something waits or runs already. */
  known(): readonly string[];
  /** Takes in what waits in a session, and lets it begin; how many messages. */
  takeIn(key: string): Promise<number>;
}

/** Where one look did not find all. */
const AGAIN_MS = 20;

export function createLookout({ shared, log, known, takeIn }: LookoutOptions): Lookout {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;
  let isFailing = false;

  const look = async (): Promise<number> => {
    const { keys, isMore } = await shared.due(known());
    const counts = await Promise.all(keys.map(takeIn));
    const count = counts.reduce((sum, each) => sum + each, 0);
    if (count > 0) log.info(`messages that waited at other gateways begin here: ${count}`);
    return isMore ? AGAIN_MS : shared.everyMs;
  };
  const lookAgain = async (): Promise<void> => {
    const waitMs = await look().then(
      (ms) => {
        isFailing = false;
        return ms;
      },
      (error: Error) => {
        // Once: a database that is away is told elsewhere, too.
        if (!isFailing && !isStopped)
          log.warn(`messages that other gateways left are not looked for: ${error.message}`);
        isFailing = true;
        return shared.everyMs;
      },
    );
    if (!isStopped) timer = setTimeout(() => void lookAgain(), waitMs).unref();
  };
  return {
    start() {
      if (timer === undefined && !isStopped) timer = setTimeout(() => void lookAgain(), 0).unref();
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
