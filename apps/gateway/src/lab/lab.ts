// Plays sessions for a gateway in a process beside it, one at a time.
import { type ChildProcess, fork } from "node:child_process";
import { createRequire } from "node:module";
import { constants, setPriority } from "node:os";
import type { Environment } from "../config/environment.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { LabTold, PlayOrder } from "./lab-order.ts";
import { makePlace, removePlace } from "./play.ts";
import type { WhatIfAsk, WhatIfEvent } from "./shapes.ts";

export interface Lab {
  /** Who is being played; null = nobody is. */
  playing(): string | null;
  /**
   * Tells of its progress; the last event is "done" or "error". To be called while nobody is
   * played. `signal` ends it at once, whatever the engine does.
   */
  whatIf(session: string, ask: WhatIfAsk, watched: LabWatch): Promise<void>;
  close(): void;
}

export interface LabWatch {
  onEvent(event: WhatIfEvent): void;
  signal: AbortSignal;
}

export interface LabOptions {
  environment: Pick<Environment, "home" | "configFile">;
  /** Settings in force. */
  settings: () => Pick<LoadedConfig, "config" | "raw">;
  /** Longest time of one play, ms. Absent: PLAY_MS. */
  playMs?: number;
}

/** A session of a million tokens takes some seconds. */
export const PLAY_MS = 180_000;
const MEMORY_MB = 1024;

export function createLab({ environment, settings, playMs = PLAY_MS }: LabOptions): Lab {
  let playing: { session: string; child: ChildProcess } | null = null;
  return {
    playing: () => playing?.session ?? null,
    async whatIf(session, ask, { onEvent, signal }) {
      const child = startLabProcess();
      playing = { session, child };
      const gone = new Promise((resolve) => child.once("close", resolve));
      const { home, configFile } = environment;
      const place = await makePlace();
      const loaded = settings();
      const order = { kind: "what-if" as const, home, configFile, loaded, session, place, ask };
      try {
        onEvent(await playedBy(child, { order, onEvent, signal, playMs }));
      } finally {
        child.kill("SIGKILL");
        await gone;
        await removePlace(place);
        playing = null;
      }
    },
    close: () => void playing?.child.kill("SIGKILL"),
  };
}

/** What it says goes nowhere; what it finds comes as messages. */
export function startLabProcess(): ChildProcess {
  const program = createRequire(import.meta.url).resolve("#lab-process");
  const source = program.endsWith(".ts") ? ["--conditions=@clew/source"] : [];
  const child = fork(program, [], {
    execArgv: [
      ...source,
      ...["--disable-warning=ExperimentalWarning", `--max-old-space-size=${MEMORY_MB}`],
    ],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
  });
  yieldToOthers(child);
  return child;
}

interface Play extends LabWatch {
  order: PlayOrder;
  playMs: number;
}

/** Resolves with the last event, whatever becomes of the process. */
function playedBy(
  child: ChildProcess,
  { order, onEvent, signal, playMs }: Play,
): Promise<WhatIfEvent> {
  return new Promise((resolve) => {
    const failed = (code: string, message: string) =>
      resolve({ type: "error", error: { code, message } });
    const late = setTimeout(
      () => failed("ENGINE_TIMEOUT", `It was not played within ${playMs / 1000} s, and is ended.`),
      playMs,
    ).unref();
    const onAbort = () => failed("ABORTED", "The run was cancelled.");
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    child.on("message", (told: LabTold) => {
      if (told.type === "progress") onEvent(told);
      else if (told.type === "done" || told.type === "error") resolve(told);
    });
    child.once("error", ({ message }) => failed("INTERNAL", `It could not be played: ${message}.`));
    child.once("exit", (code, killedBy) => {
      clearTimeout(late);
      signal.removeEventListener("abort", onAbort);
      const how = killedBy ?? `exit code ${code}`;
      failed(
        "ENGINE_OPERATION_FAILED",
        `The process that played it ended (${how}); the engine may have taken more memory than it is given, or ended it.`,
      );
    });
    child.send(order);
  });
}

/** Whoever talks to the gateway goes first. */
export function yieldToOthers({ pid }: Pick<ChildProcess, "pid">): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended, or the system has no priorities.
  }
}
