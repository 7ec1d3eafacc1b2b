// Makes random sessions of a kind.
import { type Chance, chanceOf } from "./random.ts";
import {
  ANSWERS,
  type Circumstances,
  ORDINARY,
  RESULTS,
  type Script,
  SPEECH,
  type Step,
  type Turn,
} from "./script.ts";

/** What sessions of a kind are made of. */
export interface Weather {
  /** Steps besides turns, each as often as it stands here. */
  events: readonly ((chance: Chance, number: number) => Step)[];
  /** Those in the first half. Absent: the same. */
  early?: Weather["events"];
  /** A few of these, others in each session. Absent: none. */
  some?: Weather["events"];
  /** What every session of the kind begins with. Absent: nothing. */
  begins?: (chance: Chance) => readonly Step[];
  /** Share of steps that are such. */
  eventful: number;
  /** What is not ordinary about its turns. Absent: nothing. */
  turn?: (chance: Chance) => Partial<Turn>;
  /** What is not ordinary about its hosts. Absent: nothing. */
  host?: (chance: Chance) => Partial<Circumstances>;
  /** Steps of a session, at most. */
  most: number;
  /** How many times as many sessions of this kind are tried. Absent: 1. */
  count?: number;
  /** Sessions at once. Absent: one. */
  sessions?: number;
}

/** Kinds of event in one session. */
const FEW = 4;

export function randomScript(weather: Weather, seed: number): Script {
  const chance = chanceOf(seed);
  const any = { repeatsCalls: chance.once(0.3), eager: chance.once(0.4) };
  const host = { ...ORDINARY, ...any, ...weather.host?.(chance) };
  // Drawn apart, so that what is drawn here changes no steps.
  const { once, below } = chanceOf(seed ^ 0x5bd1e995);
  // Where nothing else tells two equal messages apart their times have to.
  host.oddTimes ||= host.ids && once(0.2);
  host.repeatsIds ||= once(0.2);
  const more = chanceOf(seed ^ 0x2545f491);
  for (const [way, share] of WAYS) host[way] ||= more.once(share);
  const race = chanceOf(seed ^ 0x6a09e667);
  host.retries ||= race.once(0.12);
  // What is told again at once only an id tells from what is said again.
  host.retries &&= host.ids;
  host.hurries ||= race.once(0.12);
  host.shares ||= race.once(0.6);
  host.watches ||= (weather.sessions ?? 1) > 1 && !host.atOnce && race.once(0.3);
  // Without an id nothing says that what is handed over otherwise is the same.
  host.trims &&= host.ids;
  const said = (turn: Turn): Turn =>
    turn.says === "pictures" && !host.ids ? { ...turn, says: "picture" } : turn;
  const count = 3 + chance.below(weather.most - 2);
  const steps: Step[] = [...(weather.begins?.(chance) ?? [])];
  const sessions = weather.sessions ?? 1;
  const { some = [] } = weather;
  const few = Array.from({ length: some.length > 0 ? FEW : 0 }, () => chance.pick(some));
  for (let at = 0; at < count; at++) {
    // Those that are served at the same time take turns, so that there are such.
    const number = host.atOnce ? at % sessions : chance.below(sessions);
    const early = 2 * at < count ? weather.early : undefined;
    const events = [...(early ?? weather.events), ...few];
    const hasTurn = steps.some((step) => step.do === "turn" && step.in === number);
    steps.push(
      hasTurn && events.length > 0 && chance.once(weather.eventful)
        ? chance.pick(events)(chance, number)
        : { ...said({ ...randomTurn(chance), ...weather.turn?.(chance) }), in: number },
    );
  }
  // What was compacted is not in a history that begins later.
  const isCompacted = steps.some((step) => step.do === "compact" || step.do === "shrink");
  if (isCompacted) host.newest = null;
  else if (once(0.1)) host.newest ??= 1 + below(3);
  return { host, steps };
}

/** How hosts differ in every kind of session, and how many of them do. */
const WAYS = [
  ["tellsSettings", 0.3],
  ["changes", 0.25],
  ["asksTwice", 0.25],
  ["trims", 0.2],
  ["oddNames", 0.25],
  ["skipsKeys", 0.2],
  ["freezes", 0.3],
  ["anyOrder", 0.3],
  ["overlaps", 0.2],
] as const;

export const randomTurn = (chance: Chance): Turn => ({
  do: "turn",
  says: chance.once(0.5) ? "plain" : chance.pick(SPEECH),
  tools: Array.from({ length: chance.once(0.5) ? 0 : 1 + chance.below(2) }, () =>
    Array.from({ length: 1 + chance.below(3) }, () =>
      chance.once(0.5) ? "plain" : chance.pick(RESULTS),
    ),
  ),
  answers: chance.once(0.5) ? "plain" : chance.pick(ANSWERS),
  ends: "told",
  heartbeat: false,
});
