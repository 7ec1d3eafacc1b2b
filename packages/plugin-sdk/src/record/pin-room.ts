// Which pins come into the room there is.
import { escapeTags } from "../messages/wrap-record.ts";
import { type Steps, stepsAtOnce } from "../slices.ts";
import { estimateText } from "../tokens/estimate.ts";
import { type Force, isBinding } from "./cues.ts";
import type { Pin } from "./pins.ts";
import { replacementSteps } from "./replaced.ts";

const MAX_PINS = 600;
/** Most binding first, each with the share of a room that is its own. */
const SHARES: readonly (readonly [force: Force, share: number])[] = [
  ["standing", 0.5],
  ["rule", 0.2],
  ["wish", 0.1],
  ["amount", 0.1],
  ["plain", 0.1],
];
/** Of a message that says more than this of one force, the rest comes after other messages. */
const AT_ONCE = 4;
/** The line that counts what has no room may take this part of it. */
const MORE_SHARE = 0.25;
const MAX_MORE_IDS = 3;

/** `pins` with those that must go taken out: those stay that would come first into a record. */
export function* withinBoundsSteps(pins: Map<string, Pin>): Steps<Map<string, Pin>> {
  if (pins.size <= MAX_PINS) return pins;
  const ranks = yield* rankSteps([...pins.values()]);
  const kept = yield* chooseSteps(ranks, MAX_PINS * 0.75, () => 1);
  return new Map([...pins].filter(([, pin]) => kept.has(pin)));
}

/**
 * The pins that `maxTokens` hold, as a list, oldest first, so that of two that contradict each
 * other the newer one is read last. The most binding come first into the room, the newest and the
 * oldest in turns, and each force has a share that no other takes. What forbids or demands and has
 * no room is counted on the last line, with the entries that say it. Deterministic.
 */
export const renderPins = (pins: ReadonlyMap<string, Pin>, options: PinOptions): string =>
  stepsAtOnce(pinSteps(pins, options));

/** How much may be listed. */
interface PinOptions {
  maxTokens: number;
  /** An entry that stands beside them as a message. Absent: none. */
  without?: string | undefined;
}

/** The same in steps. */
export function* pinSteps(
  pins: ReadonlyMap<string, Pin>,
  { maxTokens, without }: PinOptions,
): Steps<string> {
  const ranks = yield* rankSteps([...pins.values()], without);
  const costs = new Map<Pin, number>();
  const costOf = (pin: Pin) => {
    const cost = costs.get(pin) ?? estimateText(lineOf(pin)).estimate + 1;
    costs.set(pin, cost);
    return cost;
  };
  function* render(room: number) {
    const chosen = yield* chooseSteps(ranks, room, costOf);
    const lines = [...pins.values()].filter((pin) => chosen.has(pin));
    return { chosen: lines, more: moreIn(ranks, chosen) };
  }
  const listOf = (chosen: readonly Pin[], more: string) =>
    [...chosen.map(lineOf), ...(more === "" ? [] : [more])].join("\n");
  const all = yield* render(maxTokens);
  const price = estimateText(all.more).estimate + 4;
  if (all.more === "" || price > MORE_SHARE * maxTokens) return listOf(all.chosen, "");
  const { chosen, more } = yield* render(maxTokens - price);
  const text = listOf(chosen, more);
  return estimateText(text).estimate <= maxTokens ? text : listOf(chosen, "");
}

const lineOf = ({ text }: Pin) => `- ${escapeTags(text)}`;

/** Pins by the order in which they come into a room. */
interface Ranks {
  /** Of each force what no later sentence changes. */
  current: ReadonlyMap<Force, readonly Pin[]>;
  /** Of what was changed the last before, newest first, with what must stand beside it. */
  outdated: readonly { pin: Pin; newer: Pin | undefined }[];
}

/** Without those of the entry `without`, which stand there as a message. */
function* rankSteps(pins: readonly Pin[], without?: string): Steps<Ranks> {
  const replaced = yield* replacementSteps(pins);
  const isHere = ({ entryId }: Pin) => entryId !== without;
  const current = Map.groupBy(
    pins.filter((pin) => isHere(pin) && !replaced.has(pin)),
    ({ force }) => force,
  );
  const lastBefore = new Map([...replaced].map(([older, newer]) => [newer, older]));
  return {
    current: new Map([...current].map(([force, of]) => [force, inTurns(of)])),
    outdated: [...lastBefore]
      .filter(([, pin]) => isHere(pin))
      .map(([newer, pin]) => ({ pin, newer: isHere(newer) ? newer : undefined }))
      .sort((a, b) => b.pin.at - a.pin.at),
  };
}

/** A few of each message at a time: the newest, the oldest, the second newest, … */
function inTurns(pins: readonly Pin[]): Pin[] {
  const rounds = Map.groupBy(pins, ({ nth }) => Math.floor(nth / AT_ONCE));
  return [...rounds.keys()]
    .sort((a, b) => a - b)
    .flatMap((round) => {
      const items = rounds.get(round)!;
      return items.map((_, index) => items.at(index % 2 === 0 ? -1 - index / 2 : (index - 1) / 2)!);
    });
}

function* chooseSteps(
  { current, outdated }: Ranks,
  room: number,
  cost: (pin: Pin) => number,
): Steps<ReadonlySet<Pin>> {
  const chosen = new Set<Pin>();
  let left = room;
  function* take(pins: readonly Pin[], share: number) {
    let own = Math.min(left, share);
    for (const pin of pins) {
      yield;
      if (chosen.has(pin)) continue;
      const price = cost(pin);
      if (price > own) continue;
      own -= price;
      left -= price;
      chosen.add(pin);
    }
  }
  for (const [force, share] of SHARES) yield* take(current.get(force) ?? [], share * room);
  for (const [force] of SHARES) yield* take(current.get(force) ?? [], left);
  yield* take(current.get("task") ?? [], left);
  for (const { pin, newer } of outdated)
    if (newer === undefined || chosen.has(newer)) yield* take([pin], left);
  return chosen;
}

/** How much that binds is not among `chosen`, and which entries say it; empty: nothing. */
function moreIn({ current }: Ranks, chosen: ReadonlySet<Pin>): string {
  const counts = new Map<string, number>();
  const binding = [...current].filter(([force]) => isBinding(force)).flatMap(([, pins]) => pins);
  for (const { entryId, unkept } of binding) if (unkept > 0) counts.set(entryId, unkept);
  for (const pin of binding)
    if (!chosen.has(pin)) counts.set(pin.entryId, (counts.get(pin.entryId) ?? 0) + 1);
  if (counts.size === 0) return "";
  const entries = [...counts].sort(([, a], [, b]) => b - a);
  const count = entries.reduce((sum, [, more]) => sum + more, 0);
  const ids = entries.slice(0, MAX_MORE_IDS).map(([entryId]) => `@${entryId}`);
  const others = entries.length > MAX_MORE_IDS ? " and other entries" : "";
  return `- (at least ${count} more rules have no room here: read ${ids.join(", ")}${others})`;
}
