// What a memory plugin offers to its host.
import type { MemoryPromptParams } from "../memory-prompt.ts";

/**
 * Lines of the system prompt that tell the model of its memory. A promise is waited for when a run
 * is prepared, and left out wherever the section is built at once (contract §5).
 */
export type MemoryPromptBuilder = (params: MemoryPromptParams) => string[] | Promise<string[]>;

/** How the model is asked to store what it should remember, before a compaction takes it away. */
export interface MemoryFlushPlan {
  /** What the model is asked, as a message. Absent or blank: the host's own words. */
  prompt?: string;
  /** Follows the system prompt in this run. Absent: nothing does. */
  systemPrompt?: string;
  /**
   * The only file the run may write, by adding to its end; below the workspace. Absent: none, the
   * plugin's own tools store what is to be remembered.
   */
  relativePath?: string;
  /** Asked this many tokens before the compaction. Absent: 4,000. */
  softThresholdTokens?: number;
  /** Asked as soon as the transcript has this many bytes; 0 = never for that. Absent: 2 MiB. */
  forceFlushTranscriptBytes?: number;
  /** Of OpenClaw, where it moves the compaction; here the settings do. Absent: nothing moves. */
  reserveTokensFloor?: number;
}

/** Null: nothing is to be asked. Called before each run of this kind. */
export type MemoryFlushPlanResolver = (params: {
  /** The host's whole configuration, unchecked. */
  cfg: unknown;
  /** ms since the epoch. */
  nowMs: number;
}) => MemoryFlushPlan | null | undefined;

/** One passage that a search found. */
export interface MemorySearchResult {
  /** Names the place for `readFile`. */
  path: string;
  /** First line, from 1. */
  startLine: number;
  /** Last line, included. */
  endLine: number;
  /** Larger fits better; comparable within one answer only. */
  score: number;
  /** The passage. */
  snippet: string;
  /** What kind of place it is. Absent: the plugin has one kind. */
  source?: string;
}

/** Finds and reads what one agent remembers; absent methods are things the plugin cannot do. */
export interface MemorySearchManager {
  /** Best first. Absent: it cannot be searched. */
  search?(
    query: string,
    options?: {
      /** Absent: the plugin decides. */
      maxResults?: number;
      /** Absent: the plugin decides. */
      minScore?: number;
      /** Stable name of the session that asks. Absent: none does. */
      sessionKey?: string;
    },
  ): Promise<MemorySearchResult[]>;
  /** Part of a place that a search named. Absent: nothing can be read by its place. */
  readFile?(params: {
    /** As in a result. */
    relPath: string;
    /** First line, from 1. Absent: 1. */
    from?: number;
    /** How many. Absent: to the end. */
    lines?: number;
  }): Promise<{ text: string; path: string }>;
  /** Anything that tells how it is. Absent: nothing does. */
  status?(): unknown;
  /**
   * Called once, when the host is done with it: it was given another one for that agent, or ends.
   * Absent: nothing has to be given back.
   */
  close?(): Promise<void> | void;
  /** Plugins add members. */
  [key: string]: unknown;
}

/** Where a host gets managers. */
export interface MemoryRuntime {
  /** The manager of one agent; null where there is none. */
  getMemorySearchManager(params: {
    /** The host's whole configuration, unchecked. */
    cfg: unknown;
    /** Whose memory. */
    agentId: string;
    /** What for. Absent: to search. */
    purpose?: "default" | "status";
  }): Promise<{
    manager: MemorySearchManager | null;
    /** Why there is none. Absent: nobody knows. */
    error?: string;
  }>;
  /** Called when the gateway ends, after the managers' `close`. Absent: nothing to give back. */
  closeAllMemorySearchManagers?(): Promise<void> | void;
  /** Plugins add members. */
  [key: string]: unknown;
}

/** What the plugin in the memory slot does for its host; each part may be missing. */
export interface MemoryCapability {
  /** Absent: the system prompt says nothing of memory. */
  promptBuilder?: MemoryPromptBuilder;
  /** Absent: nothing is asked before a compaction. */
  flushPlanResolver?: MemoryFlushPlanResolver;
  /** Absent: memory_search and memory_get are not offered. */
  runtime?: MemoryRuntime;
  /** Plugins add members, such as OpenClaw's `publicArtifacts`. */
  [key: string]: unknown;
}
