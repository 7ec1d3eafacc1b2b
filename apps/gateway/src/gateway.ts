// Sends a person's message to its session and stores the turn's report.
import {
  createSessionState,
  type LogPort,
  settleMaintenance,
  type TurnEvent,
  type TurnResult,
} from "@clew/engine-core";
import { ContextEngineError, type UserBlock } from "@clew/plugin-sdk/core";
import { type LinkedSignal, linkSignals } from "@clew/plugin-sdk/host";
import type { CommandAnswer } from "./commands/answer.ts";
import { type CompactRequest, runCompact } from "./commands/compact.ts";
import type { CommandLine } from "./commands/parse.ts";
import { runCommand } from "./commands/run.ts";
import { createCommandSession } from "./commands/session.ts";
import { composeHost } from "./compose.ts";
import { defaultAgentId } from "./config/agent.ts";
import type { Environment } from "./config/environment.ts";
import { type LoadedConfig, loadConfig } from "./config/load.ts";
import type { Host, TurnSetup } from "./host/host.ts";
import type { PluginHost } from "./plugins/host.ts";
import type { PluginRecord } from "./plugins/load/record.ts";
import { type ContextView, describeContext, readContextItem } from "./reports/context-view.ts";
import { openReportLog, type ReportLog } from "./reports/report-log.ts";
import { type Conversation, createConversations } from "./sessions/conversations.ts";
import { parseSessionName } from "./sessions/keys.ts";
import { requireSessionName } from "./sessions/name-errors.ts";
import { describeNote } from "./sessions/notes.ts";
import { agentPaths } from "./sessions/paths.ts";
import {
  createSessionStore,
  type ReadSession,
  type SessionStore,
  type SessionSummary,
} from "./sessions/store.ts";
import type { Approve } from "./tools/tool.ts";

/**
 * Time an engine's background work gets when its session closes, ms; after
 * it the work is cancelled.
 */
const MAINTENANCE_GRACE_MS = 1000;

export interface SendRequest {
  /** Short name or canonical key. */
  key: string;
  content: string | UserBlock[];
  signal?: AbortSignal;
  onEvent?: (event: TurnEvent) => void;
  /** Asks a person whether a tool may run; absent = nobody is there to ask. */
  approve?: Approve | undefined;
}

export interface Gateway {
  readonly host: Host;
  readonly plugins: PluginHost | undefined;
  readonly store: SessionStore;
  /** Canonical key. Throws SESSION_NAME_INVALID. */
  canonicalKey(key: string): string;
  /**
   * One turn, after those before it in the same session. Throws SESSION_LOCKED,
   * TRANSCRIPT_UNREADABLE, STORAGE_FAILED.
   */
  send(request: SendRequest): Promise<TurnResult>;
  /**
   * Loads plugins anew under the configuration as it is now, between runs. Throws CONFIG_INVALID;
   * then nothing has changed.
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
  /** What `/compact` does, asked for as data. */
  compact(key: string, request: CompactRequest): Promise<Omit<CommandAnswer, "command">>;
  /** Cancels the run of a session and those waiting behind it; false when there is none. */
  cancel(key: string): boolean;
  sessions(): Promise<(SessionSummary & { busy: boolean })[]>;
  session(key: string): Promise<(ReadSession & { busy: boolean }) | null>;
  /** What the model saw in the session's last call; null when there was none. */
  context(key: string): Promise<ContextView | null>;
  /** The whole text of one item of `context`; null when there is no such item. */
  contextItem(
    key: string,
    part: "system" | "tools" | "messages",
    index: number,
  ): Promise<string | null>;
  /** Runs get `graceMs` to finish, are cancelled then; locks are given up. */
  close(options?: { graceMs?: number }): Promise<void>;
}

export interface GatewayOptions {
  environment: Environment;
  loaded: Pick<LoadedConfig, "config" | "raw">;
  log: LogPort;
  /** Already loaded; the gateway closes them. */
  plugins?: PluginHost | undefined;
  /** The configuration as it is now, for a reload; default: the file's. */
  reread?: () => Promise<Pick<LoadedConfig, "config" | "raw">>;
}

/**
 * Throws CONFIG_INVALID or ENGINE_NOT_FOUND when the configuration names a model or
 * engine that is not there.
 */
export function createGateway(options: GatewayOptions): Gateway {
  const {
    environment,
    loaded,
    log,
    plugins,
    reread = () => loadConfig(environment.configFile),
  } = options;
  const { home } = environment;
  const host = composeHost({ environment, loaded, log, plugins });
  host.model(defaultAgentId(loaded.config));
  const store = createSessionStore({ home });
  const reports = new WeakMap<Conversation, ReportLog>();
  const running = new Map<string, Set<LinkedSignal>>();
  let closing = false;

  const canonicalKey = (text: string) =>
    requireSessionName(text, defaultAgentId(loaded.config)).key;
  const agentOf = (key: string) => parseSessionName(key)?.agentId ?? defaultAgentId(loaded.config);
  const conversations = createConversations({
    store,
    canonical: canonicalKey,
    cwd: (key) => host.workspace(agentOf(key)),
    createState: createSessionState,
    onOpened: ({ session }, notes) => {
      for (const note of notes)
        log.warn(`session ${session.session.sessionKey}: ${describeNote(note)}`);
    },
    onClosing: async (conversation) => {
      await settleMaintenance(conversation.state.maintenance, MAINTENANCE_GRACE_MS);
      if (closing) await endSession(plugins, conversation);
      await reports.get(conversation)?.close();
    },
  });
  const reportsOf = (conversation: Conversation) => {
    const { agentId, sessionId } = conversation.session.session;
    const known =
      reports.get(conversation) ?? openReportLog(agentPaths(home, agentId).reports, sessionId);
    reports.set(conversation, known);
    return known;
  };
  /**
   * An engine's successor becomes the conversation's transcript; what cannot be moved to
   * stays a line in the log.
   */
  const successorsOf = (conversation: Conversation): TurnSetup["successors"] => {
    return async (move) => {
      const cwd = host.workspace(move.from.agentId);
      const adopted = await store.adopt({ ...move, cwd }).catch((error: unknown) => {
        if (!ContextEngineError.is(error)) throw error;
        log.warn(error.message);
        return undefined;
      });
      if (adopted === undefined) return undefined;
      const before = conversation.session;
      conversation.session = adopted;
      await reports.get(conversation)?.close();
      reports.delete(conversation);
      await before.close();
      return adopted;
    };
  };
  /** `cancel` reaches the work as long as it runs or waits. */
  const cancellable = async <Result>(
    key: string,
    signal: AbortSignal | undefined,
    work: (cancelled: AbortSignal) => Promise<Result>,
  ) => {
    const linked = linkSignals(signal);
    const set = running.get(key) ?? new Set();
    running.set(key, set.add(linked));
    try {
      return await work(linked.signal);
    } finally {
      set.delete(linked);
      if (set.size === 0) running.delete(key);
      linked.release();
    }
  };

  const commandSession = (key: string, signal: AbortSignal, onEvent?: (event: TurnEvent) => void) =>
    createCommandSession({
      ...{
        home,
        key,
        agentId: agentOf(key),
        host,
        store,
        conversations,
        plugins,
        successorsOf,
        signal,
        onEvent,
      },
      storeReport: (conversation, report) =>
        storeReport(reportsOf(conversation), { report, parts: {} }, log),
    });

  return {
    host,
    plugins,
    store,
    canonicalKey,
    send({ key: text, content, signal, onEvent, approve }) {
      const key = canonicalKey(text);
      return cancellable(key, signal, (cancelled) =>
        conversations.run(
          key,
          async (conversation) => {
            const { session, state } = conversation;
            const result = await host.answer({
              transcript: session,
              state,
              prompt: { content },
              signal: cancelled,
              approve,
              successors: successorsOf(conversation),
              ...(onEvent !== undefined && { onEvent }),
            });
            await storeReport(reportsOf(conversation), result, log);
            logTurn(log, result);
            return result;
          },
          cancelled,
        ),
      );
    },
    async reloadPlugins() {
      if (plugins === undefined) return [];
      const { config, raw } = await reread();
      return plugins.reload({ plugins: config.plugins, raw });
    },
    command(text, command, { signal, onEvent } = {}) {
      const key = canonicalKey(text);
      return cancellable(key, signal, (cancelled) =>
        runCommand(command, commandSession(key, cancelled, onEvent)),
      );
    },
    compact(text, request) {
      const key = canonicalKey(text);
      return cancellable(key, undefined, (cancelled) =>
        runCompact(request, commandSession(key, cancelled)),
      );
    },
    cancel(text) {
      const found = running.get(canonicalKey(text));
      for (const linked of found ?? [])
        linked.abort(new DOMException("Cancelled by the person.", "AbortError"));
      return found !== undefined;
    },
    async sessions() {
      const busy = conversations.busy();
      return (await store.list()).map((summary) => ({ ...summary, busy: busy.has(summary.key) }));
    },
    async session(text) {
      const key = canonicalKey(text);
      const found = await store.read(key);
      return found === null ? null : { ...found, busy: conversations.busy().has(key) };
    },
    async context(text) {
      const found = await store.read(canonicalKey(text));
      return found === null
        ? null
        : describeContext(agentPaths(home, found.agentId).reports, found);
    },
    async contextItem(text, part, index) {
      const found = await store.read(canonicalKey(text));
      return found === null
        ? null
        : readContextItem(agentPaths(home, found.agentId).reports, found, part, index);
    },
    async close({ graceMs = 0 } = {}) {
      closing = true;
      const closed = conversations.close();
      const timer = setTimeout(() => {
        for (const set of running.values())
          for (const linked of set)
            linked.abort(new DOMException("Clew is stopping.", "AbortError"));
      }, graceMs);
      await closed.finally(() => clearTimeout(timer));
      await plugins?.close();
      await host.close();
    },
  };
}

/** Sessions go on after a restart; plugins are told that this process is done with them. */
async function endSession(
  plugins: PluginHost | undefined,
  { session }: Conversation,
): Promise<void> {
  const { sessionId, sessionKey, agentId } = session.session;
  const messageCount = session.branch().filter(({ type }) => type === "message").length;
  await plugins?.hooks.emit(
    "session_end",
    { sessionId, sessionKey, messageCount, reason: "shutdown" },
    { sessionId, sessionKey, agentId },
  );
}

/** A report that cannot be stored must not cost the reply, which is stored already. */
async function storeReport(
  reports: ReportLog,
  { report, parts }: Pick<TurnResult, "report" | "parts">,
  log: LogPort,
): Promise<void> {
  try {
    await reports.append(report, parts);
  } catch (error) {
    log.warn(`turn report not stored: ${(error as Error).message}`);
  }
}

function logTurn(log: LogPort, { outcome, report }: TurnResult): void {
  const { sessionKey, durationMs, hostMs, engine, modelCalls } = report;
  const degraded =
    engine.degraded === null
      ? ""
      : ` (${engine.configured} set aside: ${engine.degraded.operation}: ${engine.degraded.reason})`;
  log.info(`turn ${outcome}: ${modelCalls.length} model calls, engine ${engine.ran}${degraded}`, {
    sessionKey,
    durationMs: Math.round(durationMs),
    hostMs: Math.round(hostMs * 10) / 10,
  });
}
