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
/** Until a process has loaded what it runs, ms. */
const START_MS = 120_000;

/** The engine's name, or why there is nothing to check. */
export async function runApart(
  job: Job,
  apart: Apart,
): Promise<{ engine: ConformanceReport["engine"] } | { unusable: string }> {
  let engine: ConformanceReport["engine"] = null;
  let left = job.cases;
  for (let lost = 0; left.length > 0 && !apart.signal.aborted; ) {
    const done = await runChild({ ...job, cases: left }, apart);
    engine ??= done.engine;
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
    if (++lost < MOST_LOST) continue;
    for (const id of left)
      apart.onResult({
        ...apart.describe(id),
        outcome: "failed",
        reason: `Not run: the engine blocked or ended its process ${MOST_LOST} times before.`,
      });
    break;
  }
  return { engine };
}

interface Done {
  engine: ConformanceReport["engine"];
  finished: number;
  /** Nothing else is to be run. */
  isOver: boolean;
  /** Why the case that was running did not end. Absent: none was. */
  reason?: string;
  unusable?: string;
}

function runChild(job: Job, { main, onBegin, onResult, signal }: Apart): Promise<Done> {
  return new Promise((resolve) => {
    const stdio = ["ignore", 2, 2, "ipc", "pipe"] as const;
    const child: ChildProcess = fork(main, ["--child"], { stdio: [...stdio] });
    const done: Done = { engine: null, finished: 0, isOver: false };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const kill = () => child.kill("SIGKILL");
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
      if (told.kind === "engine") done.engine = told.engine;
      if (told.kind === "begins") onBegin(told.id);
      if (told.kind === "unusable") done.unusable = told.reason;
      if (told.kind !== "result") return;
      done.finished++;
      if (!onResult(told.result)) return;
      done.isOver = true;
      kill();
    });
    child.on("error", (error) => {
      done.unusable ??= `No process can be started for it: ${error.message}`;
    });
    child.on("exit", (code, ended) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", kill);
      done.reason ??= `It ended its process (${ended ?? `exit code ${code}`}).`;
      resolve(done);
    });
    child.send(job);
    watch(START_MS);
  });
}
