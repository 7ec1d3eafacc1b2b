// Which pins come into the room there is.
import { escapeTags } from "../messages/wrap-record.ts";
import { type Steps, stepsAtOnce } from "../slices.ts";
import { estimateText } from "../tokens/estimate.ts";
import { type Force, isBinding } from "./cues.ts";
import type { Pin } from "./pins.ts";
import { laterSteps } from "./replaced.ts";

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
const MAX_MORE_IDS = 3;
/** How many ids the line that counts what has no room may name, with the part it may take of it. */
const MORE_SHARES = [
  [MAX_MORE_IDS, 0.25],
  [0, 0.5],
] as const;
/** Tokens: a list costs more than its lines do. */
const MORE_MARGIN = 4;
const NONE: ReadonlySet<Pin> = new Set();

/** `pins` with those that must go taken out: those stay that would come first into a record. */
export function* withinBoundsSteps(pins: Map<string, Pin>): Steps<Map<string, Pin>> {
  if (pins.size <= MAX_PINS) return pins;
  const ranks = yield* rankSteps([...pins.values()]);
  const kept = yield* chooseSteps(ranks, { room: MAX_PINS * 0.75 }, () => 1);
  return new Map([...pins].filter(([, pin]) => kept.has(pin)));
}

/**
 * The pins that `maxTokens` hold, as a list, oldest first, so that of two that contradict each
 * other the newer one is read last. The most binding come first into the room, the newest and the
 * oldest in turns, and each force has a share that no other takes, unless all that forbids or
 * demands would fit without. Where it does not, what has no room is counted on the last line, with
 * the entries that say it. Deterministic.
 */
export const renderPins = (pins: ReadonlyMap<string, Pin>, options: PinOptions): string =>
  stepsAtOnce(pinSteps(pins, options));

/** How much may be listed. */
interface PinOptions {
  maxTokens: number;
  /** An entry that stands beside them as a message. Absent: none. */
  without?: string | undefined;
  /** False: no tool reads entries, and the count names none. */
  readable?: boolean;
}

/** The same in steps. */
export function* pinSteps(
  pins: ReadonlyMap<string, Pin>,
  { maxTokens, without, readable = true }: PinOptions,
): Steps<string> {
  const ranks = yield* rankSteps([...pins.values()], without);
  const costs = new Map<Pin, number>();
  const costOf = (pin: Pin) => {
    const cost = costs.get(pin) ?? estimateText(lineOf(pin)).estimate + 1;
    costs.set(pin, cost);
    return cost;
  };
  function* render(room: number, ids: number, shares = SHARES) {
    const chosen = yield* chooseSteps(ranks, { room, shares }, costOf);
    const lines = [...pins.values()].filter((pin) => chosen.has(pin)).map(lineOf);
    const more = moreIn(ranks, { chosen, ids });
    return { text: [...lines, ...(more === "" ? [] : [more])].join("\n"), more, lines };
  }
  const all = yield* render(maxTokens, 0);
  if (all.more === "") return all.text;
  // Better than to say that rules have no room is that what binds nobody has less.
  const bindingFirst = yield* render(maxTokens, 0, []);
  if (bindingFirst.more === "") return bindingFirst.text;
  for (const [ids, share] of readable ? MORE_SHARES : MORE_SHARES.slice(1)) {
    const most = estimateText(moreIn(ranks, { chosen: NONE, ids })).estimate + MORE_MARGIN;
    if (most > share * maxTokens) continue;
    const { text } = yield* render(maxTokens - most, ids);
    if (estimateText(text).estimate <= maxTokens) return text;
  }
  return all.lines.join("\n");
}

const lineOf = ({ text }: Pin) => `- ${escapeTags(text)}`;

/** Pins by the order in which they come into a room. */
interface Ranks {
  /** Of each force what no later sentence says anew. */
  current: ReadonlyMap<Force, readonly Pin[]>;
  /** What was said anew. */
  outdated: readonly Pin[];
  /** Of that the last before each, newest first. */
  lastBefore: readonly Pin[];
  /** By a pin what must stand there if it does. */
  beside: ReadonlyMap<Pin, Pin>;
}

/** Without those of the entry `without`, which stand there as a message. */
function* rankSteps(pins: readonly Pin[], without?: string): Steps<Ranks> {
  const { anew, beside } = yield* laterSteps(pins);
  const isHere = ({ entryId }: Pin) => entryId !== without;
  const current = Map.groupBy(
    pins.filter((pin) => isHere(pin) && !anew.has(pin)),
    ({ force }) => force,
  );
  const lastBefore = new Map([...anew].map(([older, newer]) => [newer, older])).values();
  return {
    current: new Map([...current].map(([force, of]) => [force, inTurns(of)])),
    outdated: [...anew.keys()].filter(isHere),
    lastBefore: [...lastBefore].filter(isHere).sort((a, b) => b.at - a.at),
    beside: new Map([...beside, ...anew].filter(([, newer]) => isHere(newer))),
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
  { current, lastBefore, beside }: Ranks,
  { room, shares = SHARES }: { room: number; shares?: typeof SHARES },
  cost: (pin: Pin) => number,
): Steps<ReadonlySet<Pin>> {
  const chosen = new Set<Pin>();
  let left = room;
  /** `pin` and what must stand there with it, as far as it is not there. */
  const withLater = (pin: Pin) => {
    const all = [];
    for (let one: Pin | undefined = pin; one !== undefined; one = beside.get(one))
      if (!chosen.has(one)) all.push(one);
    return all;
  };
  function* take(pins: readonly Pin[], share: number) {
    let own = Math.min(left, share);
    for (const pin of pins) {
      yield;
      if (chosen.has(pin)) continue;
      const together = withLater(pin);
      const price = together.reduce((sum, one) => sum + cost(one), 0);
      if (price > own) continue;
      own -= price;
      left -= price;
      for (const one of together) chosen.add(one);
    }
  }
  const changed = Map.groupBy(lastBefore, ({ force }) => isBinding(force));
  for (const [force, share] of shares) yield* take(current.get(force) ?? [], share * room);
  for (const [force] of SHARES) {
    yield* take(current.get(force) ?? [], left);
    if (force === "rule") yield* take(changed.get(true) ?? [], left);
  }
  yield* take(current.get("task") ?? [], left);
  yield* take(changed.get(false) ?? [], left);
  return chosen;
}

/** How much that binds is not among `chosen`, and which entries say it; empty: nothing. */
function moreIn(
  { current, outdated }: Ranks,
  { chosen, ids }: { chosen: ReadonlySet<Pin>; ids: number },
): string {
  const counts = new Map<string, number>();
  const binding = [...[...current.values()].flat(), ...outdated].filter(({ force }) =>
    isBinding(force),
  );
  for (const { entryId, unkept } of binding) if (unkept > 0) counts.set(entryId, unkept);
  for (const pin of binding)
    if (!chosen.has(pin)) counts.set(pin.entryId, (counts.get(pin.entryId) ?? 0) + 1);
  if (counts.size === 0) return "";
  const entries = [...counts].sort(([, a], [, b]) => b - a);
  const count = entries.reduce((sum, [, more]) => sum + more, 0);
  const named = entries.slice(0, ids).map(([entryId]) => `@${entryId}`);
  const others = entries.length > ids ? " and other entries" : "";
  const where = named.length === 0 ? "" : `: read ${named.join(", ")}${others}`;
  return `- (at least ${count} more rules have no room here${where})`;
}
