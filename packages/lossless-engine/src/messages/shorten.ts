// How a message looks of which only a part has room.
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { blocksOf, headOf, tailOf } from "@clew/plugin-sdk/transcript";

/** How much of a message is shown. */
export interface Part {
  /** Of its text, its beginning and its end together. */
  readonly chars: number;
  /** False: a sentence stands for each picture. */
  readonly pictures: boolean;
}

/** By the names of messages: how much of them is shown. Of all others everything is. */
export type Parts = ReadonlyMap<string, Part>;

const TAIL_SHARE = 0.3;
/** A cut that saves less than its own sentence is none. */
const SENTENCE_CHARS = 160;
const LONGEST_ID = 100;
const NO_PICTURE = "[picture left out to make room]";

/** True: what it says may be cut. A model's own words and calls go back as they came, or not. */
export const canBeShortened = ({ role }: AgentMessage): boolean =>
  role === "toolResult" || role === "user" || role === "custom" || role === "bashExecution";

/** The same bytes for the same message and part; the very message where nothing had to go. */
export function shortened(message: AgentMessage, part: Part): AgentMessage {
  const id = messageId(message);
  const cut = (text: string) => endsOf(text, part.chars, id);
  switch (message.role) {
    case "bashExecution": {
      const output = cut(message.output);
      return output === message.output ? message : { ...message, output };
    }
    case "user":
    case "custom":
      if (typeof message.content === "string") {
        const content = cut(message.content);
        return content === message.content ? message : { ...message, content };
      }
      return withBlocks(message, part, cut);
    case "toolResult":
      return withBlocks(message, part, cut);
    default:
      return message;
  }
}

function withBlocks<Message extends AgentMessage & { content: unknown }>(
  message: Message,
  { pictures }: Part,
  cut: (text: string) => string,
): Message {
  const blocks = blocksOf(message.content);
  const texts = blocks.flatMap(({ type, text }) => (type === "text" ? [String(text)] : []));
  const text = texts.join("\n");
  const ends = cut(text);
  const others = blocks.filter(({ type }) => type !== "text");
  const shown = pictures
    ? others
    : others.map((block) => (block.type === "image" ? { type: "text", text: NO_PICTURE } : block));
  if (ends === text && shown.every((block, index) => block === others[index])) return message;
  return {
    ...message,
    content: [...(text === "" ? [] : [{ type: "text", text: ends }]), ...shown],
  };
}

const CUT = /\n\[\d+ characters cut here to make room; [^\]\n]*\]\n/;

/** Of a text that may be a shortened one: what it keeps. Undefined: it is none. */
export function endsKept(
  text: string,
): { readonly head: string; readonly tail: string } | undefined {
  const cut = CUT.exec(text);
  if (cut === null) return undefined;
  return { head: text.slice(0, cut.index), tail: text.slice(cut.index + cut[0].length) };
}

function endsOf(text: string, chars: number, id: string | undefined): string {
  if (text.length <= chars + SENTENCE_CHARS) return text;
  const tail = tailOf(text, Math.floor(chars * TAIL_SHARE));
  const head = headOf(text, chars - tail.length);
  const way =
    id === undefined || id.length > LONGEST_ID
      ? "lcm_grep finds the rest"
      : `lcm_describe with id "${id}" shows all of it`;
  const left = text.length - head.length - tail.length;
  return `${head}\n[${left} characters cut here to make room; ${way}]\n${tail}`;
}
