// A Converse request as its rules read it.

import { type ModelTraits, modelTraits } from "../anthropic-messages/models.ts";
import { type At, dotted, type JsonObject, record, text } from "../server/json.ts";
import type { Call } from "../server/wire.ts";

export interface Block extends At {
  role: string;
  /** Its members, of which there ought to be one. */
  members: readonly string[];
  /** What its one member holds; empty when there is none, or a text. */
  held: JsonObject;
  /** Place of its message, and its own in that. */
  turn: number;
  index: number;
}

export interface MessageAt extends At {
  role: string;
  index: number;
  blocks: readonly Block[];
}

export interface ConverseView {
  body: JsonObject;
  model: string;
  isClaude: boolean;
  streams: boolean;
  traits: ModelTraits;
  messages: readonly MessageAt[];
  blocks: readonly Block[];
  system: readonly At[];
  tools: readonly At[];
  /** How Claude is to think; undefined = not said. */
  thinking: string | undefined;
}

export const modelOf = (path: string): string =>
  /\/model\/(.+)\/converse(?:-stream)?$/.exec(path)?.[1] ?? "";

export function createView(body: JsonObject, { path }: Pick<Call, "path">): ConverseView {
  const model = modelOf(path);
  const messages = dotted(body.messages, "messages").map(messageAt);
  const { type } = record(record(body.additionalModelRequestFields).thinking);
  return {
    body,
    model,
    isClaude: model.includes("anthropic") || model.includes("claude"),
    streams: path.endsWith("/converse-stream"),
    traits: modelTraits(model),
    messages,
    blocks: messages.flatMap(({ blocks }) => blocks),
    system: dotted(body.system, "system"),
    tools: dotted(record(body.toolConfig).tools, "toolConfig.tools"),
    thinking: typeof type === "string" ? type : undefined,
  };
}

function messageAt({ value, path }: At, index: number): MessageAt {
  const role = text(value.role);
  const blocks = dotted(value.content, `${path}.content`).map((block, position) => {
    const members = Object.keys(block.value);
    const held = record(block.value[members[0] ?? ""]);
    return { ...block, role, members, held, turn: index, index: position };
  });
  return { value, path, role, index, blocks };
}

export const having = (blocks: readonly Block[], member: string): readonly Block[] =>
  blocks.filter(({ members }) => members.includes(member));

export const heldBy = ({ value }: Block, member: string): JsonObject => record(value[member]);
