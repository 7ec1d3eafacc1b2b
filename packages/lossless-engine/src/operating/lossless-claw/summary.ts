// Makes a quoted message of a summary that lossless-claw's model wrote.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { withMessageId } from "@clew/plugin-sdk/transcript";
import { type NamedMessage, OLD_PREFIX } from "../../messages/name.ts";
import type { ClawSummary } from "../../store/lossless-claw/source.ts";

/**
 * Pure. Found by searches under its old id, and never shown unasked: marked as what a host did by
 * itself, as the messages that it was made of are there.
 */
export function quotedSummary(summary: ClawSummary): NamedMessage {
  const { id, kind, depth, earliest, latest, model, content } = summary;
  const span = earliest === null ? "" : `, ${earliest} to ${latest ?? earliest}`;
  const author = model === null || model === "unknown" ? "" : `, by ${model}`;
  const head = `Summary ${id} of lossless-claw (${kind}, depth ${depth}${span}${author}), quoted:`;
  const message = {
    ...{ role: "custom", customType: "lossless-claw.summary", display: false },
    content: `${head}\n\n${content}`,
  } as AgentMessage;
  const name = `${OLD_PREFIX}${id}`;
  return { name, message: withMessageId(message, name), isHeartbeat: true };
}
