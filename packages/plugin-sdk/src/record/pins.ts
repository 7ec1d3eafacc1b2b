// Keeps, in their own words, what people asked a session to hold to.
import type { UserMessage } from "../contract/message.ts";
import type { Steps } from "../slices.ts";
import { oneLine, ownText } from "../transcript/text.ts";
import { type Force, forceSteps, isBinding } from "./cues.ts";
import { quotableSteps } from "./run-ons.ts";
import { sentenceSteps } from "./speech.ts";

/** A sentence that a person said. */
export interface Pin {
  /** On one line, at most 240 characters. */
  readonly text: string;
  /** The entry that last said it. */
  readonly entryId: string;
  /** How binding it is. */
  readonly force: Force;
  /** Number of the entry that last said it. */
  readonly at: number;
  /** How many sentences of the same force its message says before it. */
  readonly nth: number;
  /** How many sentences of its message forbid or demand and are not kept. */
  readonly unkept: number;
}

const MAX_CHARS = 240;
/** A text that somebody pasted says much: of one message no more is kept of each force. */
const MAX_PER_MESSAGE: Readonly<Record<Force, number>> = {
  standing: 150,
  rule: 100,
  wish: 12,
  amount: 6,
  plain: 6,
  task: 1,
};
/** Of what binds nobody; in characters as wide as a Latin letter. */
const LEAST_WIDTH = 8;
const WIDE = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}]/gu;

/** What `message` pins, in steps. */
export function* pinnedSteps(
  message: UserMessage,
  { entryId, at }: { entryId: string; at: number },
): Steps<Pin[]> {
  const said = new Map<Force, number>();
  const kept: { sentence: string; force: Force; nth: number }[] = [];
  for (const sentence of yield* quotableSteps(yield* sentenceSteps(message), MAX_CHARS)) {
    const force = yield* forceSteps(sentence);
    if ((force === "plain" || force === "task") && widthOf(sentence) < LEAST_WIDTH) continue;
    const nth = said.get(force) ?? 0;
    said.set(force, nth + 1);
    if (nth < MAX_PER_MESSAGE[force]) kept.push({ sentence, force, nth });
  }
  const unkept = [...said].reduce(
    (sum, [force, count]) =>
      isBinding(force) ? sum + Math.max(0, count - MAX_PER_MESSAGE[force]) : sum,
    0,
  );
  return kept.map(({ sentence, force, nth }) => ({
    text: ownText(oneLine(sentence, MAX_CHARS)),
    entryId,
    force,
    at,
    nth,
    unkept,
  }));
}

const widthOf = (text: string) => text.length + (text.match(WIDE)?.length ?? 0);
