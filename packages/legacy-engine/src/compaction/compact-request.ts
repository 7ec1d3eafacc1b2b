// What a caller gives a compaction, and what of it may be missing.
import type { CompactionAsk } from "@clew/plugin-sdk/host";
import type { NewTranscriptEntry, TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { CompactionOptions } from "./options.ts";
import type { LedgerKeeper } from "./record.ts";
import type { RequestEnvironment, SummaryModel } from "./request.ts";
import type { SummariserRest } from "./summariser-rest.ts";

/**
 * What a compaction needs of a session's transcript. Give the same object for the same session: it
 * is how a second compaction at once is noticed.
 */
export interface CompactionTranscript {
  /** The active branch, oldest first. */
  branch(): readonly TranscriptEntry[];
  /** Appends all entries after the leaf, or none; resolves when they are durable. */
  append(entries: readonly NewTranscriptEntry[]): Promise<readonly TranscriptEntry[]>;
  /**
   * Where the account of names is kept between processes, so that a compaction after a restart
   * reads only what came since. Absent: nowhere, and it reads the whole branch.
   */
  ledger?: LedgerKeeper;
}

/** Which session to compact, by which model, and how far. */
export interface CompactTranscriptRequest
  extends CompactionAsk,
    Omit<RequestEnvironment, "model" | "circuit" | "timeoutMs" | "onUsage"> {
  /** The same object for the same session, always: so that a second compaction is noticed. */
  transcript: CompactionTranscript;
  /**
   * The model that summarises. Without `complete` none does: what is left out becomes a record made
   * by code, and that is no weaker summary.
   */
  model: Pick<SummaryModel, "ref"> & Partial<Pick<SummaryModel, "complete">>;
  /**
   * Limits of the session's model, when another one summarises, in tokens. Absent: those of
   * `model`.
   */
  session?: { contextWindow: number; maxOutputTokens: number };
  /** `agents.defaults.compaction`. Absent, in whole or in part, or unusable: the defaults. */
  options?: Partial<CompactionOptions>;
  /** Tokens of system prompt and tool schemas. Absent: 0. */
  fixedTokens?: number | undefined;
  /** Counted / estimated tokens of the session's model. Absent: 1. */
  tokenRatio?: number | undefined;
  /**
   * The tool by which the model can read a message by its id: what is cleared names it. Absent: it
   * has none.
   */
  reader?: string | undefined;
  /**
   * Which models were away when they were last asked to summarise; one object for all sessions of a
   * host. Absent: every compaction finds out for itself.
   */
  rest?: SummariserRest | undefined;
  /** ms since the epoch. Absent: Date.now. */
  now?: (() => number) | undefined;
}

export const isSummariser = (model: CompactTranscriptRequest["model"]): model is SummaryModel =>
  model.complete !== undefined;
