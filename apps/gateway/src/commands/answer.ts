// What a command answers with, and what it needs from the gateway.
import type {
  compactSession,
  QuarantineRecord,
  RequestPreview,
  RetriedSession,
} from "@clew/engine-core";
import type { CompactionPreview, UndoResult } from "@clew/legacy-engine";
import type { ThinkingLevel } from "../config/params.ts";
import type { FateCounts } from "../inspect/shapes.ts";
import type { AskSettings } from "../models/call-ask.ts";
import type { PluginAnswer } from "../plugins/offer/chat-commands.ts";
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
}

/** What another chance for engines came to. */
export interface EngineRetry extends RetriedSession {
  /** Engines that one session's request does not bring back. */
  stillAside: readonly QuarantineRecord[];
}

/**
 * One session, as commands see it. What changes it is refused by the caller while
 * a reply is being written.
 */
export interface CommandSession {
  isBusy(): boolean;
  status(): Promise<StatusFacts>;
  engine(): Promise<string>;
  /** Gives engines another chance in this session. */
  retryEngines(): Promise<EngineRetry>;
  /** Id of the engine that compacts for itself here; null = the host compacts. */
  compactingEngine(): Promise<string | null>;
  /** The next call, and what would become of each entry in it; null = it would not be made. */
  preview(): Promise<{ preview: RequestPreview; fates: FateCounts | null }>;
  compact(focus: string | undefined): Promise<Awaited<ReturnType<typeof compactSession>>["result"]>;
  previewCompaction(focus: string | undefined): Promise<CompactionPreview>;
  undoCompaction(): Promise<UndoResult>;
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
  /** A line for each session that this one started, was started by, or shares a parent with. */
  tree(): Promise<string[]>;
  /** The answer of a plugin's command; undefined when no plugin has it. */
  plugin(line: string): Promise<PluginAnswer | undefined>;
  /** Words of plugins' commands, and what they say they do. */
  pluginCommands(): { word: string; description: string }[];
}
