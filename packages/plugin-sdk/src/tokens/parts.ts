// Which texts and how many images of a message a model is shown.
import type { AgentMessage } from "../contract/message.ts";
import { type AnyBlock, blocksOf, stringOf } from "../messages/blocks.ts";
import { toModelMessage } from "../messages/model-view.ts";
import { type Steps, stepsAtOnce } from "../slices.ts";

export interface MessageParts {
  /** One text per block that is not an image. */
  texts: string[];
  images: number;
}

/** The parts of `message` as a model sees it; undefined when it is not sent at all. */
export const messageParts = (message: AgentMessage): MessageParts | undefined =>
  stepsAtOnce(messagePartSteps(message));

/** The same in steps, for a message with much in it. */
export function* messagePartSteps(message: AgentMessage): Steps<MessageParts | undefined> {
  const view = toModelMessage(message);
  if (view === undefined) return undefined;
  const texts: string[] = [];
  let images = 0;
  for (const block of blocksOf(view.content))
    if (block.type === "image") images++;
    else texts.push(yield* textSteps(block));
  return { texts, images };
}

function* textSteps(block: AnyBlock): Steps<string> {
  switch (block.type) {
    case "text":
      return stringOf(block.text);
    case "thinking":
      return block.carried === undefined ? stringOf(block.thinking) : JSON.stringify(block.carried);
    case "redacted_thinking":
      return stringOf(block.data);
    case "toolCall":
      return stringOf(block.name) + (yield* argumentSteps(block.arguments));
    case "provider":
      return JSON.stringify(block.data) ?? "";
    default:
      // A kind of a newer host: its JSON is the best guess at what will be sent.
      return JSON.stringify(block);
  }
}

/** The JSON of what a call is given, which may be many thousand values, or long ones. */
function* argumentSteps(args: unknown): Steps<string> {
  if (typeof args !== "object" || args === null || Array.isArray(args))
    return JSON.stringify(args) ?? "";
  const members: string[] = [];
  for (const key of Object.keys(args)) {
    yield;
    const value: unknown = args[key as keyof typeof args];
    const json =
      typeof value === "string" && value.length > PIECE_CHARS
        ? yield* stringSteps(value)
        : JSON.stringify(value);
    if (json !== undefined) members.push(`${JSON.stringify(key)}:${json}`);
  }
  return `{${members.join(",")}}`;
}

/** Escapes are slow to write, and some texts are nothing else. */
function* stringSteps(text: string): Steps<string> {
  let json = "";
  for (let from = 0; from < text.length; ) {
    yield;
    const end = from + PIECE_CHARS;
    const splitsPair =
      (text.charCodeAt(end - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(end) & 0xfc00) === 0xdc00;
    const to = splitsPair ? end - 1 : end;
    json += JSON.stringify(text.slice(from, to)).slice(1, -1);
    from = to;
  }
  return `"${json}"`;
}

const PIECE_CHARS = 64 * 1024;
