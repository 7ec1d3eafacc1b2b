// What the process and the thread that watches it say to each other.
import type { PluginFolder } from "../load/module-hooks.ts";

/** What the thread is given. */
export interface WatchdogOrder {
  home: string;
  limitMs: number;
  /** By `CELL`. */
  cells: Int32Array;
  /** Of a process that a plugin blocks. */
  exitCode: number;
  /** Without it `BlockedProcess.end` does nothing. */
  token: string;
  /** Where Clew's own code is. */
  ownFolder: string;
}

/** What `CELL.running` says while a plugin works that comes with Clew. */
export const OURS = -1;

/** `turns` is how often all that code waits for had come through. */
export const CELL = {
  ...{ beats: 0, running: 1, held: 2, turns: 3 },
  /** Turns of sessions that broke since one was completed. */
  broken: 4,
  /** How much of the time since the beat before the loop worked, of a hundred. */
  load: 5,
  count: 6,
} as const;

/** Sent to the thread before the plugin runs for the first time. */
export interface NamedPlugin extends PluginFolder {
  /** What `CELL.running` says while its code is called; `OURS`: it is trusted. */
  number: number;
}

/** Sent to the thread when plugins changed what cannot be put back. */
export interface LastingChange {
  /** All that could have done it. */
  changedBy: readonly string[];
  name: string;
  /** True: the language itself does something else now, and no code can be relied on. */
  isOfLanguage: boolean;
}

/** Sent by the thread: it takes more of the loop's time than is good for others. */
export interface BusyPlugin {
  busy: string;
  message: string;
}

/** Sent to the thread when the gateway begins to answer there, and when it no longer means to. */
export interface AskedPort {
  port: number | null;
}

/** Sent to the thread when the process is to end soon: then it waits no longer than this. */
export interface EndingSoon {
  endingMs: number;
}

/** What the thread asks for in the process that it watches, while nothing else runs there. */
export interface BlockedProcess {
  /** In whose async context it is. */
  context(): string | null;
  end(token: string, exitCode: number): void;
}
export const BLOCKED_PROCESS = "clew.blocked-process";
