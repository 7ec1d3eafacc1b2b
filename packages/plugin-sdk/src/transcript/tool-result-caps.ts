// How long a tool result may be for a model, and what a longer one is cut to.
import type {
  AgentMessage,
  TextBlock,
  ToolResultBlock,
  ToolResultMessage,
} from "../contract/message.ts";
import { createNotes } from "../notes.ts";
import type { Steps } from "../slices.ts";
import { messageId } from "./message-id.ts";

const CHARS_PER_TOKEN = 4;
/** Characters that are kept of any result, however it is shortened. */
export const SMALLEST_RESULT = 1024;

/**
 * Characters of one result in a window of so many tokens: 0.3 of the window, at most 16,000, 32,000
 * or 64,000 (spec "compaction" §3.4).
 */
export function toolResultCap(contextWindow: number): number {
  const step = contextWindow < 100_000 ? 16_000 : contextWindow < 200_000 ? 32_000 : 64_000;
  return Math.min(readerCap(contextWindow), step);
}

/** The same of what is read whole because it was asked for: the share of the window alone. */
const readerCap = (contextWindow: number): number =>
  Math.max(SMALLEST_RESULT, Math.floor(0.3 * contextWindow * CHARS_PER_TOKEN));

const capped = createNotes<ToolResultMessage, Map<string, ToolResultMessage>>();

/**
 * A view in which no tool result is longer than its cap. The same message, cap and reader give the
 * same object, so that prompts stay stable. `reader`: the tool that shows a result whole, which the
 * cut then names and which may itself show 0.3 of the window; absent: there is none.
 */
export function capToolResults(
  messages: readonly AgentMessage[],
  contextWindow: number,
  reader?: string,
): readonly AgentMessage[] {
  const capOf = ({ toolName }: ToolResultMessage) =>
    reader !== undefined && toolName === reader
      ? readerCap(contextWindow)
      : toolResultCap(contextWindow);
  const isLong = (message: AgentMessage) =>
    message.role === "toolResult" && toolResultLength(message) - capOf(message) > MARKER_ALLOWANCE;
  if (!messages.some(isLong)) return messages;
  return messages.map((message) => {
    if (message.role !== "toolResult" || !isLong(message)) return message;
    const known = capped.get(message) ?? new Map<string, ToolResultMessage>();
    capped.set(message, known);
    const cap = capOf(message);
    const key = `${cap} ${reader ?? ""}`;
    const id = messageId(message);
    const view =
      known.get(key) ??
      shortenResult(message, cap, () => `to fit the model; ${wayBack(reader, id)}`);
    known.set(key, view);
    return view;
  });
}

/** Messages looked at between two steps. */
const STEP = 256;

/** `capToolResults` in steps, for a list that takes long. */
export function* capToolResultSteps(
  messages: readonly AgentMessage[],
  contextWindow: number,
): Steps<readonly AgentMessage[]> {
  const view: AgentMessage[] = [];
  let isSame = true;
  for (let start = 0; start < messages.length; start += STEP) {
    const part = messages.slice(start, start + STEP);
    const capped = capToolResults(part, contextWindow);
    isSame &&= capped === part;
    view.push(...capped);
    yield;
  }
  return isSame ? messages : view;
}

/** Where the whole of a shortened result is. */
export const wayBack = (reader: string | undefined, id: string | undefined): string =>
  reader === undefined || id === undefined
    ? "the transcript holds the whole result"
    : `${reader} with id "${id}" shows the whole result`;

// A host may have to read a text to know how long it is.
const lengths = createNotes<ToolResultMessage, number>();

/** Characters of all texts of a result; looked at once. */
export function toolResultLength(message: ToolResultMessage): number {
  const known = lengths.get(message);
  if (known !== undefined) return known;
  let length = 0;
  if (Array.isArray(message.content))
    for (const block of message.content) if (isText(block)) length += block.text.length;
  lengths.set(message, length);
  return length;
}

const isText = (block: ToolResultBlock): block is TextBlock =>
  block?.type === "text" && typeof block.text === "string";
const texts = ({ content }: ToolResultMessage) => content.filter(isText).map(({ text }) => text);

/** Room for the marker below. */
const MARKER_ALLOWANCE = 128;
const MAX_TAIL_SHARE = 0.3;
const MAX_TAIL = 4000;
const TELLING_TAIL =
  /error|exception|failed|fatal|traceback|panic|exit code|total|summary|passed|[}\]]\s*$/i;

/**
 * Keeps the head, and a tail when it says how things ended: an error, the end
 * of JSON, a summary line. `why` ends the sentence that stands at the cut.
 */
export function shortenResult(
  message: ToolResultMessage,
  keep: number,
  why: (cut: string) => string,
): ToolResultMessage {
  const text = texts(message).join("\n");
  const tailLength = Math.min(Math.floor(keep * MAX_TAIL_SHARE), MAX_TAIL);
  const wantsTail = TELLING_TAIL.test(text.slice(-tailLength));
  const head = wholeCharacters(text.slice(0, wantsTail ? keep - tailLength : keep));
  const tail = wantsTail ? wholeCharacters(text.slice(text.length - tailLength)) : "";
  const cut = text.slice(head.length, text.length - tail.length);
  const marker = `\n[${cut.length} characters cut here ${why(cut)}]\n`;
  const others = message.content.filter((block) => block.type !== "text");
  return { ...message, content: [{ type: "text", text: `${head}${marker}${tail}` }, ...others] };
}

/** Without half a surrogate pair at either end. */
const wholeCharacters = (text: string) => text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, "");
