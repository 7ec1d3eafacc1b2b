// What can be asked of the gateway, whichever way a request comes in.
import { randomUUID } from "node:crypto";
import {
  createSessionState,
  type HostSession,
  type LogPort,
  settleMaintenance,
  type TurnEvent,
  type TurnResult,
} from "@clew/engine-core";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { createGrantFiles } from "./approvals/grants.ts";
import { type Approvals, createApprovals } from "./approvals/queue.ts";
import { systemClock } from "./clock.ts";
import type { CommandAnswer, CommandSession } from "./commands/answer.ts";
import { type CompactRequest, runCompact } from "./commands/compact.ts";
import type { CommandLine } from "./commands/parse.ts";
import { runCommand } from "./commands/run.ts";
import { createCommandSession } from "./commands/session.ts";
import type { StatusFacts } from "./commands/status.ts";
import { composeHost } from "./compose.ts";
import { agentSettings, defaultAgentId } from "./config/agent.ts";
import type { Environment } from "./config/environment.ts";
import { tokensIn } from "./config/gateway-auth.ts";
import { type LoadedConfig, loadConfig } from "./config/load.ts";
import { createCostLedger } from "./costs/ledger.ts";
import { type Costs, createCosts } from "./costs/meter.ts";
import { createCapsReader } from "./costs/read-caps.ts";
import type { SessionSpent } from "./costs/totals.ts";
import { runJob } from "./cron/run-job.ts";
import { createScheduler, type Scheduler } from "./cron/scheduler.ts";
import { createRepliesUnderWay } from "./door/call/under-way.ts";
import { fileJournals } from "./door/memory/journal-files.ts";
import { createDoor, type Door } from "./door/serve/door.ts";
import { createEditors, type Editors } from "./editors/editors.ts";
import { saidOfTools } from "./editors/modes.ts";
import { setAsideEvent, watcherOf } from "./events/beside-turns.ts";
import { createEventHub, type EventHub } from "./events/hub.ts";
import { tellerOf } from "./events/turn-events.ts";
import { createCancellation } from "./gateway/cancellation.ts";
import { type ChildSessions, createChildSessions } from "./gateway/child-sessions.ts";
import { type ClosingPart, closeInOrder } from "./gateway/close-in-order.ts";
import { type KnownSessions, knownSessions } from "./gateway/known-sessions.ts";
import { placeOfPrompt } from "./gateway/newest-messages.ts";
import { runKeptJob } from "./gateway/run-kept-job.ts";
import { createSending, type Sending, type WaitingMessages } from "./gateway/sending.ts";
import { createSessionViews, type SessionViews } from "./gateway/session-views.ts";
import { approvalsTo, type TurnOver } from "./gateway/streamed-turn.ts";
import { successorsOf } from "./gateway/successors.ts";
import { createTurnReports, type TurnReports } from "./gateway/turn-reports.ts";
import { createTurnWaste } from "./gateway/turn-waste.ts";
import {
  cancellable,
  converse,
  runMessage,
  type TurnParts,
  type UnaskedTurn,
} from "./gateway/turns.ts";
import { createUnstoredTurns } from "./gateway/unstored-turns.ts";
import { createHomeWrites, type HomeWrites } from "./home/can-write.ts";
import type { Host, HostOptions } from "./host/host.ts";
import { createLocalJobs } from "./jobs/local-jobs.ts";
import { createLab, type Lab } from "./lab/lab.ts";
import { createShadows, type Shadows } from "./lab/shadows.ts";
import { createMcpSources, type McpSources } from "./mcp/client/mcp-sources.ts";
import { createExposition, type Exposition } from "./metrics/expose.ts";
import { createTally } from "./metrics/tally.ts";
import { describeSubstitute } from "./models/describe-rest.ts";
import { sessionModelIn } from "./models/session-model.ts";
import type { PluginHost } from "./plugins/host.ts";
import type { PluginRecord } from "./plugins/load/record.ts";
import { hookContext } from "./plugins/offer/hook-context.ts";
import { type Conversation, createConversations } from "./sessions/conversations.ts";
import { parseSessionName } from "./sessions/keys.ts";
import { requireSessionName } from "./sessions/name-errors.ts";
import { describeNote, type SessionNote } from "./sessions/notes.ts";
import type { SessionStore } from "./sessions/store.ts";
import { fileStorage } from "./storage/open-storage.ts";
import type { Storage, StorageCluster, StorageRoom } from "./storage/storage.ts";
import { createTurnStreams, type TurnStreams } from "./streams/turn-streams.ts";
import { createTracer } from "./tracing/tracer.ts";
import { VERSION } from "./version.ts";
import type { Taken } from "./waiting/item.ts";
import { sessionInUse } from "./waiting/refusals.ts";
import type { SendRequest } from "./waiting/send-request.ts";
import { createSessionGate } from "./waiting/session-gate.ts";
import { createTurnLine } from "./waiting/turn-line.ts";

/**
 * Time an engine's background work gets when its session closes, ms; after
 * it the work is cancelled.
 */
const MAINTENANCE_GRACE_MS = 1000;

/** Time that ending may take beyond what runs are given, ms. */
const CLOSE_BOUND_MS = 6500;

export interface Gateway extends SessionViews {
  /** Absolute. */
  readonly home: string;
  /** Whether there is room in it, and the right to write. */
  readonly homeWrites: HomeWrites;
  /** The same of where sessions are. Undefined: they are in the home. */
  readonly storageRoom: StorageRoom | undefined;
  /** Undefined: no other gateway has sessions of the same storage. */
  readonly cluster: StorageCluster | undefined;
  readonly host: Host;
  readonly plugins: PluginHost | undefined;
  readonly store: SessionStore;
  /** Where clients of model APIs come in. */
  readonly door: Door;
  /** Plays sessions through other engines, in a process of its own. */
  readonly lab: Lab;
  /** Second engines, which never touch a reply. */
  readonly shadows: Pick<Shadows, "settled">;
  /** What people are asked before tools run. */
  readonly approvals: Approvals;
  /** Servers that bring tools. */
  readonly mcp: McpSources;
  /** Sessions that editors hold, and what is theirs in these. */
  readonly editors: Editors;
  /** What happens in all sessions, while it happens. */
  readonly events: EventHub;
  /** What is told of each turn, for those who listen to it. */
  readonly streams: TurnStreams<TurnOver>;
  /** What model calls of a session cost until now, with all that belongs to its first parent. */
  spentIn(key: string): Promise<SessionSpent>;
  /** Canonical key. Throws SESSION_NAME_INVALID. */
  canonicalKey(key: string): string;
  /**
   * Takes a message in, which is durable when this resolves, where it has to wait. Throws
   * SESSION_BUSY, BACKLOG_FULL, STORAGE_FAILED, and REQUEST_INVALID for one that is too long.
   */
  offer(request: SendRequest): Promise<Taken>;
  /** As of what looks after messages: for the gateway that has a session and does not answer. */
  readonly keep: Sending["keep"];
  /** Takes part in what becomes of a message that was kept so. Throws MessageTakenBack. */
  readonly rejoin: Sending["rejoin"];
  /** What is stored of a message and its reply. Null: nobody knows it, as far as is known. */
  readonly saidIn: Sending["saidIn"];
  /** A message is kept for whoever has its session. */
  readonly isKept: Sending["isKept"];
  /**
   * What comes of a message that `offer` takes in. Throws what that throws, SESSION_LOCKED and
   * TRANSCRIPT_UNREADABLE.
   */
  send(request: SendRequest): Promise<TurnResult>;
  /** Messages that wait for their turn. */
  readonly waiting: WaitingMessages;
  /**
   * Loads plugins again under the configuration as it is now, for runs that begin afterwards.
   * Throws CONFIG_INVALID; then nothing has changed.
   */
  reloadPlugins(): Promise<readonly PluginRecord[]>;
  /**
   * The answer to a command ("/status", or one of a plugin). `onEvent` is told of a compaction's
   * progress. Throws like `send`.
   */
  command(
    key: string,
    command: CommandLine,
    options?: {
      signal?: AbortSignal | undefined;
      onEvent?: ((event: TurnEvent) => void) | undefined;
    },
  ): Promise<CommandAnswer>;
  /** What `/status` tells, asked for as data; nobody else is told of it. Throws like `send`. */
  status(key: string): Promise<StatusFacts>;
  /** What `/compact` does, asked for as data. */
  compact(key: string, request: CompactRequest): Promise<Omit<CommandAnswer, "command">>;
  /**
   * Takes a session away with the files that are its own. Throws SESSION_NOT_FOUND, SESSION_BUSY
   * while a reply is written in it, SESSION_LOCKED while another process has it.
   */
  remove(key: string): Promise<void>;
  /** Tells of turns that no person asked for, in any session; the function it gives ends that. */
  onUnasked(listener: (turn: UnaskedTurn) => void): () => void;
  /** What goes on in sessions that nobody waits for. */
  readonly unawaited: Pick<ChildSessions, "isRunning" | "settled">;
  /** Cancels the run of a session; what waits behind it goes on waiting. False: there is none. */
  cancel(key: string): boolean;
  /** Runs jobs once it is started. */
  readonly scheduler: Scheduler;
  /** What was counted, as Prometheus reads it. */
  metrics(): Promise<Exposition>;
  /** Turns that run, and those that wait behind them. */
  busy(): { running: number; waiting: number };
  /** True once `close` was called: nothing new is begun. */
  isStopping(): boolean;
  /**
   * Runs get `graceMs` to finish and are cancelled then; locks are given up, plugins told, engines
   * disposed. Ends within `graceMs` + `boundMs`, whatever of that does not.
   */
  close(options?: { graceMs?: number; boundMs?: number }): Promise<void>;
}

export interface GatewayOptions {
  environment: Environment;
  loaded: Pick<LoadedConfig, "config" | "raw">;
  log: LogPort;
  /** Already loaded; the gateway closes them. */
  plugins?: PluginHost | undefined;
  /** The configuration as it is now, for a reload; default: the file's. */
  reread?: () => Promise<Pick<LoadedConfig, "config" | "raw">>;
  /** As a host's: told of each engine that the settings name and nobody has. */
  onMissingEngine?: HostOptions["onMissingEngine"];
  /** As a host's: programs that may run turns besides those of the settings. */
  harnesses?: HostOptions["harnesses"];
  /** Longest time in which a shadow engine plays a turn, ms. Absent: a minute. */
  shadowTurnMs?: number | undefined;
  /** Already open; the gateway closes it. Absent: files of the home. */
  storage?: Storage | undefined;
}

/**
 * Throws CONFIG_INVALID when the configuration names a model that is not there, and
 * ENGINE_NOT_FOUND for such an engine where nobody is told of it.
 */
export function createGateway(options: GatewayOptions): Gateway {
  const { environment, loaded, log, plugins } = options;
  const { home } = environment;
  const { storage = storageAlone(options) } = options;
  const { sessions: store, records, cluster, waiting: keptWaiting, engineRows } = storage;
  const { journals = fileJournals(home) } = storage;
  const isTalking = loaded.config.agents.defaults.subagents.enabled;
  // The tools of the host reach sessions, which the host answers.
  const sessions = () => (isTalking ? children.tools : undefined);
  const sessionSettings = (key: string) => children.settingsOf(key);
  const chosenModels = new Map<string, string>();
  const noteModel = (key: string, branch: readonly TranscriptEntry[]) => {
    const chosen = sessionModelIn(branch);
    if (chosen === undefined) chosenModels.delete(key);
    else chosenModels.set(key, chosen);
  };
  const approvals = createApprovals({
    ...{ log, expireMs: loaded.config.tools.approval.expireMs },
    grants: createGrantFiles({ home, log }),
    lineageOf: (key) => children.lineageOf(key),
  });
  const events = createEventHub();
  const streams = createTurnStreams<TurnOver>();
  const unstored = createUnstoredTurns();
  const unwatchers = [approvals.attach(watcherOf(events)), approvals.attach(approvalsTo(streams))];
  const editors = createEditors({ home, log, said: saidOfTools(loaded.raw) });
  const pluginSubagents = () => children.ofPlugins;
  const costs = createCosts({
    ...{ log, ledger: createCostLedger({ home, log }), caps: loaded.config.gateway.costCaps },
    capsNow: createCapsReader(options),
    rootOf: (key) => children.lineageOf(key).above.at(-1) ?? key,
    pricesOf: (model) => host.pricesOf(model),
  });
  const inSession: HostOptions["inSession"] = ({ session }, work) =>
    conversations.visit(session.sessionKey, ({ session: open }) =>
      open.session.sessionId === session.sessionId ? work(open) : Promise.resolve(),
    );
  const mcp = createMcpSources({ config: loaded.config.mcp, environment, log });
  const host = composeHost({
    ...{ environment, loaded, log, plugins, sessions, sessionSettings, approvals, records },
    ...(engineRows !== undefined && { engineRows }),
    editorOf: editors.placeOf,
    mcp: (session) => mcp.of(session),
    ...{ onMissingEngine: options.onMissingEngine, harnesses: options.harnesses },
    ...{ pluginSubagents, inSession, costs, sessionModel: (key) => chosenModels.get(key) },
    onSetAside: (record) => events.publish(setAsideEvent(record)),
  });
  const defaultAgent = defaultAgentId(loaded.config);
  const { model } = agentSettings(loaded.config, home, defaultAgent);
  const substitute = describeSubstitute(host.models(defaultAgent), model);
  if (substitute !== null) log.warn(substitute);
  const { limits } = loaded.config.gateway;
  const tally = createTally();
  const stored = createTurnReports({ home: records, log, maxBytes: limits.reportBytes });
  const reports: TurnReports = {
    ...stored,
    store(conversation, result) {
      tally.take(result.report);
      return stored.store(conversation, result);
    },
  };
  const shadows = createShadows({
    ...{ environment, records, settings: () => loaded, log },
    turnMs: options.shadowTurnMs,
  });
  const cancellation = createCancellation();
  const canonicalKey = (text: string) => requireSessionName(text, defaultAgent).key;
  const agentOf = (key: string) => parseSessionName(key)?.agentId ?? defaultAgent;
  let closing = false;
  let openSessions = 0;
  const conversations = createConversations({
    ...{ store, canonical: canonicalKey, createState: createSessionState },
    cwd: (key) => host.workspace(agentOf(key), key),
    maxOpenBytes: loaded.config.gateway.limits.openSessionBytes,
    onOpened: async (conversation, notes) => {
      openSessions++;
      logNotes(log, conversation, notes);
      const { agentId, sessionKey } = conversation.session.session;
      editors.forget(sessionKey);
      noteModel(sessionKey, conversation.session.branch());
      const { model } = host.models(agentId, sessionKey).answering;
      await reports.recallCount(conversation, model);
    },
    onClosing: async (conversation) => {
      openSessions--;
      await settleMaintenance(conversation.state.maintenance, MAINTENANCE_GRACE_MS);
      if (closing) {
        const { agentId, sessionKey } = conversation.session.session;
        await endSession(plugins, conversation, host.workspace(agentId, sessionKey));
      }
      await reports.close(conversation);
    },
  });
  const isStopping = () => closing;
  const known = knownSessions(store, conversations);
  const tellDeleted = (session: HostSession) => {
    events.publish({ type: "session", session: session.sessionKey, change: "removed" });
    const workspace = host.workspace(session.agentId, session.sessionKey);
    return deletedSession(plugins, session, workspace);
  };
  const children = createChildSessions({
    ...{ home, log, host, store, known, conversations, isStopping, shared: storage.children },
    converse: (turn) => converse(parts, turn),
    pluginSettings: () => plugins?.settings() ?? loaded.config.plugins,
    tellPlugins: (name, event, context) => plugins?.hooks.observe(name, () => event, context),
    tellCreated: (session) => events.publish({ type: "session", session, change: "created" }),
    tellDeleted,
  });
  const line = createTurnLine(() => limits.runningTurns);
  const gate = createSessionGate();
  const underWay = createRepliesUnderWay({
    ...{ limits, line, gate, replyMs: loaded.config.agents.defaults.timeoutSeconds * 1000 },
    backlog: () => sending.backlog(),
  });
  const views = createSessionViews({
    ...{ home, records, host, store, known, conversations, canonicalKey, agentOf },
    children: async () => [...(await children.list()), ...(await door.started())],
    underWay: reports.underWay,
    answering: () => new Set([...underWay.busy(), ...sending.asking()]),
    ...{ costs, otherCosts: storage.otherCosts },
  });
  const waste = createTurnWaste({ costs, host });
  const tracer = createTracer({
    ...{ settings: loaded.config.diagnostics.otel, version: VERSION, log },
  });
  const unasked = new Set<(turn: UnaskedTurn) => void>();
  const sending = createSending({
    ...{ home, log, limits, store, conversations, unstored, canonicalKey, waiting: keptWaiting },
    ...{ line, gate, backlogElsewhere: underWay.waiting },
    whenBusy: loaded.config.session.whenBusy,
    run: (turn) => runMessage(parts, turn),
    told: streams.running,
    tell: (news) => events.publish({ type: "waiting", ...news }),
  });
  const { offer, keep, rejoin, saidIn, isKept, send, waiting } = sending;
  const parts = {
    tellUnasked(turn: UnaskedTurn) {
      for (const listener of unasked) listener(turn);
    },
    ...{ ...options, host, store, records, known, reports, cancellation, conversations },
    noteWaste: waste.note,
    ...{ agentOf, isStopping, children, approvals, events, costs, shadows, tracer, noteModel },
    ...{ editors, streams, unstored, mayAct: () => cluster?.alive.aborted !== true },
    engineStatus: views.engine,
    ...{ waiting, mcp },
  };
  const door = createDoor({
    ...{ host, log, home, journals, newId: randomUUID, now: systemClock.now },
    tokens: tokensIn(loaded.config.gateway.auth, environment),
    ...{ conversations, reports, costs, events, tracer, underWay },
    ...{ noteWaste: waste.note, answered: tally.answered },
    isHere: () => cluster === undefined || cluster.door.isHere,
    sessions: {
      send: async (request) => (await offer(request)).result,
      branch: async (key) => (await known.read(key))?.branch ?? [],
      placeOf: (key, entryId) => placeOfPrompt(known, key, entryId),
      tokensIn: async (key) =>
        (await known.find(key)) === null ? undefined : (await views.context(key))?.size.tokens,
    },
  });
  const lab = createLab({ environment, settings: () => loaded });
  const scheduler = createScheduler({
    ...{ log, clock: systemClock, store: storage.jobs },
    jobs: storage.queue ?? createLocalJobs({ log }),
    run: (job, signal, due) =>
      cluster === undefined
        ? runJob({ send }, job, signal)
        : runKeptJob({ keep, saidIn, isStopping, look: cluster.look }, job, { due, signal }),
  });
  const busy = () => {
    const atDoor = underWay.running();
    const storing = door.storing();
    // What the door stores, meanwhile and behind a reply, is no turn of its own.
    const counts = [...conversations.busy()].flatMap(([key, count]) => {
      const left = atDoor.has(key) ? 0 : count - (storing.get(key) ?? 0);
      return left > 0 ? [left] : [];
    });
    const all = counts.reduce((sum, count) => sum + count, 0);
    const replies = [...atDoor.values()].reduce((sum, count) => sum + count, 0);
    return {
      running: counts.length + replies,
      waiting: all - counts.length + sending.backlog() + underWay.waiting(),
    };
  };
  const metrics = createExposition({
    ...{ series: [tally, ...(storage.counts ? [storage.counts] : [])], version: VERSION },
    gauges: [
      { name: "clew_turns_running", help: "Turns under way.", value: () => busy().running },
      { name: "clew_turns_waiting", help: "Turns behind them.", value: () => busy().waiting },
      { name: "clew_sessions_open", help: "Sessions in memory.", value: () => openSessions },
      {
        name: "clew_door_unstored_sessions",
        help: "Sessions of the door that are answered and not wholly stored.",
        value: () => door.unstored().length,
      },
      { name: "clew_followers", help: "Event streams.", value: () => events.followers() },
      {
        name: "clew_approvals_pending",
        help: "Tools that wait to be allowed.",
        value: () => approvals.pending().length,
      },
    ],
  });
  if (isTalking) children.startSweeping();
  return {
    ...{ home, homeWrites: createHomeWrites(home), storageRoom: storage.room },
    ...{ cluster, metrics, busy, mcp },
    ...{ host, plugins, store, canonicalKey, approvals, events, scheduler, lab, door, editors },
    ...{ offer, keep, rejoin, saidIn, isKept, send, waiting, streams },
    ...{ shadows, unawaited: children },
    ...views,
    spentIn: (text) => costs.spentIn(canonicalKey(text)),
    async command(text, command, options) {
      const key = canonicalKey(text);
      const answer = await inCommandSession(parts, { ...options, key }, (session) =>
        runCommand(command, session),
      );
      const { ok } = answer;
      events.publish({ type: "command", session: key, command: command.name, ok });
      if (ok && command.name === "new") {
        await approvals.forget({ agentId: agentOf(key), sessionKey: key });
        await children.release(key);
        events.publish({ type: "session", session: key, change: "renewed" });
      }
      return answer;
    },
    status: (text) =>
      inCommandSession(parts, { key: canonicalKey(text) }, (session) => session.status()),
    compact: (text, request) =>
      inCommandSession(parts, { key: canonicalKey(text) }, (session) =>
        runCompact(request, session),
      ),
    async remove(text) {
      const key = canonicalKey(text);
      if (conversations.busy().has(key) || underWay.busy().has(key)) throw sessionInUse(key);
      const { sessionId } = await conversations.replace(key, async () => {
        const found = await store.find(key);
        if (found === null) throw await store.notFound(text);
        await waiting.clear(key);
        // Since then a client may have gone on in it.
        if (underWay.busy().has(key)) throw sessionInUse(key);
        await store.remove(key);
        door.forget(key);
        return found;
      });
      reports.deleted(agentOf(key));
      chosenModels.delete(key);
      await approvals.forget({ agentId: agentOf(key), sessionKey: key });
      await host.forgetInHarnesses({ agentId: agentOf(key), sessionKey: key });
      await children.release(key);
      await tellDeleted({ agentId: agentOf(key), sessionKey: key, sessionId });
      await editors.remove(key);
    },
    async reloadPlugins() {
      const records = await reloadPlugins(options);
      events.publish({ type: "engine", change: "reloaded", session: null, engineId: null });
      return records;
    },
    onUnasked(listener) {
      unasked.add(listener);
      return () => void unasked.delete(listener);
    },
    cancel(text) {
      const key = canonicalKey(text);
      const hadChildren = children.cancelBelow(key);
      const hadReplies = underWay.cancel(key, "running");
      const wasRunning =
        hadReplies || cancellation.cancel(key) || sending.cancel(key, "running") || hadChildren;
      if (wasRunning) return true;
      return [underWay, sending].map((each) => each.cancel(key, "waiting")).includes(true);
    },
    isStopping,
    close({ graceMs = 0, boundMs = CLOSE_BOUND_MS } = {}) {
      closing = true;
      sending.close();
      events.publish({ type: "stopping" });
      lab.close();
      shadows.close();
      const endRuns = () =>
        cancellation
          .cancelAllAfter(graceMs, conversations.close())
          .finally(() => children.settled())
          .finally(() => children.stopSweeping());
      const parts: ClosingPart[] = [
        { name: "jobs", close: () => scheduler.stop(graceMs), extraMs: graceMs },
        { name: "door", close: () => door.close(graceMs), extraMs: graceMs },
        { name: "memory", close: () => host.flushes.stop(graceMs), extraMs: graceMs },
        { name: "sessions", close: endRuns, extraMs: graceMs },
        { name: "storage", close: async () => cluster?.close() },
        { name: "MCP servers", close: () => mcp.close(), extraMs: 1000 },
        {
          name: "plugins",
          close: async () => plugins?.close(),
          unfinished: () => plugins?.unfinished() ?? [],
        },
        { name: "reports", close: () => reports.end() },
        { name: "costs", close: () => costs.close() },
        { name: "engines", close: () => host.close() },
        { name: "traces", close: () => tracer.close() },
      ];
      return closeInOrder(parts, { boundMs, log }).finally(() => {
        for (const unwatch of unwatchers) unwatch();
        events.close();
      });
    },
  };
}

/** Nobody opened one. */
function storageAlone({ environment, loaded }: GatewayOptions): Storage {
  if (loaded.config.storage.driver === "files") return fileStorage(environment.home);
  throw new ContextEngineError(
    "HOST_CAPABILITY_MISSING",
    "Sessions are in PostgreSQL (storage.driver), where they are written by a gateway that runs; start it with: clew start",
  );
}

/** What the verbs of one gateway work with. */
interface GatewayParts extends GatewayOptions, Omit<TurnParts, "log"> {
  costs: Costs;
  known: KnownSessions;
  /** As of its storage. */
  records: string;
  agentOf: (key: string) => string;
  engineStatus: SessionViews["engine"];
  /** Takes note of the model that a session's branch chooses. */
  noteModel(key: string, branch: readonly TranscriptEntry[]): void;
  approvals: Approvals;
  editors: Editors;
  mcp: McpSources;
  waiting: WaitingMessages;
}

function inCommandSession<Result>(
  parts: GatewayParts,
  { key, signal: given, onEvent }: Pick<SendRequest, "key" | "signal" | "onEvent">,
  work: (session: CommandSession) => Promise<Result>,
): Promise<Result> {
  const { environment, host, store, known, conversations, plugins, reports, events } = parts;
  const { records } = parts;
  const tell = tellerOf(events, { key });
  return cancellable(parts, key, given, (signal) =>
    work(
      createCommandSession({
        ...{ key, signal, host, store, known, conversations, plugins },
        onEvent(event) {
          tell(event);
          onEvent?.(event);
        },
        ...{ home: environment.home, records },
        agentId: parts.agentOf(key),
        approvals: parts.approvals,
        waiting: {
          list: () => parts.waiting.list(key),
          takeBack: (id) => parts.waiting.takeBack(key, id),
          clear: () => parts.waiting.clear(key),
        },
        children: parts.children.list,
        toolServers: () => parts.mcp.status(key),
        engineStatus: parts.engineStatus,
        noteModel: (branch) => parts.noteModel(key, branch),
        onForked(session) {
          events.publish({ type: "session", session, change: "created" });
          parts.editors.copy(key, session).catch((error: Error) => parts.log.warn(error.message));
        },
        costs: parts.costs,
        successorsOf: (conversation) => successorsOf(parts, conversation),
        storeReport: (conversation, report) => reports.store(conversation, { report }),
      }),
    ),
  );
}

async function reloadPlugins(options: GatewayOptions): Promise<readonly PluginRecord[]> {
  const { environment, plugins, reread = () => loadConfig(environment.configFile) } = options;
  if (plugins === undefined) return [];
  const { config, raw } = await reread();
  return plugins.reload({ plugins: config.plugins, raw });
}

/** Sessions go on after a restart; plugins are told that this process is done with them. */
async function endSession(
  plugins: PluginHost | undefined,
  { session }: Conversation,
  workspaceDir: string,
): Promise<void> {
  const { sessionId, sessionKey, sessionFile } = session.session;
  const messageCount = session.branch().filter(({ type }) => type === "message").length;
  await plugins?.hooks.emit(
    "session_end",
    { sessionId, sessionKey, sessionFile, messageCount, reason: "shutdown" },
    hookContext(session.session, { workspaceDir }),
  );
}

/** It is gone with all that was said in it. */
async function deletedSession(
  plugins: PluginHost | undefined,
  session: HostSession,
  workspaceDir: string,
): Promise<void> {
  const { sessionId, sessionKey } = session;
  const event = { sessionId, sessionKey, messageCount: 0, reason: "deleted" };
  await plugins?.hooks.emit("session_end", event, hookContext(session, { workspaceDir }));
}

function logNotes(log: LogPort, { session }: Conversation, notes: readonly SessionNote[]): void {
  for (const note of notes)
    log.warn(`session ${session.session.sessionKey}: ${describeNote(note)}`);
}
