// What a wire must say of its replies so that the door can write them.
import type { AssistantMessage, ToolCallBlock, Usage } from "@clew/plugin-sdk/core";
import { toJson } from "../../own-json.ts";
import type { DoorAnswer, JsonObject } from "../wires/door-wire.ts";

/** What is known of a reply before its first word. */
export interface ReplyHead {
  /** Letters, digits, "-" and "_": ids of the reply and of what is in it begin with it. */
  id: string;
  /** As the client called it. */
  model: string;
  /** ms since the epoch. */
  createdAt: number;
  /** Members of the request that its answer repeats, where the wire has it so. */
  repeated: JsonObject;
}

/** A piece of a reply that clients are shown. Proofs and what only a provider reads are not. */
export type ReplyBlock =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string }
  | Pick<ToolCallBlock, "type" | "id" | "name" | "arguments">;

/** How a reply ended that is whole. */
export interface ReplyEnd {
  stopReason: "stop" | "length" | "toolUse";
  /** Undefined: nobody was billed, or the provider did not say. */
  usage: Usage | undefined;
}

/** A reply while it is written; every method gives the bytes of a stream, as text. */
export interface ReplyStream {
  begin(): string;
  text(delta: string): string;
  thinking(delta: string): string;
  /** What comes next does not go on with the text or thinking before it. */
  endBlock(): string;
  call(call: ToolCallBlock): string;
  /** The last bytes of a reply that is whole. */
  end(end: ReplyEnd): string;
  /** The last bytes of one that is not. */
  fail(answer: DoorAnswer): string;
  /** Says nothing, so that nobody takes the connection for dead. */
  idle(): string;
}

/** One wire. Everything in it is pure but for a stream, which knows what it has written. */
export interface ReplyWriter {
  /** The reply as one document. */
  document(head: ReplyHead, blocks: readonly ReplyBlock[], end: ReplyEnd): JsonObject;
  stream(head: ReplyHead, asked: StreamAsked): ReplyStream;
}

/** What a request may ask of a stream. */
export interface StreamAsked {
  /** Chat Completions: the usage comes behind the reply. */
  usage: boolean;
  /** False: not as server-sent events but as one JSON list, which Google's wire has too. */
  isEvents: boolean;
}

/** What clients are shown of a message; `isShown` says it of its calls. */
export function shownReply(
  { content }: AssistantMessage,
  isShown: (call: ToolCallBlock) => boolean,
): ReplyBlock[] {
  return content.flatMap((block): ReplyBlock[] => {
    switch (block.type) {
      case "text":
        return block.text === "" ? [] : [{ type: "text", text: block.text }];
      case "thinking":
        return block.thinking === "" ? [] : [{ type: "thinking", thinking: block.thinking }];
      case "toolCall":
        return isShown(block) ? [callOf(block)] : [];
      default:
        return [];
    }
  });
}

export const callOf = ({ id, name, arguments: given }: ToolCallBlock) =>
  ({ type: "toolCall", id, name, arguments: given }) as const;

/** Tokens of the prompt, wherever they came from. */
export const promptTokens = ({ input, cacheRead, cacheWrite }: Usage): number =>
  input + cacheRead + cacheWrite;

/** One event of a stream, with its name where the wire has names. */
export const serverSentEvent = (data: object, name?: string): string =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${toJson(data)}\n\n`;
