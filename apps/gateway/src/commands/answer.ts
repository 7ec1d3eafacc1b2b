// What a command answers with, and what it needs from the gateway.
import type {
  QuarantineRecord,
  RequestPreview,
  RetriedSession,
  SideCallReport,
} from "@clew/engine-core";
import type { CompactionPreview, UndoResult, UndoTarget } from "@clew/legacy-engine";
import type { CompactResult, UserBlock } from "@clew/plugin-sdk/core";
import type { ThinkingLevel } from "../config/params.ts";
import type { HarnessFacts } from "../harness/harness.ts";
import type { MissingTurn } from "../inspect/shapes/calls.ts";
import type { FateCounts } from "../inspect/shapes/entries.ts";
import type { McpServerStatus } from "../mcp/client/live-server.ts";
import type { AskSettings } from "../models/call-ask.ts";
import type { PluginAnswer } from "../plugins/offer/chat-commands.ts";
import type { UndoneTurn } from "../sessions/undo-turn.ts";
import type { WaitingView } from "../waiting/waiting-message.ts";
import type { StatusFacts } from "./status.ts";

export interface CommandAnswer {
  /** Name without the slash. */
  command: string;
  /** False: it was refused, failed, or there is no such command; `text` says why and what next. */
  ok: boolean;
  /** For people; lines are separated by line feeds. */
  text: string;
  /** The same as data, where there is more than a sentence. */
  data?: unknown;
  /** Is to be said in the session now, as if the person had. Absent: nothing is. */
  say?: string | UserBlock[];
}

/** What came of a compaction, and the side calls it made. */
export interface MadeCompaction {
  result: CompactResult;
  sideCalls: readonly SideCallReport[];
}

/** Who answers in a session, by "provider/model". */
export interface SessionModel {
  answering: string;
  /** For this session; null = the settings decide. */
  chosen: string | null;
  settings: string;
}

/** What another chance for engines came to. */
export interface EngineRetry extends RetriedSession {
  /** Engines that one session's request does not bring back. */
  stillAside: readonly QuarantineRecord[];
}

/** What came of a fork; `key` is canonical. */
export type Forked = { kind: "forked" | "taken"; key: string } | { kind: "empty" | "unnamed" };

/**
 * One session, as commands see it. What changes it is refused by the caller while
 * a reply is being written.
 */
export interface CommandSession {
  isBusy(): boolean;
  status(): Promise<StatusFacts>;
  engine(): Promise<string>;
  /** The program that runs its turns; null = the gateway itself. */
  harness(): Promise<HarnessFacts | null>;
  /** Gives engines another chance in this session. */
  retryEngines(): Promise<EngineRetry>;
  /** Id of the engine that compacts for itself here; null = the host compacts. */
  compactingEngine(): Promise<string | null>;
  /** The next call, and what would become of each entry in it; null = it would not be made. */
  preview(): Promise<{
    preview: RequestPreview;
    fates: FateCounts | null;
    missingTurns: readonly MissingTurn[];
  }>;
  /** Why no tool can work with files, a clause; null = one can, or nothing asks for it. */
  withoutWorkspace(): string | null;
  /** MCP servers that bring tools to it, or would. */
  toolServers(): readonly McpServerStatus[];
  /** With what it asked models for. */
  compact(focus: string | undefined): Promise<MadeCompaction>;
  previewCompaction(focus: string | undefined): Promise<CompactionPreview>;
  /** `only`: the entry of the compaction that is meant; absent: the newest one. */
  undoCompaction(only?: string): Promise<UndoResult>;
  /** What that would undo; null = nothing. */
  compactionToUndo(): Promise<UndoTarget | null>;
  /**
   * Gives the session a new transcript; the key under which the old one is listed, or
   * null when there was none.
   */
  renew(): Promise<string | null>;
  reset(): Promise<void>;
  /**
   * What calls ask of the model now. A level says how hard it thinks from here on, null that the
   * settings decide again; absent: nothing changes.
   */
  think(level?: ThinkingLevel | null): Promise<AskSettings>;
  /** Messages that wait for their turn. */
  waiting: {
    list(): Promise<readonly WaitingView[]>;
    takeBack(id: string): Promise<boolean>;
    clear(): Promise<number>;
  };
  /**
   * Who answers. A name chooses that one from here on, null leaves it to the settings again;
   * absent: nothing changes. Throws CONFIG_INVALID for a model that is not there.
   */
  model(name?: string | null): Promise<SessionModel>;
  /** Begins another session with all that was said here. Absent: with a name that is free. */
  fork(name: string | undefined): Promise<Forked>;
  /** Writes the conversation into a file; null = nothing was said. */
  export(): Promise<string | null>;
  /** Takes back what was said last, with all that came of it. */
  undoTurn(): Promise<UndoneTurn>;
  /** Whose client brings a history of its own, e.g. "Claude Code"; null: nobody's does. */
  clientWithHistory(): string | null;
  /** A line for each session that this one started, was started by, or shares a parent with. */
  tree(): Promise<string[]>;
  /** The answer of a plugin's command; undefined when no plugin has it. */
  plugin(line: string): Promise<PluginAnswer | undefined>;
  /** Words of plugins' commands, and what they say they do. */
  pluginCommands(): { word: string; description: string }[];
}
