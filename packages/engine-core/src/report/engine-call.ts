// The shape in which a report tells of the engine, its calls and its budget.
import type { ErrorCode } from "@clew/plugin-sdk/core";

/** Why another engine answers than the chosen one. */
export interface EngineFailure {
  /** Engine method, or "resolve", "factory", "contract-validation". */
  operation: string;
  /** For people. */
  reason: string;
  /** What programs may act on. Absent: not known. */
  code?: ErrorCode;
}

/** One call of the engine. */
export interface EngineCallReport {
  /** Of the contract. */
  method: string;
  /** Until the host went on, bound included. */
  durationMs: number;
  /** "fallback": the fallback engine answered. */
  outcome: "ok" | "failed" | "fallback" | "timeout" | "aborted";
  /** For people: what went wrong. Absent: nothing did. */
  detail?: string;
}

/** How the window was divided, and what the engine made of its share. */
export interface BudgetReport {
  /** The model's, in tokens like all that follows. */
  contextWindow: number;
  /** Held back for the reply. */
  reserve: number;
  /** Window − reserve. */
  promptBudget: number;
  /** Estimated system prompt, tools and prompt. */
  fixedTokens: number;
  /** What the engine was told it may use. */
  tokenBudget: number;
  /** The host's estimate of what the engine returned. */
  assembled: { estimate: number; low: number; high: number } | null;
  /** What the engine said; null when it did not. */
  engineEstimate: number | null;
  /**
   * Measured / estimated tokens of this model; estimates here are not multiplied by it. Absent: not
   * learned yet, 1.
   */
  tokenRatio?: number;
  /** True: what the engine said is less than the messages can possibly take. Absent: it is not. */
  underEstimated?: true;
  /** Messages the engine could choose from. */
  historyMessages: number;
  /** Messages it chose. */
  assembledMessages: number;
}
