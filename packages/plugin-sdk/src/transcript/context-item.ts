// One message of the context, with the entry it comes from and the id it keeps.
import type { AgentMessage } from "../contract/message.ts";

/** One message of the context, the entry that holds it now, and the id it has for good. */
export interface ContextItem {
  /** For a summary, the compaction that made it. */
  entryId: string;
  /** What `messageId` says of the message; no other item of the branch has it. */
  id: string;
  /** As stored, with its id, but for results that a prune of the branch cleared. */
  message: AgentMessage;
  /** True: a prune of the branch cleared it. Absent: it says what was stored. */
  isPruned?: boolean;
}
