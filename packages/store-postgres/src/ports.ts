// What a store is given, and what it stores together.
import type { TranscriptRewriteRequest, TranscriptRewriteResult } from "@clew/plugin-sdk/core";
import type { NewTranscriptEntry, TranscriptEntry } from "@clew/plugin-sdk/transcript";

/** A change of what an engine acknowledged, and whose it is; kept as it is given. */
export interface DeliveryLine {
  /** The engine of the record. */
  engineId: string;
  /** What is new in it: plain data. */
  change: { kind: string };
}

/** What is stored together; as engine-core's `TranscriptStep`. */
export interface StoredStep<Line extends DeliveryLine = DeliveryLine> {
  /** Placed after the leaf. */
  entries: readonly NewTranscriptEntry[];
  /** What engines acknowledged or refused, in order. */
  deliveries: readonly Line[];
  /** Of the turn that ends with this step; null = none does. */
  report: { report: { turnId: string }; parts: Readonly<Record<string, string>> } | null;
}

/** Keeps what engines acknowledged, in memory; engine-core's `DeliveryLedger` is one. */
export interface Ledger {
  /** Counts changes that are stored. */
  take(lines: readonly DeliveryLine[]): void;
}

/** The changes that a ledger takes. */
export type LineOf<Kept extends Ledger> = Parameters<Kept["take"]>[0][number];

/** What a store needs of its siblings. */
export interface StorePorts<Kept extends Ledger> {
  /** A ledger with these changes, which calls `write` before it counts another. */
  createLedger(options: {
    earlier: readonly LineOf<Kept>[];
    write(engineId: string, change: LineOf<Kept>["change"]): Promise<void>;
  }): Kept;
  /** Which entries a rewrite appends again, and where; throws what forbids it. */
  planRewrite(input: {
    branch: readonly TranscriptEntry[];
    request: TranscriptRewriteRequest;
    nextId(): string;
  }): RewritePlan;
  /**
   * What searches find an entry by, given as its line; null: nothing. Absent: no session is put
   * into the index.
   */
  searchText?(line: string): string | null;
}

/** What a rewrite comes to. */
export type RewritePlan =
  | { kind: "nothing"; result: TranscriptRewriteResult }
  | {
      kind: "append";
      /** Entries of the branch that stay, counted from the root. */
      kept: number;
      /** Complete ones, which follow these. */
      entries: readonly TranscriptEntry[];
      /** New id of each entry that is appended again. */
      remapped: ReadonlyMap<string, string>;
      result: TranscriptRewriteResult;
    };

/** The session as ports know it; it is in no file. */
export interface StoredSession {
  /** Whose session it is. */
  agentId: string;
  /** Its current transcript. */
  sessionId: string;
  /** Its stable name. */
  sessionKey: string;
}
