// A Mistral request as its rules read it.
import { type At, dotted, type JsonObject, list, record, text } from "../server/json.ts";
import type { Call } from "../server/wire.ts";

export interface MessageAt extends At {
  role: string;
  index: number;
  calls: readonly At[];
  chunks: readonly At[];
}

export interface MistralView {
  body: JsonObject;
  model: string;
  messages: readonly MessageAt[];
  /** Chunks of all messages, with the role of theirs. */
  chunks: readonly (At & { role: string })[];
  calls: readonly At[];
  tools: readonly At[];
  /** Whether a person may speak right after a tool. */
  takesUserAfterTool: boolean;
}

export function createView(body: JsonObject, { flavor }: Pick<Call, "flavor">): MistralView {
  const messages = dotted(body.messages, "body.messages").map(messageAt);
  return {
    body,
    model: text(body.model),
    messages,
    chunks: messages.flatMap(({ chunks, role }) => chunks.map((chunk) => ({ ...chunk, role }))),
    calls: messages.flatMap(({ calls }) => calls),
    tools: dotted(body.tools, "body.tools"),
    takesUserAfterTool: flavor === "user-after-tool",
  };
}

function messageAt({ value, path }: At, index: number): MessageAt {
  return {
    value,
    path,
    index,
    role: text(value.role),
    calls: dotted(value.tool_calls, `${path}.tool_calls`),
    chunks: dotted(value.content, `${path}.content`),
  };
}

export const functionOf = ({ value }: At): JsonObject => record(value.function);

/** Neither a text nor a chunk. */
export const isEmpty = ({ value: { content } }: Pick<At, "value">): boolean =>
  content == null || content === "" || (Array.isArray(content) && list(content).length === 0);
