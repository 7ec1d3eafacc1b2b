// One message of the context, with the entry it comes from.
import type { AgentMessage } from "../contract/message.ts";

/** One message of the context and the entry it comes from. */
export interface ContextItem {
  /** For a summary, the compaction that made it. */
  entryId: string;
  /** As stored, but for results that a prune of the branch cleared. */
  message: AgentMessage;
}
