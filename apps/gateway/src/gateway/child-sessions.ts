// Lets the sessions of a gateway start others, and talk to those of their tree.
import type { HostSession, LogPort, TurnResult } from "@clew/engine-core";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { abortable, type PluginsConfig } from "@clew/plugin-sdk/host";
import { textOf } from "@clew/plugin-sdk/transcript";
import type { Lineage } from "../approvals/approval.ts";
import { agentIds } from "../config/agent.ts";
import type { Host } from "../host/host.ts";
import type { SessionSettings } from "../host/session-settings.ts";
import { requireMessageFits } from "../limits/message.ts";
import type { Conversations } from "../sessions/conversations.ts";
import { markOtherSession, saidBy } from "../sessions/mark-other-session.ts";
import type { OpenSession } from "../sessions/open.ts";
import type { SessionStore } from "../sessions/store.ts";
import { announcedBy, announcementOf } from "../subagents/announce.ts";
import { type Child, isOver } from "../subagents/child.ts";
import { createChildFiles } from "../subagents/child-files.ts";
import type { ChildTurn } from "../subagents/child-run.ts";
import { describeHistory } from "../subagents/describe-history.ts";
import { endedEvent, spawnedEvent } from "../subagents/hook-events.ts";
import { planFork } from "../subagents/plan-fork.ts";
import { depthOf } from "../subagents/plan-spawn.ts";
import { type SessionToolsPort, SPAWN_TOOL } from "../subagents/session-tools.ts";
import { createSharedFiles, type SharedChildren } from "../subagents/shared-children.ts";
import { createSubagents, type Subagents } from "../subagents/subagents.ts";
import { ancestorsOf, describeTree, isSameTree } from "../subagents/tree.ts";
import { tooManyUnasked } from "../subagents/unasked.ts";
import { ToolRefusal } from "../tools/tool.ts";
import type { KnownSessions } from "./known-sessions.ts";
import { newestMessages } from "./newest-messages.ts";
import { createPluginRuns, type PluginRuns } from "./plugin-runs.ts";

export interface ChildSessionsOptions {
  home: string;
  log: LogPort;
  host: Host;
  store: SessionStore;
  /** Where all gateways see them. Absent: they are in files of the home alone. */
  shared?: SharedChildren | undefined;
  known: KnownSessions;
  conversations: Conversations;
  /** One turn that no person asked for; undefined: there was nothing to say. */
  converse(turn: ChildTurn): Promise<TurnResult | undefined>;
  isStopping(): boolean;
  /** The `plugins` section in force. */
  pluginSettings(): PluginsConfig;
  /** Tells those who follow that a session is there, which has no message of its own yet. */
  tellCreated(key: string): void;
  /** Tells plugins that all of it is gone, and waits for what they do then. */
  tellDeleted(session: HostSession): Promise<void>;
  /** Tells hooks of plugins; nobody waits for them. */
  tellPlugins(hook: string, event: object, context: object): void;
}

export interface ChildSessions
  extends Pick<Subagents, "cancelBelow" | "release" | "list" | "isRunning" | "settled"> {
  readonly tools: SessionToolsPort;
  /** Sessions that plugins start. */
  readonly ofPlugins: PluginRuns;
  /** What differs in a child's session from its agent's settings. */
  settingsOf(key: string): SessionSettings | undefined;
  /** Which sessions a session comes from. */
  lineageOf(key: string): Lineage;
  /** Stores what the session was not told of its children, before somebody says something in it. */
  tellUntold(session: OpenSession): Promise<void>;
  /** Ends, now and from time to time, what other processes left running when they died. */
  startSweeping(): void;
  /** Nothing is swept any more when it resolves. */
  stopSweeping(): Promise<void>;
}

const SWEEP_MS = 60_000;
/** Messages that may wait in one session, its running turn included. */
const MOST_WAITING = 8;

export function createChildSessions(options: ChildSessionsOptions): ChildSessions {
  const { home, log, host, converse, isStopping, tellPlugins, shared } = options;
  const files = createChildFiles({ home, log });
  /** As they are open: what other gateways knew of their trees is known. */
  const arrived = new WeakSet<OpenSession>();
  const subagents = createSubagents({
    files: shared === undefined ? files : createSharedFiles({ files, shared, log }),
    ...{ log, converse, isStopping },
    limits: host.config.agents.defaults.subagents,
    choices: () => ({
      agents: agentIds(host.config),
      engines: host.engineIds(),
      whyNoModel: (name) => whyNoModel(host, name),
      maxModelCalls: host.config.agents.defaults.maxModelCalls,
    }),
    prepare: (child, parent, signal) =>
      host.prepareChild({
        ...{ parent, signal, childSessionKey: child.key, contextMode: child.contextMode },
        ...{ lightContext: child.lightContext, boundMs: child.boundMs },
        begin: () => begin(options, child),
      }),
    discard: (child) => discard(options, child),
    onBegun: (child) => tellPlugins("subagent_spawned", ...spawnedEvent(child)),
    onEnded: (child) => tellPlugins("subagent_ended", ...endedEvent(child)),
    ended: ({ key, parent, preparedBy }, reason) =>
      host.childEnded({
        parent: { agentId: parent.agentId, sessionKey: parent.key },
        ...{ preparedBy, childSessionKey: key, reason },
      }),
  });
  const ofPlugins = createPluginRuns({
    ...{ subagents, isStopping, settings: options.pluginSettings },
    isEnabled: host.config.agents.defaults.subagents.enabled,
    messages: (key, limit) => newestMessages(options.known, key, limit),
    requireFits: (text) => requireMessageFits(text, host.config.gateway.limits.messageBytes),
  });
  let sweeping: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const sweep = () => {
    sweeping = sweeping
      .then(() => (isStopping() ? undefined : subagents.sweep()))
      .catch((error: Error) =>
        log.warn(`child sessions were not looked through: ${error.message}`),
      );
  };
  return {
    ...subagents,
    ...{ tools: createTools(options, subagents), ofPlugins },
    settingsOf(key) {
      const child = subagents.known().find((each) => each.key === key);
      if (child === undefined) return undefined;
      // Whoever goes on with it afterwards shares with nobody.
      const maxModelCalls = isOver(child) ? null : child.maxModelCalls;
      const isLight = child.lightContext && child.contextMode === "isolated";
      return { ...child, maxModelCalls, isLight, ...ofPlugins.settingsOf(key) };
    },
    lineageOf(key) {
      const children = subagents.known();
      const label = children.find((each) => each.key === key)?.label ?? null;
      return { above: ancestorsOf(key, children), label };
    },
    async tellUntold(session) {
      if (!arrived.has(session)) await subagents.arrived();
      arrived.add(session);
      const untold = subagents.untold(session.session.sessionKey);
      if (untold.length === 0) return;
      const message = markOtherSession({
        ...{ role: "user", content: announcementOf(untold), timestamp: Date.now() },
        provenance: announcedBy(untold),
      });
      await session.append([{ type: "message", message }]);
      await subagents.announced(untold);
    },
    startSweeping() {
      sweep();
      timer = setInterval(sweep, SWEEP_MS).unref();
    },
    stopSweeping() {
      clearInterval(timer);
      return sweeping;
    },
  };
}

/** A fork's file holds its parent's branch; any other is made by the first message. */
function begin(
  { conversations, tellCreated }: ChildSessionsOptions,
  child: Child,
): Promise<HostSession> {
  return conversations.run(child.key, async ({ session: opened }) => {
    const { sessionFile: _none, ...session } = opened.session;
    if (child.contextMode === "isolated") return session;
    const parent = conversations.peek(child.parent.key);
    if (parent === undefined) throw new Error(`session ${child.parent.key} is not open any more`);
    const { entries, results } = planFork(parent.branch(), SPAWN_TOOL);
    await opened.compaction.graft({ keep: 0, leafId: null, entries });
    await opened.compaction.append(results);
    tellCreated(child.key);
    return opened.session;
  });
}

/** Also what a process that was killed meanwhile did not come to. */
async function discard(
  { store, conversations, isStopping, tellDeleted }: ChildSessionsOptions,
  { key, agentId, state }: Child,
): Promise<void> {
  const found = await store.find(key);
  const remove = () => store.remove(key);
  await (isStopping() ? remove() : conversations.replace(key, remove));
  if (found === null && state === "starting") return;
  await tellDeleted({ agentId, sessionKey: key, sessionId: found?.sessionId ?? "" });
}

function whyNoModel(host: Host, name: string): string | undefined {
  try {
    host.namedModel(name);
    return undefined;
  } catch (error) {
    if (ContextEngineError.is(error)) return error.message;
    throw error;
  }
}

function createTools(options: ChildSessionsOptions, subagents: Subagents): SessionToolsPort {
  const { host, known, conversations, converse, log } = options;
  const limits = host.config.agents.defaults.subagents;
  /** Who waits for whose reply: nobody waits for somebody who waits for them. */
  const waiting = new Map<string, string>();
  const waitsFor = (key: string, other: string) => {
    for (let at: string | undefined = key; at !== undefined; at = waiting.get(at))
      if (at === other) return true;
    return false;
  };
  const whileWaiting = async <Result>(key: string, other: string, work: () => Promise<Result>) => {
    waiting.set(key, other);
    return work().finally(() => waiting.delete(key));
  };
  const requireRelated = async ({ sessionKey }: HostSession, key: string) => {
    if (isSameTree(sessionKey, key, await subagents.list())) return;
    throw new ToolRefusal(
      `"${key}" is no session of this one's tree; sessions_list names those that are.`,
    );
  };
  return {
    maySpawn: ({ sessionKey }) => depthOf(sessionKey, subagents.known()) < limits.maxSpawnDepth,
    async spawn(session, ask, { waits, signal }) {
      const run = await subagents.spawn(session, ask, { isAwaited: waits, signal });
      const { key, contextMode, boundMs } = run.child;
      if (!waits)
        return `Started ${key} (${contextMode}, at most ${Math.round(boundMs / 1000)} seconds). Its reply comes as a message when it has ended; sessions_list tells how it is.`;
      const ended = await whileWaiting(session.sessionKey, key, () =>
        abortable(signal, () => run.ended),
      ).catch((error: unknown) => {
        run.stop("cancelled");
        throw error;
      });
      await subagents.announced([ended]);
      const told = announcementOf([ended]);
      if (ended.end?.outcome !== "completed") throw new ToolRefusal(told);
      return told;
    },
    async send(session, { key, message, waitMs, signal }) {
      const { sessionKey } = session;
      if (key === sessionKey) throw new ToolRefusal("A session sends itself no message.");
      await requireRelated(session, key);
      const child = subagents.known().find((each) => each.key === key);
      if (child !== undefined && isOver(child) && (await known.newest(key, 1)) === null)
        throw new ToolRefusal(`Session ${key} has ended, and is kept no more.`);
      if ((conversations.busy().get(key) ?? 0) >= MOST_WAITING)
        throw new ToolRefusal(`${MOST_WAITING} messages wait in session ${key}; try again later.`);
      const provenance = saidBy(sessionKey, "sessions_send");
      const answered = converse({
        key,
        said(branch) {
          if (tooManyUnasked(branch))
            throw new ToolRefusal(
              `Too many messages in session ${key} came from other sessions since anybody spoke in it.`,
            );
          return { content: message, provenance };
        },
      });
      // Whoever ends this process waits for it, or ends it.
      subagents.inBackground(answered).catch(() => {});
      const isDelivered = "The message is delivered; sessions_history shows what comes of it.";
      if (waitMs === 0 || waitsFor(key, sessionKey)) {
        answered.catch((error: Error) => log.warn(`a message to ${key} failed: ${error.message}`));
        return isDelivered;
      }
      const bound = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
      return whileWaiting(sessionKey, key, () => abortable(bound, () => answered)).then(
        (result) => replyOf(key, result),
        (error: unknown) => {
          if (signal.aborted || !bound.aborted) throw error;
          return `No reply within ${waitMs / 1000} seconds. ${isDelivered}`;
        },
      );
    },
    async list({ sessionKey }) {
      return describeTree(sessionKey, await subagents.list(), Date.now()).join("\n");
    },
    async history(session, { key, limit }) {
      await requireRelated(session, key);
      const page = await known.newest(key, limit);
      if (page === null)
        throw new ToolRefusal(`Session ${key} has no messages, or is kept no more.`);
      return describeHistory(page.entries);
    },
  };
}

function replyOf(key: string, result: TurnResult | undefined): string {
  if (result?.reply) return textOf(result.reply);
  throw new ToolRefusal(`Session ${key} did not reply: ${result?.error?.message ?? "no reply"}`);
}
