// What a composed host offers to the gateway, the commands and replay.

import type {
  ClockPort,
  compactSession,
  EngineFailure,
  EngineRegistry,
  HostSession,
  LogPort,
  ModelPort,
  QuarantineRecord,
  RequestPreview,
  RetriedSession,
  SessionState,
  SideCallReport,
  SuccessorPort,
  ToolPort,
  TurnEvent,
  TurnRequest,
  TurnResult,
} from "@clew/engine-core";
import type { CompactionPreview } from "@clew/legacy-engine";
import type { ContextEngineFactory, ContextEngineInfo, EngineRows } from "@clew/plugin-sdk/core";
import type { ContextSizeInput, ModelCall, ModelRef, StreamEvent } from "@clew/plugin-sdk/host";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { Approvals } from "../approvals/queue.ts";
import type { Environment } from "../config/environment.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import type { Costs } from "../costs/meter.ts";
import type { Prices } from "../costs/prices.ts";
import type { HarnessFacts } from "../harness/harness.ts";
import type { HarnessLoader } from "../harness/harnesses.ts";
import type { McpTools } from "../mcp/client/mcp-tools.ts";
import type { AgentModels } from "../models/agent-models.ts";
import type { AskSettings } from "../models/call-ask.ts";
import type { ModelWindows } from "../models/model-windows.ts";
import type { ResolvedModel } from "../models/resolve.ts";
import type { ChosenBy } from "../plugins/engines/engine-choice.ts";
import type { MissingEngine } from "../plugins/engines/engine-settings.ts";
import type { AskedSession, EngineStatus } from "../plugins/engines/engine-status.ts";
import type { PluginHost } from "../plugins/host.ts";
import type { SubagentsPort } from "../plugins/load/subagents.ts";
import type { Flushes } from "../plugins/memory/flush/flushes.ts";
import type { CompactableSession } from "../sessions/open.ts";
import type { SessionToolsPort } from "../subagents/session-tools.ts";
import type { EditorPlace } from "../tools/editor-client.ts";
import type { SessionSettings } from "./session-settings.ts";
import type { EndedChild, PreparedChild, SpawnRequest } from "./spawn-request.ts";
import type { TurnClient } from "./turn-client.ts";

export interface HostOptions {
  environment: Environment;
  loaded: Pick<LoadedConfig, "config" | "raw">;
  log: LogPort;
  /** Already loaded; absent = none. */
  plugins?: PluginHost | undefined;
  /** What engines keep beside sessions that other machines may have next. Absent: none may. */
  engineRows?: EngineRows | undefined;
  /** The folder whose agents have the turn reports. Absent: the home. */
  records?: string | undefined;
  /** What tools reach of other sessions. Absent: none of them is offered. */
  sessions?: (() => SessionToolsPort | undefined) | undefined;
  /** What plugins reach of other sessions. Absent: nothing. */
  pluginSubagents?: (() => SubagentsPort | undefined) | undefined;
  /** What differs in a session from its agent's settings. Absent: nothing in any. */
  sessionSettings?: ((sessionKey: string) => SessionSettings | undefined) | undefined;
  /** What is an editor's of a session that one holds or held. Absent: no editor holds any. */
  editorOf?: ((sessionKey: string) => EditorPlace | undefined) | undefined;
  /** The model that a person chose for a session, where it is known. Absent: none did. */
  sessionModel?: ((sessionKey: string) => string | undefined) | undefined;
  /**
   * Does `work` when nothing else happens in the session, unless it moved to another transcript.
   * Absent: what is to be noted later is not.
   */
  inSession?:
    | ((
        transcript: CompactableSession,
        work: (transcript: CompactableSession) => Promise<void>,
      ) => Promise<void>)
    | undefined;
  /**
   * True: no model is reached but the offline one, also where plugins and engines ask for one, for
   * sessions that are played. Absent: all are.
   */
  callsNoModel?: true;
  /**
   * Told of each engine that the settings name and nobody has; legacy answers in its place. Absent:
   * there is no host then.
   */
  onMissingEngine?: ((missing: MissingEngine) => void) | undefined;
  /** Engines besides the fallback and those of plugins, by id. Absent: none. */
  ownEngines?: Readonly<Record<string, ContextEngineFactory>> | undefined;
  /** Told of every engine that is set aside. Absent: only the log is. */
  onSetAside?: ((record: QuarantineRecord) => void) | undefined;
  /** Counts model calls, and asks no model beyond a cap. Absent: nobody does. */
  costs?: Costs | undefined;
  /** Servers that bring tools to a session. Absent: none do. */
  mcp?: ((session: HostSession) => readonly McpTools[]) | undefined;
  /** Programs that may run turns besides those of the settings, by name. Absent: none. */
  harnesses?: Readonly<Record<string, HarnessLoader>> | undefined;
  /** Where people are asked whether a tool may run. Absent: nobody is, and the answer is no. */
  approvals?: Approvals | undefined;
}

export interface Host {
  readonly config: Config;
  /** Ids of registered engines. */
  engineIds(): string[];
  /** What makes a registered engine; for checks, which need engines of their own. */
  engineFactory(engineId: string): ContextEngineFactory | undefined;
  /** The model of an agent. Throws CONFIG_INVALID. */
  model(agentId: string): ResolvedModel;
  /** Any model, by "provider/model". Throws the same. */
  namedModel(name: string): ResolvedModel;
  /** The same for a client that signs in by its own key. */
  modelForClient(name: string): ResolvedModel;
  /** Models that can be asked as the settings are, by "provider/model"; those in use come first. */
  usableModels(): string[];
  /** What its tokens cost by the settings as they are now; null = not known. */
  pricesOf(name: string): Prices | null;
  /**
   * The headers by which one signs in to its server; none where no key is set. Throws
   * SignInError.
   */
  signInHeaders(resolved: ResolvedModel): Promise<Record<string, string>>;
  /**
   * Who answers an agent now, or one session of it, why, and who is there for when that one cannot.
   * Throws the same.
   */
  models(agentId: string, sessionKey?: string): AgentModels;
  /** What calls of an agent ask of the model that answers, in a session with this branch. */
  asks(agentId: string, branch: readonly TranscriptEntry[]): AskSettings;
  /** What providers said that their models hold, by "provider/model". */
  learnedWindows(): ReturnType<ModelWindows["all"]>;
  /** Of an agent, or of one session where its own is another. */
  workspace(agentId: string, sessionKey?: string): string;
  /** Asks a model in no session, with the history as its wire wants it. */
  streamReply(call: ModelCall): AsyncIterable<StreamEvent>;
  /** One turn. Outcomes of models, tools and engines are in the result. */
  answer(request: AnswerRequest): Promise<TurnResult>;
  /**
   * `/compact`; not while a turn of the session runs. What the engine could
   * not do is in the result.
   */
  compact(request: TurnSetup & { focus?: string | undefined }): ReturnType<typeof compactSession>;
  /** What the built-in compaction would do; changes nothing. */
  previewCompaction(request: TurnSetup, focus?: string): Promise<CompactionPreview>;
  /** By what a session's next request is measured; its messages are the caller's. */
  sizing(session: HostSession): Promise<Omit<ContextSizeInput, "messages">>;
  /** What the next call would send; not while a turn of the session runs. */
  preview(request: TurnSetup): Promise<RequestPreview>;
  /**
   * The engine that would answer an agent now, in a session where one is named: its info, and why
   * it is not the chosen one.
   */
  inspectEngine(agentId: string, sessionKey?: string): Promise<EngineInspection>;
  /** Everything known about it; asks the engine's own store where it can be asked. */
  engineStatus(agentId: string, session?: AskedSession): Promise<EngineStatus>;
  /** The program that runs an agent's turns, and what it holds of a session; null = none. */
  harness(agentId: string, sessionKey: string): Promise<HarnessFacts | null>;
  /** Why an agent's program cannot ask that model; undefined: it can, or the gateway asks. */
  whyNotAsked(agentId: string, model: ResolvedModel): Promise<string | undefined>;
  /** What programs hold of a session is not what it is any more; `why` is half a sentence. */
  letGoInHarnesses(
    session: Pick<HostSession, "agentId" | "sessionKey">,
    why: string,
  ): Promise<void>;
  /** What programs hold of a session goes with it. */
  forgetInHarnesses(session: Pick<HostSession, "agentId" | "sessionKey">): Promise<void>;
  /** Gives engines another chance in one session, in which nothing runs. */
  retryEngines(setup: Pick<TurnSetup, "transcript" | "state">): Promise<RetriedSession>;
  /** Throws when the engine cannot prepare for a child session: then it must not start. */
  prepareChild(request: SpawnRequest): Promise<PreparedChild>;
  /** Tells the engine that prepared for a child session that it is over; best effort. */
  childEnded(child: EndedChild): Promise<void>;
  /** What the chosen memory stores before compactions. */
  readonly flushes: Flushes;
  /** Engines set aside since start, and why. */
  quarantined(): ReturnType<EngineRegistry["quarantine"]["list"]>;
  close(): Promise<void>;
}

export interface EngineInspection {
  chosenBy: ChosenBy;
  configured: string | null;
  engineId: string;
  info: ContextEngineInfo;
  /** Why the configured engine is deliberately not used. */
  switchedOff: string | null;
  degraded: EngineFailure | null;
}

/** A client's part of a system prompt that is played again. */
export interface PlayedSystem {
  texts: readonly string[];
  /** The host and its plugins said nothing beside it. */
  isAlone: boolean;
}

/** What answers in place of the agent's model and tools. */
export interface Replacement {
  model: ModelPort;
  modelRef: ModelRef;
  tools: ToolPort;
  clock: ClockPort;
  /**
   * Which of its own the gateway offers the recording's calls: all = those of the engine that
   * answers in place of those of another one. Absent: its own to search the session.
   */
  ownTools?: TurnClient["ownTools"];
  /** What a client said in the system prompt. Absent: nothing. */
  system?: PlayedSystem;
  /** How far estimates are off, as was learned. Absent: not at all. */
  tokenRatio?: number;
  /** Stands between compaction and its model, which is the offline one. Absent: nothing does. */
  summaries?: (model: ModelPort) => ModelPort;
}

/** One session, and how its run is watched. */
export interface TurnSetup {
  transcript: CompactableSession;
  state: SessionState;
  /** Moves the session to a transcript an engine made for it; absent = it stays where it is. */
  successors?:
    | ((move: Parameters<SuccessorPort["adopt"]>[0]) => Promise<CompactableSession | undefined>)
    | undefined;
  signal?: AbortSignal | undefined;
  onEvent?: ((event: TurnEvent) => void) | undefined;
  /** What people said since the turn began, each message once. Absent: what they say waits. */
  saidMeanwhile?: TurnRequest["saidMeanwhile"] | undefined;
  /** Told of each step that ended. Absent: nobody is. */
  onStep?: TurnRequest["onStep"] | undefined;
  onBegin?: TurnRequest["onBegin"] | undefined;
  /** False: nobody reads a reply while it is written. Absent: where there is an `onEvent`. */
  isWatched?: boolean | undefined;
  /** Tools that run unasked in this turn; "*" = all. Absent: none. */
  allowTools?: readonly string[] | undefined;
  /** Instead of the agent's model and tools, e.g. a recording. */
  replacement?: Replacement | undefined;
  /** What began the turn. Absent: a person. */
  kind?: TurnRequest["kind"] | undefined;
  /** Registered id of the engine, instead of the one of the settings. Absent: that one. */
  engine?: string | undefined;
  /** What its own calls are for. Absent: the reply. */
  purpose?: "memory" | undefined;
  /** Who speaks by a model API, and what it brings. Absent: nobody does. */
  client?: TurnClient | undefined;
  /** Told of model calls besides those. Absent: nobody is. */
  onSideCall?: ((call: SideCallReport) => void) | undefined;
}

export interface AnswerRequest extends TurnSetup {
  prompt: TurnRequest["prompt"];
  /** Where that is stored: its turn was cut short, and goes on. Absent: it is not stored. */
  goesOnFrom?: string | undefined;
}
