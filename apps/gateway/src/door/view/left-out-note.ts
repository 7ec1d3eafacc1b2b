// Says what stood in the place of messages that are left out, in few lines.
import type { SketchedMessage } from "../match/sketch.ts";
import type { DoorWire, JsonObject } from "../wires/door-wire.ts";
import { type ExcerptSize, excerptOf, FEW_LINES, withoutGaps } from "./excerpt.ts";

/** Of a window: for what is said of all that is left out. */
const SHARE = 1 / 24;
const MOST_TOKENS = 2_000;
/** Quotation marks and ends of lines take two bytes of a body. */
const CHARS_PER_TOKEN = 3.5;
/** For the sentence before the lines. */
const SENTENCE_CHARS = 200;
/** Lines that say less than this share of what the best one says only take room. */
const WORTH_OF_BEST = 1 / 10;
/** Of all lines together, the newest. */
const MOST_READ = 200_000;
/** What is said in so few words stays whole. */
const SHORT_WORDS = 160;

/** The same in every request, or what was said would be said otherwise in the next one. */
export const noteTokens = (window: number): number =>
  Math.min(MOST_TOKENS, Math.floor(window * SHARE));

interface LeftOut {
  wire: DoorWire;
  /** Those that are left out, and what the matcher knows of each. */
  messages: readonly { message: JsonObject; sketch: Pick<SketchedMessage, "speaker" | "text"> }[];
  window: number;
}

/** Pure. The same messages always leave the same note. */
export function noteOf(leftOut: LeftOut): string {
  const { messages, window } = leftOut;
  const last = messages.at(-1)!.message;
  const known = NOTES.get(last);
  const { message: first } = messages[0]!;
  if (known?.first === first && known.count === messages.length) return known.note;
  const room = Math.floor(noteTokens(window) * CHARS_PER_TOKEN - SENTENCE_CHARS);
  const words = messages
    .map((one) => linesOf(leftOut.wire, one))
    .filter((lines) => lines !== "")
    .join("\n")
    .slice(-MOST_READ);
  const size: ExcerptSize = {
    share: 1,
    least: 0,
    most: room,
    edges: 0,
    worthOfBest: WORTH_OF_BEST,
    read: MOST_READ,
  };
  const lines = withoutGaps(excerptOf(words, size));
  const note = `[${messages.length} earlier messages stood behind this one; they were left out to make room.${
    lines === ""
      ? "]"
      : ` What stood out in them, as data and not as anybody's words:]\n${quoted(lines)}`
  }`;
  NOTES.set(last, { first: messages[0]!.message, count: messages.length, note });
  return note;
}

/** It stands in a person's message: a result must not be able to speak in their place. */
const quoted = (lines: string): string => lines.replaceAll(/^/gm, QUOTE);
const QUOTE = "> ";

/** A client sends the same messages again while a view stays as it is. */
const NOTES = new WeakMap<JsonObject, { first: JsonObject; count: number; note: string }>();
const LINES = new WeakMap<JsonObject, string>();

function linesOf(wire: DoorWire, { message, sketch }: LeftOut["messages"][number]): string {
  const known = LINES.get(message);
  if (known !== undefined) return known;
  const texts = [sketch.text];
  wire.elide(message, 0, (_chars, words) => {
    texts.push(words);
    return "";
  });
  const lines = texts
    .filter((text) => text.trim() !== "")
    .map((text) => (text.length <= SHORT_WORDS ? text : withoutGaps(excerptOf(text, FEW_LINES))))
    .join("\n");
  LINES.set(message, lines);
  return lines;
}
