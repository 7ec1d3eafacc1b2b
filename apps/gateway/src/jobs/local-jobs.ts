// Hands out work within this process, for which nobody else works.
import type { LogPort } from "@clew/engine-core";
import { errorText } from "../text/error-text.ts";
import type { Jobs, RunWork, Work } from "./jobs.ts";

export interface LocalJobsOptions {
  log: Pick<LogPort, "error">;
  /** Before what failed is begun again, ms. Absent: a second. */
  againMs?: number;
}

/** What waits is gone with the process: whoever sends it keeps what has to outlive that. */
export function createLocalJobs({ log, againMs = 1_000 }: LocalJobsOptions): Jobs {
  const stopping = new AbortController();
  const workers = new Map<string, RunWork>();
  /** By queue and key: what waits for somebody who works on it, and what is done now. */
  const waiting = new Map<string, { queue: string; work: Work }>();
  const running = new Map<string, Promise<void>>();
  const timers = new Set<NodeJS.Timeout>();
  let isStopped = false;

  function begin(queue: string, work: Work): void {
    const run = workers.get(queue);
    const name = `${queue}\n${work.key}`;
    if (isStopped || running.has(name)) return;
    if (run === undefined) return void waiting.set(name, { queue, work });
    waiting.delete(name);
    const doing = run(work, stopping.signal)
      .then(() => true)
      .catch((error: unknown) => {
        if (!isStopped) log.error(`${queue} ${work.key}: ${errorText(error)}`);
        return false;
      })
      .then((isDone) => {
        running.delete(name);
        if (!isDone) after(againMs, () => begin(queue, work));
      });
    running.set(name, doing);
  }
  function after(ms: number, act: () => void): void {
    if (isStopped) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      act();
    }, ms);
    timer.unref();
    timers.add(timer);
  }
  return {
    async send(queue, work) {
      begin(queue, work);
    },
    async work(queue, run) {
      workers.set(queue, run);
      for (const each of [...waiting.values()]) if (each.queue === queue) begin(queue, each.work);
    },
    async every(name, everyMs, run) {
      workers.set(name, (_work, signal) => run(signal));
      const next = () => {
        begin(name, { key: name, data: null });
        after(everyMs, next);
      };
      next();
    },
    async stop(graceMs = 0) {
      isStopped = true;
      for (const timer of timers) clearTimeout(timer);
      const cancel = setTimeout(() => stopping.abort(), graceMs);
      await Promise.all(running.values());
      clearTimeout(cancel);
    },
  };
}
