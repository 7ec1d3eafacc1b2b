// Codex as a program that runs agents' turns.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecutionHost, ExecutionPort, HostSession } from "@clew/engine-core";
import { CLEW_EMBEDDED_HOST } from "@clew/engine-core";
import type { HostCapability } from "@clew/plugin-sdk/core";
import type { ModelRef } from "@clew/plugin-sdk/host";
import type { CodexConfig } from "../../config/harness.ts";
import { type Harness, type HarnessOptions, providerOf } from "../harness.ts";
import { createBindings } from "./binding.ts";
import { planCodexHome } from "./plan-home.ts";
import { runTurnInCodex } from "./run.ts";
import { createServers } from "./servers.ts";
import { startCodex } from "./start.ts";

const LABEL = "Codex app-server harness";
export const CODEX_ID = "codex";

const CAPABILITIES: readonly HostCapability[] = [
  ...CLEW_EMBEDDED_HOST.capabilities,
  "thread-bootstrap-projection",
];

const HOST: ExecutionHost = {
  ...{ id: "codex-app-server", label: LABEL, capabilities: CAPABILITIES },
};

/** The wire that Codex speaks with its models. */
const SPOKEN_API = "openai-responses";
/** Codex compacts above nine tenths of its window, which is less than the model's. */
const LEFT_ALONE = 0.85;
const CODEX_SHARE = 0.95;
/** Of a model that Codex does not know, in tokens. */
const UNKNOWN_WINDOW = 258_400;
const ANSWER_MS = 60_000;

export interface CodexOptions extends HarnessOptions {
  config: CodexConfig;
  /** Longest wait for an answer, ms. Absent: a minute. */
  answerMs?: number;
}

export function createCodex(options: CodexOptions): Harness {
  const { home, log, env, relay, config, answerMs = ANSWER_MS } = options;
  const command = config.command ?? CODEX_ID;
  const servers = createServers({ home, log, env, relay, command, answerMs });
  const bindings = createBindings({ home, log });
  /** As Codex told, by model. */
  const windows = new Map<string, number>();

  const windowTokens = (_session: HostSession, model: ModelRef): number => {
    const known = windows.get(model.id);
    const window = known ?? Math.min(CODEX_SHARE * model.contextWindow, UNKNOWN_WINDOW);
    return Math.floor(LEFT_ALONE * window);
  };

  return {
    id: CODEX_ID,
    ...{ host: HOST, api: SPOKEN_API, takesTools: true },
    port: (request): ExecutionPort => ({
      ...{ ...HOST, harnessId: CODEX_ID, windowTokens },
      begin: (turn) =>
        runTurnInCodex({
          // Codex is told the window of the model itself: it keeps some of it for its own use.
          turn: {
            ...turn,
            model: { ...turn.model, contextWindow: request.model.model.contextWindow },
          },
          ...{ request, bindings, log, cwd: request.workspace },
          config: request.readOnly ? onlyReading(config) : config,
          server: async () =>
            servers.use(
              request.session.agentId,
              await providerOf({ host: HOST, api: SPOKEN_API }, request),
            ),
          onWindow: (model, tokens) => void windows.set(model, tokens),
        }),
      compacted: (session) =>
        void bindings
          .setState(session, { name: "stale", why: "the session was compacted" })
          .catch((error: unknown) =>
            log.warn(`a thread of Codex was not let go: ${String(error)}`),
          ),
    }),
    async check() {
      // Codex writes into its home, even where nothing runs in it.
      const folder = await mkdtemp(join(tmpdir(), "clew-codex-"));
      const provider = { name: "none", baseUrl: "http://127.0.0.1:9", key: "none" };
      try {
        const { connection, version } = await startCodex({
          ...{ command, folder, env, log, answerMs, home: planCodexHome(provider) },
          handlers: { news: () => {}, asked: async () => ({}) },
        });
        await connection.close();
        return { ok: true, version, command };
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        return { ok: false, code: "HARNESS_UNAVAILABLE", message };
      } finally {
        await rm(folder, { recursive: true, force: true, maxRetries: 5 });
      }
    },
    async describe(session) {
      const binding = await bindings.read(session);
      if (binding === null) return undefined;
      const { state, threadId } = binding;
      const how = state.name === "stale" ? `stale: ${state.why}` : state.name;
      return `thread ${threadId} (${how})`;
    },
    letGo: (session, why) => bindings.setState(session, { name: "stale", why }),
    async forget(session) {
      const binding = await bindings.read(session);
      if (binding === null) return;
      await servers.deleteThread(session.agentId, binding.key.provider, binding.threadId);
      await bindings.forget(session);
    },
    close: () => servers.close(),
  };
}

/** It has its own commands no more than before, and asks for nothing. */
const onlyReading = (config: CodexConfig): CodexConfig =>
  config.sandbox === "off" ? config : { ...config, sandbox: "read-only", approvalPolicy: "never" };
