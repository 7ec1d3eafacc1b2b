// Says of a reply what the next request will be recognised by.
import type { AssistantBlock } from "@clew/plugin-sdk/core";
import { keptReply } from "../match/client-key.ts";
import type { ReplyEvent } from "../match/known-requests.ts";
import { replyMarks } from "../match/reply-marks.ts";
import type { DoorTurn } from "../turn/door-turn.ts";
import type { PeekedReply } from "../upstream/peek-reply.ts";
import { formOf } from "../wires/json.ts";

/**
 * Of a reply that is not whole nothing is known: only its client can say what it has of it, and
 * brings that with the next request.
 */
export function replyEventOf(
  { key, match, call }: Pick<DoorTurn, "key" | "match" | "call">,
  { message, error, madeUpIds }: PeekedReply,
  ends: Pick<ReplyEvent, "end" | "behindFirst">,
): ReplyEvent {
  const { responseId } = message;
  const blocks: readonly AssistantBlock[] = error === undefined ? message.content : [];
  const calls = blocks.filter((block) => block.type === "toolCall");
  const texts = blocks.flatMap((block) =>
    block.type === "text" && block.text !== "" ? [block.text] : [],
  );
  // Each text is an item of its own on one wire only.
  const isItems = call.wire.api === "openai-responses";
  return {
    ...{ type: "reply", session: key, kind: match.kind, ...ends },
    whole: error === undefined,
    ...(isItems && error === undefined && responseId && { id: keptReply(responseId) }),
    ...replyMarks(match, {
      calls: calls.map(({ id }) => id).filter((id) => madeUpIds?.(id) !== true),
      forms: calls.map(({ name, arguments: given }) => formOf(name, given)),
      texts: isItems || texts.length === 0 ? texts : [texts.join("\n")],
    }),
  };
}
