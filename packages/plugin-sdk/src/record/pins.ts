// Keeps, in their own words, what people asked a session to hold to.
import type { UserMessage } from "../contract/message.ts";
import { escapeTags } from "../messages/wrap-record.ts";
import { estimateText } from "../tokens/estimate.ts";
import { oneLine, ownText } from "../transcript/text.ts";
import { type Force, forceOf } from "./cues.ts";
import { replacements } from "./replaced.ts";
import { sentencesSaid } from "./speech.ts";

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
}

const MAX_CHARS = 240;
/** A text that somebody pasted says much: no message pins more than this of each force. */
const MAX_PER_MESSAGE: Readonly<Record<Force, number>> = {
  rule: 12,
  wish: 6,
  amount: 4,
  plain: 4,
  task: 1,
};
const LEAST_CHARS = 8;
const MAX_PINS = 600;
const ORDER: readonly Force[] = ["rule", "wish", "amount", "plain"];

/** What `message` pins. */
export function pinsIn(
  message: UserMessage,
  { entryId, at }: { entryId: string; at: number },
): Pin[] {
  const left = { ...MAX_PER_MESSAGE };
  return sentencesSaid(message).flatMap((sentence) => {
    const force = forceOf(sentence);
    if ((force === "plain" || force === "task") && sentence.length < LEAST_CHARS) return [];
    return left[force]-- > 0
      ? [{ text: ownText(oneLine(sentence, MAX_CHARS)), entryId, force, at }]
      : [];
  });
}

/**
 * `pins` with those that must go taken out: the most binding are kept, and of each force the newest
 * and the oldest in turns.
 */
export function withinBounds(pins: Map<string, Pin>): Map<string, Pin> {
  if (pins.size <= MAX_PINS) return pins;
  const kept = new Set(byImportance([...pins.values()]).slice(0, Math.floor(MAX_PINS * 0.75)));
  return new Map([...pins].filter(([, pin]) => kept.has(pin)));
}

/**
 * The pins that `maxTokens` hold, as a list, oldest first, so that of two that contradict each
 * other the newer one is read last. The most binding come first into the room. Where it is short,
 * what was said anew goes before what stands alone, and never stands without what replaced it; then
 * neither the oldest nor the newest. Deterministic.
 */
export function renderPins(
  pins: ReadonlyMap<string, Pin>,
  { maxTokens, without }: { maxTokens: number; without?: string | undefined },
): string {
  const lines = new Set<Pin>();
  const known = [...pins.values()];
  const replaced = replacements(known);
  let left = maxTokens;
  for (const pin of byImportance(known, replaced)) {
    if (pin.entryId === without) continue;
    const newer = replaced.get(pin);
    const cost = estimateText(lineOf(pin)).estimate + 1;
    const isStale = newer !== undefined && newer.entryId !== without && !lines.has(newer);
    if (cost > left || isStale) continue;
    left -= cost;
    lines.add(pin);
  }
  return [...lines]
    .sort((a, b) => a.at - b.at)
    .map(lineOf)
    .join("\n");
}

const lineOf = ({ text }: Pin) => `- ${escapeTags(text)}`;

function byImportance(pins: readonly Pin[], replaced = replacements(pins)): Pin[] {
  const of = (force: Force) => pins.filter((pin) => pin.force === force && !replaced.has(pin));
  return [
    ...ORDER.flatMap((force) => fromBothEnds(of(force))),
    ...of("task").toReversed(),
    // What replaced another comes before it.
    ...pins.filter((pin) => replaced.has(pin)).toReversed(),
  ];
}

/** The newest, the oldest, the second newest, … */
function fromBothEnds<Item>(items: readonly Item[]): Item[] {
  return items.map((_, index) => items.at(index % 2 === 0 ? -1 - index / 2 : (index - 1) / 2)!);
}
