// Hands turns that are over to the process in which shadow engines live.
import type { ChildProcess } from "node:child_process";
import type { HostSession, LogPort, TurnReport } from "@clew/engine-core";
import { agentSettings } from "../config/agent.ts";
import type { Environment } from "../config/environment.ts";
import type { LoadedConfig } from "../config/load.ts";
import { errorText } from "../text/error-text.ts";
import { startLabProcess } from "./lab.ts";
import type { LabTold } from "./lab-order.ts";
import { toolsOf } from "./session-recording.ts";
import { appendShadowLine, shadowFile } from "./shadow-lines.ts";
import type { ShadowJob } from "./shadow-player.ts";

export interface Shadows {
  /** Returns at once and never throws: the reply is stored, and nobody waits. */
  afterTurn(session: HostSession, report: TurnReport): void;
  /** Resolves when all that was handed over is played, or was given up. */
  settled(): Promise<void>;
  close(): void;
}

export interface ShadowsOptions {
  environment: Pick<Environment, "home" | "configFile">;
  /** As of `Storage`. Absent: the home. */
  records?: string;
  settings: () => Pick<LoadedConfig, "config" | "raw">;
  log: LogPort;
  /** Longest time of one turn, ms. Absent: TURN_MS. */
  turnMs?: number | undefined;
}

const TURN_MS = 60_000;
/** Ends in a row after which no process is started for an engine any more. */
const MOST_ENDS = 3;

export function createShadows(options: ShadowsOptions): Shadows {
  const { environment, settings, log, turnMs = TURN_MS } = options;
  /** The newest turn of each session: what came before it is played with it. */
  const waiting = new Map<string, ShadowJob>();
  const ends = new Map<string, number>();
  let child: ChildProcess | undefined;
  let running: Promise<void> | undefined;
  let isClosed = false;

  const processOf = () => {
    if (child !== undefined) return child;
    const started = startLabProcess();
    const { home, configFile } = environment;
    started.once("exit", () => {
      if (child === started) child = undefined;
    });
    started.on("error", () => started.kill("SIGKILL"));
    const { records = home } = options;
    started.send({ kind: "settings", home, configFile, records, loaded: settings() });
    child = started;
    return started;
  };

  const run = async () => {
    for (const [id, job] of waiting) {
      if (isClosed) return;
      waiting.delete(id);
      const trouble = await playIn(processOf(), job, turnMs);
      if (isClosed) return;
      if (trouble === null) ends.delete(job.engine);
      else {
        child?.kill("SIGKILL");
        child = undefined;
        ends.set(job.engine, (ends.get(job.engine) ?? 0) + 1);
        await tell(job, trouble);
      }
    }
  };

  const tell = async (job: ShadowJob, trouble: string) => {
    const { engine, agentId, sessionId } = job;
    const isOver = (ends.get(engine) ?? 0) >= MOST_ENDS;
    const text = isOver ? `${trouble}; it is left out until a restart` : trouble;
    log.warn(`shadow engine "${engine}": ${text}`);
    const file = shadowFile(environment.home, agentId, sessionId);
    const at = new Date().toISOString();
    await appendShadowLine(file, {
      ...{ v: 2, at, engine, promptEntryId: null, calls: [], trouble: text, ms: 0 },
    }).catch((error: Error) => log.warn(`shadow report not stored: ${error.message}`));
  };

  const start = () => {
    running ??= run()
      .catch((error: unknown) => log.warn(`shadow engines: ${errorText(error)}`))
      .finally(() => {
        running = undefined;
        if (waiting.size > 0 && !isClosed) start();
      });
  };

  return {
    afterTurn({ agentId, sessionId }, report) {
      const { config } = settings();
      const engine = agentSettings(config, environment.home, agentId).shadowEngine;
      const { promptEntryId } = report;
      if (isClosed || engine === undefined || promptEntryId === null) return;
      if (report.modelCalls.length === 0 || (ends.get(engine) ?? 0) >= MOST_ENDS) return;
      const contextWindow = report.budget?.contextWindow;
      const model = report.model.resolved;
      waiting.set(`${agentId} ${sessionId}`, {
        ...{ engine, agentId, sessionId, promptEntryId, model, contextWindow },
        tools: toolsOf([report]),
        tokenRatio: report.budget?.tokenRatio,
      });
      // After whatever else the end of the turn has to do.
      setImmediate(start);
    },
    async settled() {
      await new Promise((resolve) => setImmediate(resolve));
      while (running !== undefined) await running;
    },
    close() {
      isClosed = true;
      child?.kill("SIGKILL");
    },
  };
}

/** Null: it is played. Else why not, for people. */
function playIn(child: ChildProcess, job: ShadowJob, turnMs: number): Promise<string | null> {
  return new Promise((resolve) => {
    let late: NodeJS.Timeout | undefined;
    const done = (trouble: string | null) => {
      clearTimeout(late);
      child.off("message", onMessage).off("exit", onExit);
      resolve(trouble);
    };
    const wait = () => {
      clearTimeout(late);
      const seconds = turnMs / 1000;
      late = setTimeout(() => done(`it did not finish a turn within ${seconds} s`), turnMs);
      late.unref();
    };
    const onMessage = (told: LabTold) => {
      if (told.type === "turn") wait();
      else if (told.type === "played") done(null);
      else if (told.type === "error") done(told.error.message);
    };
    const onExit = (code: number | null, signal: NodeJS.Signals | null) =>
      done(`its process ended (${signal ?? `exit code ${code}`})`);
    child.on("message", onMessage).once("exit", onExit);
    wait();
    child.send({ kind: "shadow", job }, (error) => {
      if (error) done(`its process cannot be reached: ${error.message}`);
    });
  });
}
