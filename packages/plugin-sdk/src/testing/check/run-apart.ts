// Runs cases in a process of their own, which may block, end or be ended.
import { type ChildProcess, fork } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { CaseResult, ConformanceReport } from "../conformance.ts";
import type { Script } from "../sessions/script.ts";
import { PULSE_FD, type Pulse, PulseWatch, silenceMs } from "./pulse.ts";

/** What a child is to run. */
export interface Job {
  engine: string;
  folder: string;
  /** Which of its engines. Absent: the only one. */
  engineId?: string | undefined;
  /** Of the plugin. */
  settings: unknown;
  /** Ids, in order. */
  cases: readonly string[];
  callTimeoutMs: number;
  sessions: { count?: number; seed?: number };
  /** This session in the place of cases. Absent: the cases. */
  replay?: Script | undefined;
}

/** What a child tells, one at a time. */
export type Told =
  | { kind: "engine"; engine: ConformanceReport["engine"] }
  | { kind: "begins"; id: string }
  | { kind: "result"; result: CaseResult }
  /** What the engine did meanwhile that costs it the case, whatever that comes to. */
  | { kind: "unruly"; reason: string }
  | { kind: "unusable"; reason: string };

export interface Apart {
  /** The file that is run as the child. */
  main: string;
  describe: (id: string) => Pick<CaseResult, "id" | "group" | "title">;
  onBegin: (id: string) => void;
  /** True ends the run. */
  onResult: (result: CaseResult) => boolean;
  signal: AbortSignal;
}

/** Processes that may block or end before the rest is given up. */
const MOST_LOST = 3;
/** For what a process printed before it ended, ms. */
const LAST_WORDS_MS = 300;
/** Until a process has loaded what it runs, ms. */
const START_MS = 120_000;

/** The engine's name, or why there is nothing to check. */
export async function runApart(
  job: Job,
  apart: Apart,
): Promise<{ engine: ConformanceReport["engine"] } | { unusable: string }> {
  let engine: ConformanceReport["engine"] = null;
  let wasMade = false;
  let left = job.cases;
  for (let lost = 0; left.length > 0 && !apart.signal.aborted; ) {
    const done = await runChild({ ...job, cases: left }, apart);
    engine ??= done.engine;
    wasMade ||= done.wasMade;
    if (done.unusable !== undefined) return { unusable: done.unusable };
    left = left.slice(done.finished);
    if (done.isOver || apart.signal.aborted) break;
    const [stuck, ...rest] = left;
    if (stuck === undefined) break;
    const over = apart.onResult({
      ...apart.describe(stuck),
      outcome: "failed",
      reason: done.reason!,
    });
    left = rest;
    if (over) break;
    if (++lost < MOST_LOST && wasMade) continue;
    const when = wasMade ? `${MOST_LOST} times before` : "before one was made";
    for (const id of left)
      apart.onResult({
        ...apart.describe(id),
        outcome: "failed",
        reason: `Not run: the engine blocked or ended its process ${when}.`,
      });
    break;
  }
  return { engine };
}

interface Done {
  engine: ConformanceReport["engine"];
  /** False: it did not get so far. */
  wasMade: boolean;
  finished: number;
  /** Nothing else is to be run. */
  isOver: boolean;
  /** Why the case that was running did not end. Absent: none was. */
  reason?: string;
  unusable?: string;
}

function runChild(job: Job, { main, onBegin, onResult, signal }: Apart): Promise<Done> {
  return new Promise((resolve) => {
    // What it prints goes through us: a program that it leaves behind would hold our own output.
    const stdio = ["ignore", "pipe", "pipe", "ipc", "pipe"] as const;
    const child: ChildProcess = fork(main, ["--child"], {
      stdio: [...stdio],
      // A group of its own, to be ended with what it started.
      detached: process.platform !== "win32",
    });
    child.stdout!.pipe(process.stderr, { end: false });
    child.stderr!.pipe(process.stderr, { end: false });
    const done: Done = { engine: null, wasMade: false, finished: 0, isOver: false };
    let unruly: string | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const kill = () => endGroup(child);
    const boundMs = job.callTimeoutMs;
    const end = () => {
      done.reason = `It kept its process busy for ${boundMs / 1000} s, so that nothing else could run.`;
      kill();
    };
    const watch = (silentMs: number) => {
      clearTimeout(timer);
      timer = setTimeout(end, silentMs);
    };
    const pulse = new PulseWatch(boundMs);
    createInterface(child.stdio[PULSE_FD] as Readable).on("line", (line) => {
      watch(silenceMs(boundMs));
      if (pulse.isStuck(JSON.parse(line) as Pulse, performance.now())) end();
    });
    signal.addEventListener("abort", kill, { once: true });
    child.on("message", (told: Told) => {
      watch(silenceMs(boundMs));
      if (told.kind === "engine") {
        done.engine = told.engine;
        done.wasMade = true;
      }
      if (told.kind === "unruly") unruly ??= told.reason;
      if (told.kind === "begins") onBegin(told.id);
      if (told.kind === "unusable") done.unusable = shown(told.reason);
      if (told.kind !== "result") return;
      done.finished++;
      done.wasMade = true;
      const { reason } = told.result;
      const result = { ...told.result, ...(reason !== undefined && { reason: shown(reason) }) };
      const isBlamed = unruly !== undefined && result.outcome !== "failed";
      const judged: CaseResult = isBlamed
        ? { ...result, outcome: "failed", reason: unruly! }
        : result;
      unruly = undefined;
      if (!onResult(judged)) return;
      done.isOver = true;
      kill();
    });
    child.on("error", (error) => {
      done.unusable ??= `No process can be started for it: ${error.message}`;
    });
    child.on("exit", (code, ended) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", kill);
      kill();
      // Its last words are still to come, but not those of a program that lives on.
      const letGo = setTimeout(() => {
        for (const stream of [child.stdout!, child.stderr!]) stream.unpipe().destroy();
        (child.stdio[PULSE_FD] as Readable).destroy();
      }, LAST_WORDS_MS);
      child.once("close", () => clearTimeout(letGo));
      done.reason ??= `It ended its process (${ended ?? `exit code ${code}`}).`;
      resolve(done);
    });
    child.send(job);
    watch(START_MS);
  });
}

/** With what it started, unless that made itself leader of a group of its own. */
function endGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined && process.platform !== "win32")
      process.kill(-child.pid, "SIGKILL");
    else child.kill("SIGKILL");
  } catch {
    // It is over.
  }
}

const MOST_SHOWN = 10_000;

/** Pure. What an engine says must neither steer a terminal nor fill a report. */
function shown(text: string): string {
  const clean = text.replace(
    /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    " ",
  );
  return clean.length > MOST_SHOWN ? `${clean.slice(0, MOST_SHOWN)}…` : clean;
}
