// One message of the context, with the entry it comes from.
import type { AgentMessage } from "../contract/message.ts";

/** One message of the context and the entry it comes from. */
export interface ContextItem {
  entryId: string;
  message: AgentMessage;
}
