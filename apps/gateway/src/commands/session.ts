// Connects the commands to one session of a gateway.
import { dirname, join } from "node:path";
import { lifecycleOf, type TurnEvent, type TurnReport } from "@clew/engine-core";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { abortable, type ModelRef, stepsInSlices } from "@clew/plugin-sdk/host";
import { buildContext, contextSteps, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { Approvals } from "../approvals/queue.ts";
import { compactionToUndo, undoLastCompaction } from "../compaction/undo.ts";
import { agentSettings } from "../config/agent.ts";
import type { ThinkingLevel } from "../config/params.ts";
import type { Costs } from "../costs/meter.ts";
import { paidSince } from "../costs/paid-since.ts";
import type { KnownSessions } from "../gateway/known-sessions.ts";
import { makeOwnFolder } from "../home/no-links.ts";
import { writeOwn } from "../home/own-writes.ts";
import type { Host } from "../host/host.ts";
import { findMissingAtEnd } from "../inspect/missing-turns.ts";
import { fatesOfPreview } from "../inspect/one-call.ts";
import { readShadowLines, shadowFile, summarizeShadow } from "../lab/shadow-lines.ts";
import { clientNamedIn } from "../listing/client-names.ts";
import type { AskSettings } from "../models/call-ask.ts";
import { sessionModelEntries, sessionModelIn } from "../models/session-model.ts";
import { thinkingLevelEntry } from "../models/thinking-level.ts";
import { cacheOf } from "../models/turn-cache.ts";
import { describeEngine, pluginProblem } from "../plugins/engines/describe-engine.ts";
import type { EngineStatus } from "../plugins/engines/engine-status.ts";
import { type EngineCompactions, readEngineCompactions } from "../plugins/engines/recent-turns.ts";
import type { PluginHost } from "../plugins/host.ts";
import { inSafeMode } from "../plugins/load/record.ts";
import type { OwnedCommand, PluginAnswer } from "../plugins/offer/chat-commands.ts";
import { hookContext, internalEvent } from "../plugins/offer/hook-context.ts";
import type { LastRequest } from "../reports/expand.ts";
import { readLastRequest, reportFile } from "../reports/report-log.ts";
import type { Conversation, Conversations } from "../sessions/conversations.ts";
import { keyOfFork } from "../sessions/fork-name.ts";
import { parseSessionName, shortName } from "../sessions/keys.ts";
import { agentPaths } from "../sessions/paths.ts";
import type { SessionStore } from "../sessions/store.ts";
import { undoLastTurn } from "../sessions/undo-turn.ts";
import type { Child } from "../subagents/child.ts";
import { describeTree } from "../subagents/tree.ts";
import { whyNoWorkspace } from "../tools/ready-workspace.ts";
import type { CommandSession, Forked, SessionModel } from "./answer.ts";
import { conversationAsMarkdown } from "./export.ts";
import { contextFacts, type StatusFacts } from "./status.ts";

export interface CommandSessionOptions {
  home: string;
  /** The folder whose agents have the turn reports. */
  records: string;
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
  waiting: CommandSession["waiting"];
  /** All sessions that others started, oldest first. */
  children: () => Promise<readonly Child[]>;
  /** Keeps the report of a compaction, like that of a turn. */
  storeReport: (conversation: Conversation, report: TurnReport) => Promise<void>;
  successorsOf: (conversation: Conversation) => Parameters<Host["answer"]>[0]["successors"];
  toolServers: CommandSession["toolServers"];
  /** Told of a session that began as a copy. */
  onForked(key: string): void;
  /** Takes note of the model that the session's branch chooses. */
  noteModel(branch: readonly TranscriptEntry[]): void;
  signal?: AbortSignal | undefined;
  onEvent?: ((event: TurnEvent) => void) | undefined;
}

export function createCommandSession(options: CommandSessionOptions): CommandSession {
  const { home, records, key, agentId, host, store } = options;
  const { conversations, plugins, signal, onEvent } = options;
  const inSession = <Result>(work: (conversation: Conversation) => Promise<Result>) =>
    conversations.visit(key, work, signal);
  const setupOf = (conversation: Conversation) => ({
    transcript: conversation.session,
    state: conversation.state,
    successors: options.successorsOf(conversation),
    ...{ signal, onEvent },
  });
  const letGo = (why: string) => host.letGoInHarnesses({ agentId, sessionKey: key }, why);
  return {
    isBusy: () => conversations.busy().has(key),
    status: () => statusOf({ ...options, setupOf }),
    async engine() {
      const status = await options.engineStatus(key);
      return describeEngine(status, pluginProblem(status, plugins));
    },
    harness: () => host.harness(agentId, key),
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
        const branch = conversation.session.branch();
        const { sessionId } = conversation.session.session;
        const folder = agentPaths(records, agentId).reports;
        const paid = (at: string) => paidSince(home, key, at);
        return {
          preview,
          fates: await fatesOfPreview(preview, branch),
          missingTurns: await findMissingAtEnd({ folder, sessionId, branch, paidSince: paid }),
        };
      }),
    withoutWorkspace() {
      const ofAgent = agentSettings(host.config, home, agentId);
      const workspace = host.workspace(agentId, key);
      const isOwn = workspace !== ofAgent.workspace;
      const place = isOwn ? { workspace, isWorkspaceSet: true } : ofAgent;
      return whyNoWorkspace(place, host.config.tools);
    },
    toolServers: options.toolServers,
    compact: (focus) =>
      inSession(async (conversation) => {
        const { result, report } = await host.compact({ ...setupOf(conversation), focus });
        await options.storeReport(conversation, report);
        return { result, sideCalls: report.sideCalls ?? [] };
      }),
    previewCompaction: (focus) =>
      inSession((conversation) => host.previewCompaction(setupOf(conversation), focus)),
    undoCompaction: (only) =>
      inSession(async ({ session, state }) => {
        const undone = await undoLastCompaction({ session, state, only });
        if (undone.ok) await letGo("a compaction was undone");
        return undone;
      }),
    compactionToUndo: () => inSession(async ({ session }) => compactionToUndo(session)),
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
        await letGo("the conversation was reset");
      }),
    waiting: options.waiting,
    think: (level) => thinkIn(options, inSession, level),
    model: (name) => modelIn(options, inSession, name),
    fork: (name) => inSession(() => forkOf(options, name)),
    export: () => inSession(() => exportOf(options)),
    undoTurn: () =>
      inSession(async ({ session, state }) => {
        const undone = await undoLastTurn({ session, state });
        if (undone !== null) await letGo("a turn was taken back");
        options.noteModel(session.branch());
        return undone;
      }),
    clientWithHistory: () => clientNamedIn(key)?.title ?? null,
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

async function modelIn(
  { key, agentId, host, known, noteModel }: CommandSessionOptions,
  inSession: <Result>(work: (conversation: Conversation) => Promise<Result>) => Promise<Result>,
  name: string | null | undefined,
): Promise<SessionModel> {
  const settings = host.model(agentId).name;
  if (typeof name === "string") {
    const why = await host.whyNotAsked(agentId, host.namedModel(name));
    if (why !== undefined) throw new ContextEngineError("CONFIG_INVALID", why);
  }
  if (name !== undefined)
    await inSession(async ({ session }) => {
      const answering = name === null ? settings : host.namedModel(name).name;
      await session.append(sessionModelEntries(name === null ? null : answering, answering));
    });
  const branch = (await known.read(key))?.branch ?? [];
  noteModel(branch);
  const chosen = sessionModelIn(branch) ?? null;
  return { answering: host.models(agentId, key).answering.name, chosen, settings };
}

/** What is in memory of a long session may lack texts: the copy is made of its file. */
async function forkOf(
  { key, agentId, store, conversations, onForked }: CommandSessionOptions,
  name: string | undefined,
): Promise<Forked> {
  const found = await store.read(key);
  if (found === null || found.branch.length === 0) return { kind: "empty" };
  const isTaken = async (each: string) => (await store.find(each)) !== null;
  const named = parseSessionName(name ?? (await keyOfFork(key, isTaken)), agentId);
  if (named === undefined) return { kind: "unnamed" };
  if (await isTaken(named.key)) return { kind: "taken", key: named.key };
  const copy = { keep: 0, leafId: null, entries: found.branch };
  await conversations.visit(named.key, ({ session }) => session.compaction.graft(copy));
  onForked(named.key);
  return { kind: "forked", key: named.key };
}

async function exportOf({ home, key, store }: CommandSessionOptions): Promise<string | null> {
  const found = await store.read(key);
  if (found === null || found.branch.length === 0) return null;
  const name = shortName(key).replaceAll(/[^\w.-]+/g, "_");
  const at = new Date().toISOString().replace(/\..*$/, "").replaceAll(/[:T]/g, "-");
  const file = join(home, "exports", `${name}-${at}.md`);
  await makeOwnFolder(home, dirname(file));
  const text = conversationAsMarkdown(`Session ${shortName(key)}`, found.branch);
  await writeOwn(file, text);
  return file;
}

async function statusOf(options: StatusOptions): ReturnType<CommandSession["status"]> {
  const { home, records, key, agentId, host, known } = options;
  const found = await known.read(key);
  options.noteModel(found?.branch ?? []);
  const { answering, wanted, rest, because, passedOver, fallbacks } = host.models(agentId, key);
  const { model } = answering;
  const { info, ...engine } = await host.inspectEngine(agentId, key);
  const { reports } = agentPaths(records, agentId);
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
  const next = isCompactedSince(last, compacted) ? await nextSize(options) : null;
  return {
    ...{ key, model, rest, approvals: options.approvals.pending(key) },
    safeMode: inSafeMode(options.plugins?.records() ?? []),
    resting: because && { ...because, model: wanted },
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
    harness: await host.harness(agentId, key),
    // Every session of this host keeps what durable engines have committed.
    lifecycle: lifecycleOf(info, { keepsDeliveries: true }),
    shadow:
      found && summarizeShadow(await readShadowLines(shadowFile(home, agentId, found.sessionId))),
    ...facts,
    ...(next !== null && { context: { ...facts.context, ...next } }),
  };
}

/** What an engine chose for the last request says nothing of the next one then. */
function isCompactedSince(last: LastRequest | null, { last: newest }: EngineCompactions): boolean {
  return last !== null && newest !== null && newest.at >= last.report.startedAt;
}

/** As `/context` tells it; null while a reply is written, or another process has the session. */
async function nextSize({
  key,
  host,
  conversations,
  setupOf,
}: StatusOptions): Promise<Pick<
  StatusFacts["context"],
  "tokens" | "messages" | "messageCount"
> | null> {
  if (conversations.busy().has(key)) return null;
  const preview = await conversations
    .visit(key, (conversation) => host.preview(setupOf(conversation)))
    .catch((error: unknown) => {
      if (ContextEngineError.is(error, "SESSION_LOCKED")) return null;
      throw error;
    });
  if (preview === null || preview.size === null || preview.heldBack) return null;
  const { size, call, nextMessageTokens } = preview;
  return {
    tokens: size.tokens - nextMessageTokens,
    messages: size.messages - nextMessageTokens,
    messageCount: Math.max(0, (call?.messages.items.length ?? 0) - 1),
  };
}

interface StatusOptions extends CommandSessionOptions {
  setupOf: (conversation: Conversation) => Parameters<Host["preview"]>[0];
}

function learnedOf(host: Host, { provider, id, contextWindow }: ModelRef) {
  const learned = host.learnedWindows()[`${provider}/${id}`];
  return learned?.tokens === contextWindow ? learned : null;
}

async function tellPlugins(
  { key, plugins, agentId, host }: CommandSessionOptions,
  { session }: Conversation,
  reason: "new" | "reset",
): Promise<void> {
  if (plugins === undefined) return;
  const { hooks } = plugins;
  const { sessionId, sessionKey, sessionFile } = session.session;
  const messages = buildContext(session.branch()).items.map(({ message }) => message);
  const about = hookContext(session.session, { workspaceDir: host.workspace(agentId, key) });
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

/** Pure. The words of a plugin's command, and what it says it does. */
export function describeCommand({ pluginId, command, words }: OwnedCommand) {
  const description = command.description ?? `a command of plugin "${pluginId}"`;
  return words.map((word) => ({ word, description }));
}
