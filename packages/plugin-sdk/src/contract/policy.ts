// How a transcript policy records each change that it made.

/** One change a policy rule made to one message. */
export interface PolicyChange {
  /** Rule name, e.g. "pair-tool-results"; listed in the policy package's README. */
  rule: string;
  /** What was done to it: "inserted" and "merged" change how many messages there are. */
  action: "dropped" | "changed" | "inserted" | "moved" | "merged";
  /**
   * Position in the list the rule was given; for an insertion, the position it was inserted before.
   */
  index: number;
  /** Why, in a few words a person can act on. Never holds message content. */
  reason: string;
  /** How many alike changes this record stands for. Absent: 1. */
  count?: number;
}

/** What a provider refused of a history, by when it was made; what came later is sent as it is. */
export interface RefusedParts {
  /**
   * Signatures, encrypted thoughts and opaque blocks of messages made until then stay out, ms since
   * the epoch. Absent: none do.
   */
  proofsUntil?: number;
  /**
   * Tool calls made until then, and their results, are told as text, ms since the epoch. Absent:
   * none are.
   */
  callsUntil?: number;
}

/** A custom transcript entry the host must append for the policy to remember something. */
export interface PolicySideRecord {
  /** `customType` of the entry; the policy finds it again by this. */
  customType: string;
  /** What the policy wants to find again. */
  data: unknown;
}
