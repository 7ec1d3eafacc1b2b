// Finds in a request what is new to a session that has the history already.
import type { ToolResultMessage, UserBlock } from "@clew/plugin-sdk/core";
import { textOf } from "@clew/plugin-sdk/transcript";
import { toAgentMessages } from "../transcript/agent-messages.ts";
import type { DoorRequest, DoorWire, JsonObject } from "../wires/door-wire.ts";

export interface NewestTurn {
  /** Of calls that the client was given; a name or an id may be "" where the wire has none. */
  results: readonly ToolResultMessage[];
  /** What a person says; empty beside results alone. */
  said: readonly UserBlock[];
  /** What is said to the model between the messages, but for its first instructions. */
  system: string;
  /** What was said and replied right before it. Absent: the request has no reply. */
  before?: { said: readonly UserBlock[]; text: string };
}

/** What stands behind the newest message of the model; what was before may be sent, or not. */
export function newestTurn(wire: DoorWire, { messages, leading }: DoorRequest): NewestTurn {
  const rest = messages.slice(leading);
  const isModels = (message: JsonObject) => wire.look(message).speaker === "model";
  const start = rest.findLastIndex(isModels) + 1;
  const read = toAgentMessages(wire.api, rest.slice(start), { toolNames: new Map() });
  const system = read.flatMap((message) =>
    message.role === "custom" ? textsOf(message.content) : [],
  );
  return {
    results: read.filter((message) => message.role === "toolResult"),
    said: read.flatMap((message) => (message.role === "user" ? blocksOf(message.content) : [])),
    system: system.join("\n\n"),
    ...(start > 0 && { before: newestReply(wire, rest.slice(0, start)) }),
  };
}

/** The last of these messages are the model's. */
function newestReply(
  wire: DoorWire,
  messages: readonly JsonObject[],
): NonNullable<NewestTurn["before"]> {
  const isModels = (message: JsonObject) => wire.look(message).speaker === "model";
  const replyAt = messages.findLastIndex((message) => !isModels(message)) + 1;
  const saidAt = messages.slice(0, replyAt).findLastIndex(isModels) + 1;
  const read = toAgentMessages(wire.api, messages.slice(saidAt), { toolNames: new Map() });
  return {
    said: read.flatMap((message) => (message.role === "user" ? blocksOf(message.content) : [])),
    text: read
      .map((message) => (message.role === "assistant" ? textOf(message) : ""))
      .join("")
      .trim(),
  };
}

/** As the words of a person, for a session in which nobody waits for these results any more. */
const resultsInWords = (results: readonly ToolResultMessage[]): UserBlock[] =>
  results.flatMap(({ toolCallId, toolName, content, isError }) => {
    const what = isError ? "failed" : "returned";
    const name = toolName || toolCallId || "a tool";
    return [{ type: "text", text: `Too late for its turn, ${name} ${what}:` }, ...content];
  });

/** Results that nobody waits for are told in words: their turn was ended, or its gateway. */
export function contentOf({ results, said }: Pick<NewestTurn, "results" | "said">) {
  const blocks = [...resultsInWords(results), ...said];
  const [first] = blocks;
  return blocks.length === 1 && first?.type === "text" ? first.text : blocks;
}

const blocksOf = (content: string | UserBlock[]): UserBlock[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

const textsOf = (content: string | UserBlock[]): string[] =>
  blocksOf(content).flatMap((block) => (block.type === "text" ? [block.text] : []));
