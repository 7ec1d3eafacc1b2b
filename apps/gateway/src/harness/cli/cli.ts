// A program that is started once per turn, as one that runs agents' turns.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { ExecutionHost, ExecutionPort } from "@clew/engine-core";
import { ContextEngineError, type HostCapability } from "@clew/plugin-sdk/core";
import type { CliBackendConfig } from "../../config/harness.ts";
import { type Harness, type HarnessOptions, type HarnessRequest, providerOf } from "../harness.ts";
import type { CliBackend } from "./backend.ts";
import { claudePrint } from "./claude-print.ts";
import { codexExec } from "./codex-exec.ts";
import { readingUnasked } from "./own-reading.ts";
import { planCliEnvironment } from "./plan-environment.ts";
import { runTurnInCli } from "./run.ts";
import { createCliSessions } from "./sessions.ts";
import { createVersions } from "./version.ts";

const BACKENDS: Record<CliBackend["id"], CliBackend> = {
  "codex-cli": codexExec,
  "claude-cli": claudePrint,
};

/** It keeps a session of its own, which nobody else can put something into. */
const CAPABILITIES: readonly HostCapability[] = ["bootstrap", "after-turn", "maintain"];

export interface CliOptions extends HarnessOptions {
  id: string;
  kind: CliBackend["id"];
  config: CliBackendConfig;
}

export function createCli(options: CliOptions): Harness {
  const { home, log, env, relay, id, kind, config } = options;
  const backend = BACKENDS[kind];
  const { api } = backend;
  const command = config.command ?? backend.command;
  const host: ExecutionHost = {
    ...{ id: `cli:${id}`, label: `CLI backend "${id}"`, capabilities: CAPABILITIES },
  };
  const sessions = createCliSessions({ home, id, log });
  const versions = createVersions(backend, `harness.backends.${id}.command`);
  const environment = (own: Record<string, string>) => planCliEnvironment(env, config.env, own);
  /** It has no home of the person's, not even to say its version. */
  const version = async (folder: string) => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return versions.of(command, environment({ HOME: folder, CODEX_HOME: folder }));
  };
  /** What runs, by session; a session's next turn waits for it. */
  const running = new Map<string, { over: Promise<void>; stop(): void }>();
  let isClosed = false;

  const unasked = (request: HarnessRequest): HarnessRequest => {
    const { approvals, workspace: cwd } = request;
    if (approvals === undefined) return request;
    return { ...request, approvals: readingUnasked(approvals, { cwd, home }) };
  };
  return {
    ...{ id, host, api, takesTools: false },
    port: (request): ExecutionPort => ({
      ...{ ...host, harnessId: id },
      begin(turn) {
        const place = `${turn.session.agentId} ${turn.session.sessionKey}`;
        const before = running.get(place)?.over;
        const run = runTurnInCli({
          ...{ turn, backend, id, command, sessions, log, environment, relay },
          request: unasked(request),
          config: request.readOnly ? { ...config, sandbox: "read-only" } : config,
          ...{
            cwd: request.workspace,
            before,
            provider: () => providerOf({ host, api }, request),
          },
          version: () => {
            if (isClosed) throw unavailable(`The gateway is closing, so ${id} is not started.`);
            return version(sessions.folderOf(turn.session));
          },
        });
        const mine = { over: run.over, stop: () => run.close() };
        running.set(place, mine);
        void run.over.then(() => {
          if (running.get(place) === mine) running.delete(place);
        });
        return run;
      },
    }),
    async check() {
      try {
        const found = await version(join(home, "harness", `${id}-check`));
        return { ok: true, version: found, command };
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        return { ok: false, code: "HARNESS_UNAVAILABLE", message };
      }
    },
    async describe(session) {
      const bound = await sessions.read(session);
      if (bound === null) return undefined;
      return `session ${bound.ref} (${bound.over === null ? "ready" : `left: ${bound.over}`})`;
    },
    async letGo(session, why) {
      const bound = await sessions.read(session);
      if (bound !== null) await sessions.save(session, { ...bound, over: why });
    },
    forget: (session) => sessions.forget(session),
    async close() {
      isClosed = true;
      const all = [...running.values()];
      for (const { stop } of all) stop();
      await Promise.allSettled(all.map(({ over }) => over));
    },
  };
}

const unavailable = (message: string) => new ContextEngineError("HARNESS_UNAVAILABLE", message);
