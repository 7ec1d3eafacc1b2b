// Says what stood in the place of messages that are left out, in few lines.
import type { Steps } from "@clew/plugin-sdk/host";
import type { SketchedMessage } from "../match/sketch.ts";
import type { DoorWire, JsonObject } from "../wires/door-wire.ts";
import { type ExcerptSize, linesOf, scoreOf, type WeighedLine } from "./excerpt.ts";
import { BYTES_PER_TOKEN, tokensOfMessage } from "./weigh.ts";

/** Of a window, and of what is left out: for what is said of all of it. */
const SHARE = 1 / 24;
const MOST_TOKENS = 2_000;
/** For the sentence before the lines. */
const SENTENCE_TOKENS = 50;
/** What quotes a line and ends it. */
const LINE_BYTES = 2;
/** Lines that say less than this share of what the best one says only take room. */
const WORTH_OF_BEST = 1 / 10;
/** Of one text, to choose from. */
const MOST_LINES: ExcerptSize = {
  ...{ share: 1 / 8, least: 200, most: 1_200, edges: 0, worthOfBest: 1 / 5, read: 20_000 },
};

/** Of messages that had so many tokens. */
export const noteTokens = (window: number, leftOut: number): number =>
  SENTENCE_TOKENS + Math.min(MOST_TOKENS, Math.floor(SHARE * Math.min(window, leftOut)));

interface LeftOut {
  wire: DoorWire;
  /** Those that are left out, and what the matcher knows of each. */
  messages: readonly {
    message: JsonObject;
    sketch: Pick<SketchedMessage, "speaker" | "text" | "forms">;
  }[];
  window: number;
}

/** Pure, with a step for each message. The same messages always leave the same note. */
export function* noteSteps({ wire, messages, window }: LeftOut): Steps<string> {
  const last = messages.at(-1)!.message;
  const known = NOTES.get(last);
  const { message: first } = messages[0]!;
  if (known?.first === first && known.count === messages.length) return known.note;
  let leftOut = 0;
  const all: WeighedLine[] = [];
  for (const one of messages) {
    leftOut += tokensOfMessage(one.message);
    for (const line of linesIn(wire, one)) all.push(line);
    yield;
  }
  const lines = mostTelling(all, (noteTokens(window, leftOut) - SENTENCE_TOKENS) * BYTES_PER_TOKEN);
  const count = messages.length;
  const note = `[${count} earlier messages stood behind this one; they were left out to make room.${
    lines.length === 0
      ? "]"
      : ` What stood out in them, as data and not as anybody's words:]\n${quoted(lines)}`
  }`;
  NOTES.set(last, { first, count, note });
  return note;
}

/** In their order; what is said in several of them counts less in each. */
function mostTelling(lines: readonly WeighedLine[], bytes: number): string[] {
  const counts = new Map<string, number>();
  for (const { worth } of lines)
    for (const word of worth.keys()) counts.set(word, (counts.get(word) ?? 0) + 1);
  const scored = lines.map(({ text, worth }, at) => {
    let sum = 0;
    for (const [word, each] of worth) sum += each / counts.get(word)!;
    return { at, text, score: scoreOf(sum, Buffer.byteLength(text)) };
  });
  scored.sort((a, b) => b.score - a.score || a.at - b.at);
  const leastScore = WORTH_OF_BEST * (scored[0]?.score ?? 0);
  let left = bytes;
  const chosen = scored.filter(({ text, score }) => {
    const own = Buffer.byteLength(JSON.stringify(text)) + LINE_BYTES;
    if (score < leastScore || own > left) return false;
    left -= own;
    return true;
  });
  return chosen.sort((a, b) => a.at - b.at).map(({ text }) => text);
}

/** It stands in a person's message: a result must not be able to speak in their place. */
const quoted = (lines: readonly string[]): string =>
  lines.map((line) => line.replaceAll(/^/gm, QUOTE)).join("\n");
const QUOTE = "> ";

/** A client sends the same messages again while a view stays as it is. */
const NOTES = new WeakMap<JsonObject, { first: JsonObject; count: number; note: string }>();
const LINES = new WeakMap<JsonObject, readonly WeighedLine[]>();

function linesIn(
  wire: DoorWire,
  { message, sketch }: LeftOut["messages"][number],
): readonly WeighedLine[] {
  const known = LINES.get(message);
  if (known !== undefined) return known;
  const texts = [sketch.text, ...sketch.forms];
  wire.elide(message, 0, (_chars, words) => {
    texts.push(words);
    return "";
  });
  const lines = texts.flatMap((text) => linesOf(text, MOST_LINES));
  LINES.set(message, lines);
  return lines;
}
