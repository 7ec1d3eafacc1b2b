// Decides what becomes of a tool result that arrives after its absence was answered.
import { definePass, mapChanged } from "../pass.ts";
import {
  callId,
  hasFailed,
  isMirror,
  isToolCall,
  isToolCallLike,
  nonBlank,
  resultId,
  roleOf,
  type StoredMessage,
  storedBlocks,
  textBlock,
} from "../stored.ts";
import { nameOf } from "../tool-spans.ts";
import { isSynthetic } from "./pair-tool-results.ts";

/** A call, and what became of it so far. */
interface KnownCall {
  at: number;
  name: string | undefined;
  /** A real result stands in its place, or was announced; or the turn failed. */
  answered: boolean;
}

/**
 * Turns a late result into a message of its own, where it stands. A model that spoke after a call
 * without a result was sent a made-up one, and what was sent stays: the real one comes as news.
 */
export const announceLateResults = definePass<{
  /** The ids a call may have in what was replayed. Default: the one that is stored. */
  formsOf?: (id: string) => readonly string[];
}>(
  "late-results",
  (messages, { formsOf = (id) => [id] }, report) => {
    const calls = new Map<string, KnownCall>();
    /** The call that may adopt a result without an id: the only one of the newest that asked. */
    let only: KnownCall | undefined;
    /** True: the newest calls have no ids, and will be left out. */
    let areNameless = false;
    let spoken = -1;
    let others = -1;
    let reply: string | undefined;
    return mapChanged(messages, (message, index) => {
      const role = roleOf(message);
      if (role === "assistant" && isMirror(message)) return message;
      if (role === "assistant") {
        // Messages in a row may be one reply that was stored in parts, unless they say otherwise.
        const next = nonBlank(message.responseId);
        const isAnother = next !== undefined && reply !== undefined && next !== reply;
        if (others > spoken || isAnother) spoken = index;
        reply = next;
        const answered = hasFailed(message);
        const asked = storedBlocks(message).filter(isToolCall);
        for (const block of asked)
          calls.set(callId(block).trim(), { at: index, name: nameOf(block), answered });
        const likes = storedBlocks(message).filter(isToolCallLike);
        if (likes.length > 0)
          areNameless = likes.every((block) => nonBlank(block?.id) === undefined);
        if (asked.length > 0)
          only = asked.length === 1 ? calls.get(callId(asked[0]!).trim()) : undefined;
        return message;
      }
      others = index;
      const id = role === "toolResult" ? resultId(message) : undefined;
      if (role === "toolResult" && id === undefined) {
        if (areNameless) {
          report("dropped", index, "the result of a tool call without an id");
          return undefined;
        }
        const name = nonBlank(message.toolName);
        const isTaken = only !== undefined && (name === undefined || name === only.name);
        if (!isTaken || only!.at >= spoken || isSynthetic(message)) return message;
        report(
          "changed",
          index,
          "a tool result without an id, after the model had been told of none",
        );
        return announced(message, undefined);
      }
      const known = id === undefined ? undefined : formsOf(id).find((form) => calls.has(form));
      const call = known === undefined ? undefined : calls.get(known);
      if (id === undefined || call === undefined || call.answered) return message;
      if (call.at >= spoken) {
        call.answered = !isSynthetic(message);
        return message;
      }
      if (isSynthetic(message)) return message;
      call.answered = true;
      report("changed", index, "a tool result that came after the model had been told of none");
      return announced(message, id);
    });
  },
  ({ hasTools }) => hasTools,
);

function announced(result: StoredMessage, id: string | undefined): StoredMessage {
  const { __openclaw, timestamp } = result;
  const call = id === undefined ? "a tool call" : `tool call ${id}`;
  const heading = `[Late result of ${call} (${nonBlank(result.toolName) ?? "unknown"})]`;
  return {
    role: "custom",
    customType: "late-tool-result",
    content: [textBlock(heading), ...storedBlocks(result)],
    ...(__openclaw !== undefined && { __openclaw }),
    ...(timestamp !== undefined && { timestamp }),
  };
}
