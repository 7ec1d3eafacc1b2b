// A Messages request as its rules read it.
import { type At, dotted, type JsonObject, list, record, text } from "../server/json.ts";
import { type Call, header } from "../server/wire.ts";
import { type ModelTraits, modelTraits } from "./models.ts";

export interface Block extends At {
  type: string;
  role: string;
  /** Place of its message, and its own in that. */
  turn: number;
  index: number;
  isLast: boolean;
}

export interface MessageAt extends At {
  role: string;
  index: number;
  /** Of a list; a text has none. */
  blocks: readonly Block[];
}

export interface MessagesView {
  body: JsonObject;
  model: string;
  traits: ModelTraits;
  /** Betas that the request turns on. */
  betas: ReadonlySet<string>;
  messages: readonly MessageAt[];
  /** Of all messages. */
  blocks: readonly Block[];
  system: readonly At[];
  tools: readonly At[];
  /** How the model is to think; undefined = not said. */
  thinking: string | undefined;
  /** Of the body as sent, where a header tells it. */
  bytes: number;
}

export function createView(body: JsonObject, { headers, path }: Call): MessagesView {
  const model = modelOf(body, path);
  const messages = dotted(body.messages, "messages").map(messageAt);
  const { type } = record(body.thinking);
  return {
    body,
    model,
    traits: modelTraits(model),
    betas: new Set(
      [header(headers, "anthropic-beta")?.split(","), list(body.anthropic_beta)]
        .flat()
        .map((name) => String(name).trim()),
    ),
    messages,
    blocks: messages.flatMap(({ blocks }) => blocks),
    system: dotted(body.system, "system"),
    tools: dotted(body.tools, "tools"),
    thinking: typeof type === "string" ? type : undefined,
    bytes: Number(header(headers, "content-length") ?? 0),
  };
}

/** Vertex has it in the path. */
export const modelOf = (body: JsonObject, path: string): string =>
  text(body.model) || (/\/models\/([^/:]+):/.exec(path)?.[1] ?? "");

function messageAt({ value, path }: At, index: number): MessageAt {
  const role = text(value.role);
  const found = dotted(value.content, `${path}.content`);
  const blocks = found.map((block, position) => ({
    ...block,
    type: text(block.value.type),
    role,
    turn: index,
    index: position,
    isLast: position === found.length - 1,
  }));
  return { value, path, role, index, blocks };
}

/** Images, those inside tool results, too. */
export function imagesOf({ blocks }: MessagesView): At[] {
  return blocks.flatMap((block) => {
    if (block.type === "image") return [block];
    if (block.type !== "tool_result") return [];
    return dotted(block.value.content, `${block.path}.tool_result.content`).filter(
      ({ value }) => value.type === "image",
    );
  });
}

export const isThinking = ({ type }: Pick<Block, "type">): boolean =>
  type === "thinking" || type === "redacted_thinking";
