// What can be asked of the gateway, whichever way a request comes in.
import type { LogPort, TurnResult } from "@clew/engine-core";
import type { Approvals } from "./approvals/queue.ts";
import type { SessionCommands } from "./commands/session-commands.ts";
import type { Environment } from "./config/environment.ts";
import type { LoadedConfig } from "./config/load.ts";
import type { SessionSpent } from "./costs/totals.ts";
import type { Scheduler } from "./cron/scheduler.ts";
import type { Door } from "./door/serve/door.ts";
import type { Editors } from "./editors/editors.ts";
import type { EventHub } from "./events/hub.ts";
import type { ChildSessions } from "./gateway/child-sessions.ts";
import type { Sending, WaitingMessages } from "./gateway/sending.ts";
import type { SessionViews } from "./gateway/session-views.ts";
import type { TurnOver } from "./gateway/streamed-turn.ts";
import type { UnaskedTurn } from "./gateway/turns.ts";
import type { HomeWrites } from "./home/can-write.ts";
import type { Host, HostOptions } from "./host/host.ts";
import type { Lab } from "./lab/lab.ts";
import type { Shadows } from "./lab/shadows.ts";
import type { McpSources } from "./mcp/client/mcp-sources.ts";
import type { Exposition } from "./metrics/expose.ts";
import type { PluginHost } from "./plugins/host.ts";
import type { PluginRecord } from "./plugins/load/record.ts";
import type { SessionStore } from "./sessions/store.ts";
import type { Storage, StorageCluster, StorageRoom } from "./storage/storage.ts";
import type { TurnStreams } from "./streams/turn-streams.ts";
import type { Taken } from "./waiting/item.ts";
import type { SendRequest } from "./waiting/send-request.ts";

export interface Gateway extends SessionViews, SessionCommands {
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
