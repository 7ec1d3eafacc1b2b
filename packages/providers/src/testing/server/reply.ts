// What a scripted model says, whichever wire tells it.

/** One piece of a reply. */
export type ReplyBlock =
  | {
      type: "text";
      text: string;
    }
  | {
      type: "thinking";
      text: string;
      /** True: the provider keeps the words to itself, where its wire has a way to. Default: no. */
      redacted?: boolean;
    }
  | ({ type: "call" } & ScriptedCall);

/** A tool call of a reply. */
export interface ScriptedCall {
  /** Default: one that differs from every other of the server, in the provider's form. */
  id?: string;
  /** The tool's. */
  name: string;
  /** Text is sent as it is, to script malformed ones, where the wire carries text. */
  arguments: Readonly<Record<string, unknown>> | string;
}

/** What a scripted model says. */
export interface EmulatedReply {
  /** Default: "". */
  text?: string;
  /** Before the text. Default: "". */
  thinking?: string;
  /** After the text. Default: no calls. */
  toolCalls?: readonly ScriptedCall[];
  /** In this order, and instead of `thinking`, `text` and `toolCalls`. Default: made of those. */
  blocks?: readonly ReplyBlock[];
  /** In the provider's own word. Default: that of calls beside calls, else that of an end. */
  finishReason?: string;
  /** Tokens, all of the prompt in `prompt`. Default: as counted; null = none told. */
  usage?: { prompt: number; completion: number; cached?: number } | null;
  /** Characters of text and arguments per event; default: all in one. */
  chunkChars?: number;
  /** ms between events; default: everything at once. */
  pauseMs?: number;
}

/** The reply as one list; an empty one for a reply that says nothing. */
export function blocksOf({ blocks, thinking = "", text = "", toolCalls = [] }: EmulatedReply) {
  const made: ReplyBlock[] = [];
  if (thinking !== "") made.push({ type: "thinking", text: thinking });
  if (text !== "") made.push({ type: "text", text });
  for (const call of toolCalls) made.push({ type: "call", ...call });
  return blocks ?? made;
}

export const callsOf = (reply: EmulatedReply): readonly ScriptedCall[] =>
  blocksOf(reply).filter((block) => block.type === "call");

export const argumentsText = ({ arguments: given }: ScriptedCall): string =>
  typeof given === "string" ? given : JSON.stringify(given);

/** For wires that carry objects: text that is no JSON object stands under a name of its own. */
export function argumentsObject({ arguments: given }: ScriptedCall): unknown {
  if (typeof given !== "string") return given;
  try {
    return JSON.parse(given) as unknown;
  } catch {
    return { unreadable: given };
  }
}

/** The text in pieces as the script wants them; none of an empty one. */
export function pieces(
  text: string,
  { chunkChars = Number.POSITIVE_INFINITY }: EmulatedReply,
): string[] {
  if (text === "") return [];
  if (!Number.isFinite(chunkChars)) return [text];
  return Array.from({ length: Math.ceil(text.length / chunkChars) }, (_, index) =>
    text.slice(index * chunkChars, (index + 1) * chunkChars),
  );
}
