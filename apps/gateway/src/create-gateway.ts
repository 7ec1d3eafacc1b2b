// Joins the parts of a gateway, in the order in which they need each other.
import { randomUUID } from "node:crypto";
import { createSessionState, type HostSession } from "@clew/engine-core";
import { createGrantFiles } from "./approvals/grants.ts";
import { createApprovals } from "./approvals/queue.ts";
import { systemClock } from "./clock.ts";
import { createSessionCommands } from "./commands/session-commands.ts";
import { composeHost } from "./compose.ts";
import { agentSettings, defaultAgentId } from "./config/agent.ts";
import { tokensIn } from "./config/gateway-auth.ts";
import { loadConfig } from "./config/load.ts";
import { createAllTotals } from "./costs/all-totals.ts";
import { createCostLedger } from "./costs/ledger.ts";
import { createCosts } from "./costs/meter.ts";
import { createCapsReader } from "./costs/read-caps.ts";
import { runJob } from "./cron/run-job.ts";
import { createScheduler } from "./cron/scheduler.ts";
import { createRepliesUnderWay } from "./door/call/under-way.ts";
import { fileJournals } from "./door/memory/journal-files.ts";
import { createDoor } from "./door/serve/door.ts";
import { createEditors } from "./editors/editors.ts";
import { saidOfTools } from "./editors/modes.ts";
import { setAsideEvent, watcherOf } from "./events/beside-turns.ts";
import { createEventHub } from "./events/hub.ts";
import { cancelSession } from "./gateway/cancel-session.ts";
import { createCancellation } from "./gateway/cancellation.ts";
import { createChildSessions } from "./gateway/child-sessions.ts";
import { createChosenModels } from "./gateway/chosen-models.ts";
import { closeGateway } from "./gateway/close-gateway.ts";
import { countBusy } from "./gateway/count-busy.ts";
import { deleteSession } from "./gateway/delete-session.ts";
import { gaugesOf } from "./gateway/gauges.ts";
import { knownSessions } from "./gateway/known-sessions.ts";
import { placeOfPrompt } from "./gateway/newest-messages.ts";
import { createOpenedSessions } from "./gateway/opened-sessions.ts";
import { runKeptJob } from "./gateway/run-kept-job.ts";
import { createSending } from "./gateway/sending.ts";
import { tellDeleted } from "./gateway/session-ends.ts";
import { createSessionViews } from "./gateway/session-views.ts";
import { approvalsTo, type TurnOver } from "./gateway/streamed-turn.ts";
import { createTurnReports } from "./gateway/turn-reports.ts";
import { createTurnWaste } from "./gateway/turn-waste.ts";
import { converse, runMessage, type TurnParts, type UnaskedTurn } from "./gateway/turns.ts";
import { createUnstoredTurns } from "./gateway/unstored-turns.ts";
import type { Gateway, GatewayOptions } from "./gateway.ts";
import { createHomeWrites } from "./home/can-write.ts";
import type { HostOptions } from "./host/host.ts";
import { createLocalJobs } from "./jobs/local-jobs.ts";
import { createLab } from "./lab/lab.ts";
import { createShadows } from "./lab/shadows.ts";
import { createMcpSources } from "./mcp/client/mcp-sources.ts";
import { createExposition } from "./metrics/expose.ts";
import { createTally } from "./metrics/tally.ts";
import { describeSubstitute } from "./models/describe-rest.ts";
import type { PluginRecord } from "./plugins/load/record.ts";
import { createConversations } from "./sessions/conversations.ts";
import { parseSessionName } from "./sessions/keys.ts";
import { requireSessionName } from "./sessions/name-errors.ts";
import { storageAlone } from "./storage/open-storage.ts";
import { createTurnStreams } from "./streams/turn-streams.ts";
import { createTracer } from "./tracing/tracer.ts";
import { VERSION } from "./version.ts";
import { createSessionGate } from "./waiting/session-gate.ts";
import { createTurnLine } from "./waiting/turn-line.ts";

/**
 * Throws CONFIG_INVALID when the configuration names a model that is not there, and
 * ENGINE_NOT_FOUND for such an engine where nobody is told of it.
 */
export function createGateway(options: GatewayOptions): Gateway {
  const { environment, loaded, log, plugins } = options;
  const { home } = environment;
  const { storage = storageAlone({ environment, config: loaded.config }) } = options;
  const { sessions: store, records, cluster, waiting: keptWaiting, engineRows } = storage;
  const { journals = fileJournals(home) } = storage;
  const isTalking = loaded.config.agents.defaults.subagents.enabled;
  // The tools of the host reach sessions, which the host answers.
  const sessions = () => (isTalking ? children.tools : undefined);
  const sessionSettings = (key: string) => children.settingsOf(key);
  const models = createChosenModels();
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
  const ledger = createCostLedger({ home, log });
  const { otherTotals: others, shareCosts: share } = storage;
  const costs = createCosts({
    ...{ log, ledger, share, caps: loaded.config.gateway.costCaps },
    ...(others !== undefined && { totals: createAllTotals({ ledger, others, log }) }),
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
    ...{ pluginSubagents, inSession, costs, sessionModel: models.of },
    onSetAside: (record) => events.publish(setAsideEvent(record)),
  });
  const defaultAgent = defaultAgentId(loaded.config);
  const { model } = agentSettings(loaded.config, home, defaultAgent);
  const substitute = describeSubstitute(host.models(defaultAgent), model);
  if (substitute !== null) log.warn(substitute);
  const { limits } = loaded.config.gateway;
  const tally = createTally();
  const reports = createTurnReports({
    ...{ home: records, log, maxBytes: limits.reportBytes, onReport: tally.take },
  });
  const shadows = createShadows({
    ...{ environment, records, settings: () => loaded, log },
    turnMs: options.shadowTurnMs,
  });
  const cancellation = createCancellation();
  const canonicalKey = (text: string) => requireSessionName(text, defaultAgent).key;
  const agentOf = (key: string) => parseSessionName(key)?.agentId ?? defaultAgent;
  let closing = false;
  const isStopping = () => closing;
  const opened = createOpenedSessions({
    ...{ host, editors, models, reports, plugins, costs, log, isStopping },
  });
  const conversations = createConversations({
    ...{ store, canonical: canonicalKey, createState: createSessionState },
    cwd: (key) => host.workspace(agentOf(key), key),
    maxOpenBytes: limits.openSessionBytes,
    ...{ onOpened: opened.onOpened, onClosing: opened.onClosing },
  });
  const known = knownSessions(store, conversations);
  const onDeleted = (session: HostSession) => {
    events.publish({ type: "session", session: session.sessionKey, change: "removed" });
    const workspace = host.workspace(session.agentId, session.sessionKey);
    return tellDeleted(plugins, session, workspace);
  };
  const children = createChildSessions({
    ...{ home, log, host, store, known, conversations, isStopping, shared: storage.children },
    converse: (turn) => converse(turns, turn),
    pluginSettings: () => plugins?.settings() ?? loaded.config.plugins,
    tellPlugins: (name, event, context) => plugins?.hooks.observe(name, () => event, context),
    tellCreated: (session) => events.publish({ type: "session", session, change: "created" }),
    tellDeleted: onDeleted,
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
    run: (turn) => runMessage(turns, turn),
    told: streams.running,
    tell: (news) => events.publish({ type: "waiting", ...news }),
  });
  const { offer, keep, rejoin, saidIn, isKept, send, waiting } = sending;
  const turns: TurnParts = {
    ...{ host, store, log, reports, cancellation, conversations, children, events, streams },
    ...{ unstored, shadows, tracer, isStopping, noteWaste: waste.note },
    mayAct: () => cluster?.alive.aborted !== true,
    tellUnasked(turn) {
      for (const listener of unasked) listener(turn);
    },
  };
  const commands = createSessionCommands({
    ...{ ...turns, home, records, known, plugins, costs, models, approvals, editors, mcp },
    ...{ waiting, engineStatus: views.engine, canonicalKey, agentOf },
  });
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
      // What is open here is nobody else's to delete.
      isThere: (key) =>
        cluster === undefined || conversations.busy().has(key) || conversations.peek(key)
          ? undefined
          : store.find(key).then((found) => found !== null),
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
  const busy = () =>
    countBusy({
      ...{ work: conversations.busy(), atDoor: underWay.running(), storing: door.storing() },
      backlog: sending.backlog() + underWay.waiting(),
    });
  const metrics = createExposition({
    ...{ series: [tally, ...(storage.counts ? [storage.counts] : [])], version: VERSION },
    gauges: gaugesOf({ busy, opened, door, events, approvals }),
  });
  if (isTalking) children.startSweeping();
  return {
    ...{ home, homeWrites: createHomeWrites(home), storageRoom: storage.room },
    ...{ cluster, metrics, busy, mcp },
    ...{ host, plugins, store, canonicalKey, approvals, events, scheduler, lab, door, editors },
    ...{ offer, keep, rejoin, saidIn, isKept, send, waiting, streams },
    ...{ shadows, unawaited: children },
    ...views,
    ...commands,
    spentIn: (text) => costs.spentIn(canonicalKey(text)),
    async remove(text) {
      const key = canonicalKey(text);
      await deleteSession(
        {
          ...{ conversations, underWay, store, waiting, door, reports, models, approvals, host },
          ...{ children, editors, costs, tellDeleted: onDeleted },
        },
        { text, key, agentId: agentOf(key) },
      );
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
    cancel: (text) =>
      cancelSession({ cancellation, children, sending, underWay }, canonicalKey(text)),
    isStopping,
    close(options = {}) {
      closing = true;
      const parts = {
        ...{ sending, lab, shadows, scheduler, door, host, cancellation, conversations, children },
        ...{ cluster, mcp, plugins, reports, costs, tracer, events, log },
      };
      return closeGateway(parts, options).finally(() => {
        for (const unwatch of unwatchers) unwatch();
        events.close();
      });
    },
  };
}

async function reloadPlugins(options: GatewayOptions): Promise<readonly PluginRecord[]> {
  const { environment, plugins, reread = () => loadConfig(environment.configFile) } = options;
  if (plugins === undefined) return [];
  const { config, raw } = await reread();
  return plugins.reload({ plugins: config.plugins, raw });
}
