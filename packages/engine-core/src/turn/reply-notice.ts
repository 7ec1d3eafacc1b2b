// Says what is odd about a reply that its provider calls whole.
import type { AssistantMessage } from "@clew/plugin-sdk/core";
import type { ModelRef } from "@clew/plugin-sdk/host";

/** One sentence for the person; undefined: nothing is odd about it. */
export function replyNotice(
  { content, stopReason }: Pick<AssistantMessage, "content" | "stopReason">,
  { provider, id }: Pick<ModelRef, "provider" | "id">,
): string | undefined {
  if (content.some(({ type }) => type === "toolCall")) return undefined;
  const model = `${provider}/${id}`;
  const saysSomething = content.some(
    (block) => block.type === "provider" || (block.type === "text" && /\S/.test(block.text)),
  );
  if (stopReason === "length")
    return saysSomething
      ? `The reply of ${model} was cut at the limit of its length; ask it to go on, or allow it longer replies.`
      : `${model} reached the limit of its length before it said anything; allow it longer replies, or less thinking.`;
  return stopReason === "stop" && !saysSomething
    ? `${model} answered without a word; ask again, or ask another model.`
    : undefined;
}
