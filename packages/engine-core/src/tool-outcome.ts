// What a call of a tool comes to.
import type { ToolResultBlock } from "@clew/plugin-sdk/core";

/** What a tool gave, or why it did not. */
export interface ToolOutcome {
  /** What the model is shown. */
  content: ToolResultBlock[];
  /** True: it failed or was refused, and `content` says why. */
  isError: boolean;
  /** For people and plugins; never sent to a model. Absent: none. */
  details?: unknown;
  /** Who allowed the call, or why it did not run, for the turn's report. Absent: nothing. */
  note?: string | undefined;
}
