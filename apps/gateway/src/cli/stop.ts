// Listens for what ends a command that runs on until it is told to stop.
import { EXIT } from "../terminal/exit-codes.ts";

/** Why a command that runs on ends, and with which exit code. */
export interface Ending {
  reason: string;
  exitCode: number;
  /** Time that running replies get. Absent: as usual. */
  graceMs?: number | undefined;
}

export interface Stop {
  /** The first reason to stop. */
  ending: Promise<Ending>;
  now(ending: Ending): void;
}

/** A second signal ends the process at once. */
export function listenForStop(): Stop {
  const { promise: ending, resolve: now } = Promise.withResolvers<Ending>();
  let stopping = false;
  const stop = (reason: string) => {
    stopping = true;
    now({ reason, exitCode: EXIT.done });
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => {
      if (stopping) process.exit(EXIT.cancelled);
      stop(signal);
    });
  process.on("disconnect", () => stop("its parent ended"));
  return { ending, now };
}
