// Watches a process that plugins are loaded into, be it a gateway's or a command's.
import type { LogPort } from "@clew/engine-core";
import { EXIT } from "../../terminal/exit-codes.ts";
import { startWatchdog, type Watchdog } from "./watchdog.ts";

let watchdog: Watchdog | undefined;

/** Once in a process; to its end, for what plugins leave behind may keep it from that. */
export function watchProcess(order: {
  home: string;
  /** `gateway.watchdogSeconds`. */
  seconds: number;
  log: Pick<LogPort, "warn">;
}): Watchdog {
  watchdog ??= startWatchdog({ ...order, exitCode: EXIT.blocked });
  return watchdog;
}
