// Runs turns, compactions and previews for whoever asks a composed host.
import {
  compactSession,
  countSession,
  previewRequest,
  retrySession,
  runTurn,
  type SideCallReport,
  type ToolServerNote,
  type TurnReport,
  type TurnResult,
} from "@clew/engine-core";
import { sessionsToldTo } from "../plugins/engines/ask-store.ts";
import { engineStatus } from "../plugins/engines/engine-status.ts";
import { readRecentTurns } from "../plugins/engines/recent-turns.ts";
import { inPluginScope, inRequest, type Refusal } from "../plugins/load/scope.ts";
import { inMemoryRun } from "../plugins/memory/memory-run.ts";
import { agentPaths } from "../sessions/paths.ts";
import { childEnded, prepareChild } from "./child-engine.ts";
import type { AnswerRequest, Host, TurnSetup } from "./host.ts";
import { asksOf, type HostParts, modelOf, modelsOf, usableModels, workspaceOf } from "./parts.ts";
import { sizingOf } from "./sizing.ts";
import { streamReply } from "./stream-reply.ts";
import { harnessFacts, hostOfAgent, whyNotAskedBy } from "./turn-harness.ts";
import { type PreparedTurn, prepareTurn } from "./turn-setup.ts";
import { withTimeout } from "./turn-timeout.ts";

export function createHost(parts: HostParts): Host {
  const { environment, loaded, engines } = parts;
  const { registry } = engines;
  return {
    config: loaded.config,
    flushes: parts.flushes,
    engineIds: () => registry.list().map(({ engineId }) => engineId),
    engineFactory: (engineId) => registry.get(engineId)?.factory,
    model: (agentId) => modelOf(parts, agentId),
    namedModel: (name) => parts.models.named(name),
    modelForClient: (name) => parts.models.namedForClient(name),
    usableModels: () => usableModels(parts),
    pricesOf: (name) => parts.models.pricesOf(name),
    signInHeaders: (resolved) => parts.models.signInHeaders(resolved),
    models: (agentId, sessionKey) => modelsOf(parts, agentId, sessionKey),
    asks: (agentId, branch) =>
      asksOf(parts, { agentId, branch, asked: modelsOf(parts, agentId).answering }),
    learnedWindows: () => parts.windows.all(),
    workspace: (agentId, sessionKey = "") => workspaceOf(parts, { agentId, sessionKey }),
    streamReply: (call) => streamReply(parts, call),
    answer: (request) =>
      prepared(parts, request, async (ready, told) =>
        withNotes(await answer(parts, request, ready), ready, told),
      ),
    compact: (request) =>
      prepared(parts, request, async (ready, { sideCalls }) => {
        const { report, ...done } = await compact(request, ready);
        return { ...done, report: withSideCalls(report, sideCalls) };
      }),
    previewCompaction: (request, focus) =>
      prepared(parts, request, async ({ turn, compaction }) =>
        compaction.preview({ focus, currentTokenCount: await countSession(turn) }),
      ),
    sizing: (session) =>
      parts.plugins === undefined
        ? sizingOf(parts, session, undefined)
        : parts.plugins.use((inUse) =>
            inPluginScope({ ...session, notice: () => {} }, () => sizingOf(parts, session, inUse)),
          ),
    preview: (request) =>
      prepared(parts, request, ({ turn, memory }) =>
        inMemoryRun(memory.prepared, () => previewRequest(turn)),
      ),
    async inspectEngine(agentId, sessionKey) {
      const { guard, configured, chosenBy, switchedOff, degraded } = await engines.resolve(
        agentId,
        sessionKey === undefined ? {} : { sessionKey },
      );
      const why = { configured, chosenBy, switchedOff, degraded };
      return { ...why, engineId: guard.engineId, info: guard.info() };
    },
    async engineStatus(agentId, session) {
      const engine = await engines.resolve(
        agentId,
        session === undefined ? {} : { sessionKey: session.key },
      );
      const chosen = engine.configured ?? engine.guard.engineId;
      const recent = await readRecentTurns(
        agentPaths(parts.records ?? environment.home, agentId).reports,
        chosen,
      );
      const quarantined = registry.quarantine.list();
      const of = { home: environment.home, agentId, named: session?.key };
      const told = () => sessionsToldTo(engine.guard.engineId, of);
      const host = await hostOfAgent(parts, agentId);
      return engineStatus({ agentId, engine, host, recent, quarantined, session, told });
    },
    harness: (agentId, sessionKey) => harnessFacts(parts, { agentId, sessionKey }),
    whyNotAsked: (agentId, model) => whyNotAskedBy(parts, agentId, model),
    letGoInHarnesses: (session, why) => parts.harnesses.letGo(session, why),
    forgetInHarnesses: (session) => parts.harnesses.forget(session),
    retryEngines: ({ transcript, state }) =>
      retrySession({ transcript, state, quarantine: registry.quarantine }),
    prepareChild: (request) => prepareChild(parts, request),
    childEnded: (child) => childEnded(parts, child),
    quarantined: () => registry.quarantine.list(),
    async close() {
      await parts.harnesses.close();
      await registry.dispose();
    },
  };
}

/** That a report tells of; a plugin may ask in a loop. */
const MOST_REFUSALS = 20;
/** The same of servers; one may change its tools before each request. */
const MOST_NOTES = 50;

/** What is told while a turn runs, for its report. */
interface Told {
  refusals: readonly Refusal[];
  sideCalls: readonly SideCallReport[];
}

/** Runs with the plugins there are now, which know the session that they work for. */
async function prepared<Result>(
  parts: HostParts,
  given: TurnSetup,
  run: (ready: PreparedTurn, told: Told) => Promise<Result>,
): Promise<Result> {
  const { plugins } = parts;
  const refusals: Refusal[] = [];
  const sideCalls: SideCallReport[] = [];
  const told = { refusals, sideCalls };
  const setup = { ...given, onSideCall: (call: SideCallReport) => void sideCalls.push(call) };
  if (plugins === undefined) return run(await prepareTurn(parts, setup, undefined), told);
  const { transcript, onEvent } = setup;
  let isOver = false;
  const notice = (text: string) => {
    if (!isOver) onEvent?.({ type: "notice", text });
  };
  const refused = (refusal: Refusal) => {
    if (refusals.length < MOST_REFUSALS) refusals.push(refusal);
  };
  return plugins
    .use((inUse) =>
      inRequest({ ...transcript.session, notice, refused }, async () => {
        const ready = await prepareTurn(parts, setup, inUse);
        return inPluginScope({ ...transcript.session, sideCall: ready.sideCall }, () =>
          run(ready, told),
        );
      }),
    )
    .finally(() => {
      isOver = true;
    });
}

async function answer(
  { loaded, tokenRatios, windows, rests, engines }: HostParts,
  request: AnswerRequest,
  { turn, hooks, substitute, mcp, memory }: PreparedTurn,
): Promise<TurnResult> {
  const { prompt, signal, transcript, replacement, onStep, onBegin, goesOnFrom } = request;
  if (substitute !== null) request.onEvent?.({ type: "notice", text: substitute });
  const promptHook = hooks && { beforePromptBuild: hooks.beforePromptBuild };
  const seconds = loaded.config.agents.defaults.timeoutSeconds;
  await hooks?.began(prompt);
  const toolServers: ToolServerNote[] = [];
  mcp?.listen((note) => {
    if (toolServers.length < MOST_NOTES) toolServers.push(note);
    request.onEvent?.({ type: "notice", text: note.text });
  });
  const run = (bounded: AbortSignal | undefined) =>
    inMemoryRun(memory.prepared, () =>
      runTurn({
        ...{ ...turn, ...promptHook, prompt },
        ...(bounded && { signal: bounded }),
        ...(onStep && { onStep }),
        ...(onBegin && { onBegin }),
        ...(goesOnFrom !== undefined && { goesOnFrom }),
      }),
    );
  // A client that runs tools itself is waited for, and whoever waits looks at the time.
  const result =
    request.client === undefined ? await withTimeout({ seconds, signal }, run) : await run(signal);
  const isTold = request.onEvent !== undefined && result.report.engine.degraded !== null;
  if (isTold) engines.told.note(transcript.session.sessionKey, turn.engine);
  await hooks?.ended(result, () => transcript.read({ after: null }));
  if (replacement === undefined) {
    // What a program asks its model holds more than anybody here can estimate.
    if (result.report.execution === undefined)
      await tokenRatios.learn(transcript.session.agentId, result.report);
    await windows.learn(result.report, (name) => windowOf(turn, name));
    rests.learn(result.report);
  }
  if (toolServers.length === 0) return result;
  return { ...result, report: { ...result.report, toolServers } };
}

/** What the host knows of a turn that the core does not. */
function withNotes(
  result: TurnResult,
  { memory }: PreparedTurn,
  { refusals, sideCalls }: Told,
): TurnResult {
  const told = memory.told();
  const notes = {
    ...(refusals.length > 0 && { refusals: [...refusals] }),
    ...(told !== undefined && { memory: told }),
  };
  // A report with nothing to add stays the one that is stored.
  const report = Object.keys(notes).length === 0 ? result.report : { ...result.report, ...notes };
  return { ...result, report: withSideCalls(report, sideCalls) };
}

const withSideCalls = (report: TurnReport, sideCalls: readonly SideCallReport[]): TurnReport =>
  sideCalls.length === 0 ? report : { ...report, sideCalls: [...sideCalls] };

/** What a model of the chain was known to hold. */
function windowOf({ model, fallbacks = [] }: PreparedTurn["turn"], name: string): number {
  const models = [model, ...fallbacks.map((choice) => choice.model)];
  const found = models.find(({ provider, id }) => `${provider}/${id}` === name);
  return (found ?? model).contextWindow;
}

async function compact(
  { focus, signal }: TurnSetup & { focus?: string | undefined },
  { turn, memory }: PreparedTurn,
): ReturnType<typeof compactSession> {
  return inMemoryRun(memory.prepared, () =>
    compactSession({
      ...turn,
      ...(focus !== undefined && { customInstructions: focus }),
      ...(signal !== undefined && { signal }),
    }),
  );
}
