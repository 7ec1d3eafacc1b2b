// Runs turns, compactions and previews for whoever asks a composed host.
import { compactSession, previewRequest, runTurn, type TurnResult } from "@clew/engine-core";
import { engineStatus } from "../plugins/engines/engine-status.ts";
import { readRecentTurns } from "../plugins/engines/recent-turns.ts";
import { inPluginScope } from "../plugins/load/scope.ts";
import { agentPaths } from "../sessions/paths.ts";
import type { AnswerRequest, Host, TurnSetup } from "./host.ts";
import { agentOf, type HostParts, modelOf } from "./parts.ts";
import { prepareTurn } from "./turn-setup.ts";
import { withTimeout } from "./turn-timeout.ts";

export function createHost(parts: HostParts): Host {
  const { environment, loaded, engines } = parts;
  const { registry } = engines;
  return {
    config: loaded.config,
    engineIds: () => registry.list().map(({ engineId }) => engineId),
    engineFactory: (engineId) => registry.get(engineId)?.factory,
    model: (agentId) => modelOf(parts, agentId),
    workspace: (agentId) => agentOf(parts, agentId).workspace,
    answer: (request) => inGate(parts, request, () => answer(parts, request)),
    compact: (request) => inGate(parts, request, () => compact(parts, request)),
    previewCompaction: async (request, focus) =>
      (await prepareTurn(parts, request)).compaction.preview(focus),
    preview: (request) =>
      inGate(parts, request, async () => previewRequest((await prepareTurn(parts, request)).turn)),
    async inspectEngine(agentId) {
      const { configured, guard, switchedOff, degraded } = await engines.resolve(agentId);
      return { configured, engineId: guard.engineId, info: guard.info(), switchedOff, degraded };
    },
    async engineStatus(agentId) {
      const engine = await engines.resolve(agentId);
      const recent = await readRecentTurns(agentPaths(environment.home, agentId).reports);
      return engineStatus({ agentId, engine, recent, quarantined: registry.quarantine.list() });
    },
    quarantined: () => registry.quarantine.list(),
    close: () => registry.dispose(),
  };
}

/** A reload of plugins waits for runs, and runs wait for it. */
async function inGate<Result>(
  { plugins }: HostParts,
  { transcript, onEvent }: TurnSetup,
  run: () => Promise<Result>,
): Promise<Result> {
  if (plugins === undefined) return run();
  let isOver = false;
  const notice = (text: string) => {
    if (!isOver) onEvent?.({ type: "notice", text });
  };
  const scope = { ...transcript.session, notice };
  return plugins.gate
    .run(() => inPluginScope(scope, run))
    .finally(() => {
      isOver = true;
    });
}

async function answer(parts: HostParts, request: AnswerRequest): Promise<TurnResult> {
  const { loaded, tokenRatios } = parts;
  const { prompt, signal, transcript, replacement } = request;
  const { turn, hooks } = await prepareTurn(parts, request);
  const promptHook = hooks && { beforePromptBuild: hooks.beforePromptBuild };
  const seconds = loaded.config.agents.defaults.timeoutSeconds;
  const result = await withTimeout({ seconds, signal }, (bounded) =>
    runTurn({ ...turn, ...promptHook, prompt, signal: bounded }),
  );
  if (replacement === undefined) await tokenRatios.learn(transcript.session.agentId, result.report);
  return result;
}

async function compact(
  parts: HostParts,
  request: TurnSetup & { focus?: string | undefined },
): ReturnType<typeof compactSession> {
  const { focus, signal } = request;
  const { turn } = await prepareTurn(parts, request);
  return compactSession({
    ...turn,
    ...(focus !== undefined && { customInstructions: focus }),
    ...(signal !== undefined && { signal }),
  });
}
