// What a database of lossless-claw holds, in whichever of its versions.

/** A conversation of lossless-claw: a session until it is reset. */
export interface ClawConversation {
  readonly id: number;
  readonly sessionId: string;
  /** "": it names none. */
  readonly sessionKey: string;
  /** False: it was reset or archived, and another one goes on. */
  readonly isActive: boolean;
}

/** A part of a message of lossless-claw. */
export interface ClawPart {
  /** "text", "reasoning", "tool", "file" and others. */
  readonly type: string;
  readonly text: string | null;
  readonly toolCallId: string | null;
  readonly toolName: string | null;
  /** JSON, or text. */
  readonly toolInput: string | null;
  readonly toolOutput: string | null;
  /** What the columns do not say: the role, the block as it came, what was moved to a file. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A message of lossless-claw. */
export interface ClawMessage {
  readonly id: number;
  readonly seq: number;
  /** "system", "user", "assistant" or "tool". */
  readonly role: string;
  /** Its words, without tool calls. */
  readonly content: string;
  /** ms since the epoch, to the second. Null: it cannot be read. */
  readonly time: number | null;
  /** Id of the entry of its transcript. Null: it was stored without. */
  readonly entryId: string | null;
  readonly parts: readonly ClawPart[];
}

/** A summary of lossless-claw. */
export interface ClawSummary {
  readonly id: string;
  readonly kind: string;
  readonly depth: number;
  readonly content: string;
  /** As it was written there. Null: unknown. */
  readonly earliest: string | null;
  readonly latest: string | null;
  readonly model: string | null;
}

/** What was made of what: ids of summaries. */
export interface ClawEdges {
  /** By the id of a message that they were made of. */
  readonly aboveMessages: ReadonlyMap<number, readonly string[]>;
  /** By the id of a summary that they were made of. */
  readonly aboveSummaries: ReadonlyMap<string, readonly string[]>;
}

/** A text or picture that was moved to a file. */
export interface ClawFile {
  readonly id: string;
  readonly conversation: number;
  readonly mimeType: string | null;
  readonly bytes: number | null;
  /** Where it was written. */
  readonly path: string;
}

/** Where a row of messages or summaries is read. */
export interface ClawRow<Id> {
  readonly row: number;
  readonly id: Id;
}

/** All of it, as it is when it is opened. */
export interface ClawSource {
  /** Oldest first. */
  readonly conversations: readonly ClawConversation[];
  readonly files: readonly ClawFile[];
  readonly edges: ClawEdges;
  /** What nobody can find here, a clause each. */
  readonly left: readonly string[];
  /** Rows of the tables that have no place elsewhere, where there are any. */
  readonly others: readonly { readonly table: string; readonly rows: number }[];
  /** Of a conversation, oldest first. */
  messagesOf(conversation: number): readonly ClawRow<number>[];
  /** Null: it is larger than `MOST_BYTES`. */
  message(row: number): ClawMessage | null;
  /** Of a conversation, shallow before deep. */
  summariesOf(conversation: number): readonly ClawRow<string>[];
  /** Null: it is larger than `MOST_BYTES`. */
  summary(row: number): ClawSummary | null;
  close(): void;
}

/** Of a message with its parts, of a summary, of what a message moved to files. */
export const MOST_BYTES = 64 * 1024 * 1024;
