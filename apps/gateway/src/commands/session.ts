// Connects the commands to one session of a gateway.
import { lifecycleOf, type TurnEvent, type TurnReport } from "@clew/engine-core";
import { abortable, type ModelRef, stepsInSlices } from "@clew/plugin-sdk/host";
import { buildContext, contextSteps } from "@clew/plugin-sdk/transcript";
import type { Approvals } from "../approvals/queue.ts";
import { undoLastCompaction } from "../compaction/undo.ts";
import { agentSettings } from "../config/agent.ts";
import type { ThinkingLevel } from "../config/params.ts";
import type { Costs } from "../costs/meter.ts";
import type { KnownSessions } from "../gateway/known-sessions.ts";
import type { Host } from "../host/host.ts";
import { fatesOfPreview } from "../inspect/one-call.ts";
import { readShadowLines, shadowFile, summarizeShadow } from "../lab/shadow-lines.ts";
import type { AskSettings } from "../models/call-ask.ts";
import { thinkingLevelEntry } from "../models/thinking-level.ts";
import { cacheOf } from "../models/turn-cache.ts";
import { describeEngine, pluginProblem } from "../plugins/engines/describe-engine.ts";
import type { EngineStatus } from "../plugins/engines/engine-status.ts";
import { readEngineCompactions } from "../plugins/engines/recent-turns.ts";
import type { PluginHost } from "../plugins/host.ts";
import { inSafeMode } from "../plugins/load/record.ts";
import type { OwnedCommand, PluginAnswer } from "../plugins/offer/chat-commands.ts";
import { hookContext, internalEvent } from "../plugins/offer/hook-context.ts";
import { readLastRequest, reportFile } from "../reports/report-log.ts";
import type { Conversation, Conversations } from "../sessions/conversations.ts";
import { agentPaths } from "../sessions/paths.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { Child } from "../subagents/child.ts";
import { describeTree } from "../subagents/tree.ts";
import type { CommandSession } from "./answer.ts";
import { contextFacts } from "./status.ts";

export interface CommandSessionOptions {
  home: string;
  /** Canonical. */
  key: string;
  agentId: string;
  host: Host;
  store: SessionStore;
  known: KnownSessions;
  conversations: Conversations;
  engineStatus: (key: string) => Promise<EngineStatus>;
  plugins: PluginHost | undefined;
  costs: Pick<Costs, "renewed" | "spentIn" | "caps">;
  approvals: Pick<Approvals, "pending">;
  /** All sessions that others started, oldest first. */
  children: () => Promise<readonly Child[]>;
  /** Keeps the report of a compaction, like that of a turn. */
  storeReport: (conversation: Conversation, report: TurnReport) => Promise<void>;
  successorsOf: (conversation: Conversation) => Parameters<Host["answer"]>[0]["successors"];
  signal?: AbortSignal | undefined;
  onEvent?: ((event: TurnEvent) => void) | undefined;
}

export function createCommandSession(options: CommandSessionOptions): CommandSession {
  const { key, host, store, conversations, plugins, signal, onEvent } = options;
  const inSession = <Result>(work: (conversation: Conversation) => Promise<Result>) =>
    conversations.visit(key, work, signal);
  const setupOf = (conversation: Conversation) => ({
    transcript: conversation.session,
    state: conversation.state,
    successors: options.successorsOf(conversation),
    ...{ signal, onEvent },
  });
  return {
    isBusy: () => conversations.busy().has(key),
    status: () => statusOf(options),
    async engine() {
      const status = await options.engineStatus(key);
      return describeEngine(status, pluginProblem(status, plugins));
    },
    retryEngines: () =>
      inSession(async ({ session: transcript, state }) => ({
        ...(await host.retryEngines({ transcript, state })),
        stillAside: host.quarantined().filter(({ scope }) => scope.kind === "everywhere"),
      })),
    async compactingEngine() {
      const { info, engineId } = await host.inspectEngine(options.agentId, key);
      return info.ownsCompaction === true ? engineId : null;
    },
    preview: () =>
      inSession(async (conversation) => {
        const preview = await host.preview(setupOf(conversation));
        return { preview, fates: await fatesOfPreview(preview, conversation.session.branch()) };
      }),
    compact: (focus) =>
      inSession(async (conversation) => {
        const { result, report } = await host.compact({ ...setupOf(conversation), focus });
        await options.storeReport(conversation, report);
        return result;
      }),
    previewCompaction: (focus) =>
      inSession((conversation) => host.previewCompaction(setupOf(conversation), focus)),
    undoCompaction: () => inSession(({ session, state }) => undoLastCompaction({ session, state })),
    async renew() {
      if (plugins !== undefined)
        await inSession((conversation) => tellPlugins(options, conversation, "new"));
      return conversations.replace(key, async () => {
        const { archivedAs } = await store.renew(key);
        await options.costs.renewed(key, archivedAs);
        return archivedAs;
      });
    },
    reset: () =>
      inSession(async (conversation) => {
        await tellPlugins(options, conversation, "reset");
        await conversation.session.append([{ type: "reset" }]);
      }),
    think: (level) => thinkIn(options, inSession, level),
    tree: async () => describeTree(key, await options.children(), Date.now()),
    // A command that does not end must not keep whoever cancels it waiting.
    plugin: (line) => abortable(signal, () => askPlugins(options, line)),
    pluginCommands: () => (plugins?.commands() ?? []).flatMap(describeCommand),
  };
}

async function thinkIn(
  { key, agentId, host, known }: CommandSessionOptions,
  inSession: <Result>(work: (conversation: Conversation) => Promise<Result>) => Promise<Result>,
  level: ThinkingLevel | null | undefined,
): Promise<AskSettings> {
  if (level !== undefined)
    await inSession(async ({ session }) => {
      await session.append([thinkingLevelEntry(level)]);
    });
  return host.asks(agentId, (await known.read(key))?.branch ?? []);
}

async function statusOf(options: CommandSessionOptions): ReturnType<CommandSession["status"]> {
  const { home, key, agentId, host, known } = options;
  const found = await known.read(key);
  const { answering, rest, because, passedOver, fallbacks } = host.models(agentId, key);
  const { model } = answering;
  const { info, ...engine } = await host.inspectEngine(agentId, key);
  const { reports } = agentPaths(home, agentId);
  const last = found && (await readLastRequest(reports, found.sessionId));
  const session = { agentId, sessionKey: key, sessionId: found?.sessionId ?? "" };
  const sizing = await host.sizing(session);
  const context = await stepsInSlices(contextSteps(found?.branch ?? []));
  const chooses = info.ownsCompaction === true ? engine.engineId : null;
  const compacted = await readEngineCompactions(
    reportFile(reports, found?.sessionId ?? ""),
    engine.engineId,
  );
  const facts = await stepsInSlices(
    contextFacts(context, { ...{ sizing, model, chooses, compacted }, lastRequest: last }),
  );
  return {
    ...{ key, model, rest, approvals: options.approvals.pending(key) },
    safeMode: inSafeMode(options.plugins?.records() ?? []),
    resting: because && { ...because, model: host.model(agentId).name },
    passedOver,
    fallbacks: fallbacks.map(({ name }) => name),
    cache: cacheOf(last?.report.modelCalls ?? []) ?? null,
    asks: host.asks(agentId, found?.branch ?? []),
    leftOut: last?.call.leftOut ?? [],
    learnedWindow: learnedOf(host, model),
    cost: {
      spent: await options.costs.spentIn(key),
      caps: await options.costs.caps({ agentId, sessionKey: key }),
    },
    engine: {
      ...engine,
      agentId,
      ownsCompaction: info.ownsCompaction === true,
      autoCompaction: agentSettings(host.config, home, agentId).compaction.enabled,
    },
    // Every session of this host keeps what durable engines have committed.
    lifecycle: lifecycleOf(info, { keepsDeliveries: true }),
    shadow:
      found && summarizeShadow(await readShadowLines(shadowFile(home, agentId, found.sessionId))),
    ...facts,
  };
}

function learnedOf(host: Host, { provider, id, contextWindow }: ModelRef) {
  const learned = host.learnedWindows()[`${provider}/${id}`];
  return learned?.tokens === contextWindow ? learned : null;
}

async function tellPlugins(
  { plugins, agentId, host }: CommandSessionOptions,
  { session }: Conversation,
  reason: "new" | "reset",
): Promise<void> {
  if (plugins === undefined) return;
  const { hooks } = plugins;
  const { sessionId, sessionKey, sessionFile } = session.session;
  const messages = buildContext(session.branch()).items.map(({ message }) => message);
  const about = hookContext(session.session, { workspaceDir: host.workspace(agentId) });
  const next = {
    nextSessionKey: sessionKey,
    ...(reason === "reset" && { nextSessionId: sessionId }),
  };
  const messageCount = messages.length;
  await hooks.emit("before_reset", { sessionFile, messages, reason }, about);
  await hooks.emit(
    "session_end",
    { sessionId, sessionKey, sessionFile, messageCount, reason, ...next },
    about,
  );
  const context = { sessionId, workspaceDir: about.workspaceDir, commandSource: "clew" };
  await hooks.emit(`command:${reason}`, internalEvent("command", reason, { sessionKey, context }));
}

async function askPlugins(
  { plugins, store, key, agentId }: CommandSessionOptions,
  line: string,
): Promise<PluginAnswer | undefined> {
  if (plugins === undefined) return undefined;
  const sessionId = (await store.find(key))?.sessionId;
  const scope = { agentId, sessionKey: key, ...(sessionId !== undefined && { sessionId }) };
  return plugins.command(line, scope);
}

function describeCommand({ pluginId, command, words }: OwnedCommand) {
  const description = command.description ?? `a command of plugin "${pluginId}"`;
  return words.map((word) => ({ word, description }));
}
