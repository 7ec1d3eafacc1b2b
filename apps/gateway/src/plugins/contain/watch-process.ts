// Watches a process that plugins are loaded into, be it a gateway's or a command's.
import type { LogPort } from "@clew/engine-core";
import { startWatchdog, UNWATCHED, type Watchdog } from "./watchdog.ts";

let exitCode: number | undefined;
let watchdog: Watchdog | undefined;

/** To be said where the process is Clew's alone, with what it ends with when it is blocked. */
export function allowWatching(code: number): void {
  exitCode = code;
}

/** Once in a process; to its end, for what plugins leave behind may keep it from that. */
export function watchProcess(order: {
  home: string;
  /** `gateway.watchdogSeconds`. */
  seconds: number;
  log: Pick<LogPort, "warn">;
}): Watchdog {
  if (exitCode === undefined) return UNWATCHED;
  watchdog ??= startWatchdog({ ...order, exitCode });
  return watchdog;
}
