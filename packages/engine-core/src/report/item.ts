// The shape in which a report tells of each thing that the model was sent.

/** Where an item of a request comes from. */
export type ItemSource =
  | { kind: "entry"; entryId: string }
  | { kind: "summary"; summaryId: string }
  | { kind: "engine" }
  | { kind: "policy"; rule: string }
  | { kind: "system"; part: string }
  | { kind: "tool-schema"; name: string }
  | { kind: "ledger" };

/**
 * Why an item of a request is there; "prompt" is what the turn answers,
 * "engine" what the engine made.
 */
export type ItemCode = "system-prompt" | "tool-schema" | "history" | "prompt" | "engine";

/** One thing the model was sent. */
export interface ReportItem {
  /** Where it comes from. */
  source: ItemSource;
  /** Role of the message. Absent: it is no message. */
  role?: string;
  /** Why it is there, for programs; kept items say why they were first sent. Default: not known. */
  code?: ItemCode;
  /** The same for people: "history", "prompt", "system prompt", "made by the engine", … */
  reason: string;
  /** What the engine says of why it is there. Absent: it says nothing. */
  engineReason?: string;
  /**
   * Of a summary: which stored messages it stands for, as its engine says: from the first of a
   * stretch (absent: from the first of all) to before the one behind it, by message ids. Absent: it
   * is none, or its engine does not say.
   */
  covers?: { from?: string; until: string }[];
  /**
   * Messages that the provider's rules joined to it, by message ids, in order. Absent: it is one
   * message.
   */
  merged?: string[];
  /** Estimated tokens. */
  tokens: number;
  /** Content hash; names a part in `parts` when the content is not in the transcript. */
  hash: string;
  /**
   * True: the content is not the entry's own (a policy or the engine changed it); the part named by
   * `hash` holds what was sent. Absent: it is the entry's own.
   */
  changed?: true;
  /**
   * The ids of its tool calls as they were sent, in order: they alone make it another content than
   * the entry's, and no part holds it. Absent: it is the entry's own, or a part does.
   */
  callIds?: string[];
}

/**
 * Contents named by hash that a host stores once: system parts, tool schemas, messages that
 * are in no transcript entry.
 */
export type ReportParts = Record<string, string>;
