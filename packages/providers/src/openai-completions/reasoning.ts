// Where the thinking of a message stands in a Chat Completions request.
import type { AssistantMessage, ThinkingBlock } from "@clew/plugin-sdk/core";
import type { ModelProfile, ModelRef } from "@clew/plugin-sdk/host";

/** The fields of an assistant message that carry thinking. */
export interface ReasoningFields {
  reasoning_content?: string;
  reasoning?: string;
  reasoning_details?: unknown[];
}

/**
 * The thinking of a message in the field its server reads: the one it arrived in, where that server
 * wrote it, else the usual one. A server that insists on the usual one gets that. Which thinking
 * goes back at all is the policy's to decide, but for a server that takes none.
 */
export function reasoningFields(
  message: AssistantMessage,
  { provider }: ModelRef,
  { reasoning: { replay, carrier } }: ModelProfile,
): ReasoningFields {
  if (replay === "strip") return {};
  const blocks = message.content.filter((block) => block.type === "thinking");
  const isOwn = message.provider === undefined || message.provider === provider;
  const details = carrier === "reasoning_details" && isOwn ? blocks.flatMap(detailsOf) : [];
  const mayDiffer = isOwn && replay !== "require";
  const field = textField(mayDiffer ? blocks.find(isInText)?.carrier : undefined, carrier);
  const text = blocks.flatMap(({ thinking }) => (thinking === "" ? [] : [thinking])).join("\n");
  const asks = message.content.some(({ type }) => type === "toolCall");
  return {
    // What the details say, they say in full.
    ...(details.length > 0
      ? { reasoning_details: details }
      : (text !== "" || (replay === "require" && asks)) && { [field]: text }),
  };
}

const isInText = ({ carrier }: ThinkingBlock): boolean =>
  carrier === "reasoning_content" || carrier === "reasoning";

const textField = (...carriers: (ThinkingBlock["carrier"] | undefined)[]): TextField => {
  const [carrier = "reasoning_content"] = carriers.filter((each) => each !== undefined);
  return carrier === "reasoning" || carrier === "reasoning_details"
    ? "reasoning"
    : "reasoning_content";
};

type TextField = "reasoning" | "reasoning_content";

const detailsOf = ({ carrier, carried }: ThinkingBlock): unknown[] =>
  carrier === "reasoning_details" && Array.isArray(carried) ? carried : [];
