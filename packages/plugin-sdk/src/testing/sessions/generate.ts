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
  /** Share of steps that are such. */
  eventful: number;
  /** What is not ordinary about its turns. Absent: nothing. */
  turn?: (chance: Chance) => Partial<Turn>;
  /** What is not ordinary about its hosts. Absent: nothing. */
  host?: (chance: Chance) => Partial<Circumstances>;
  /** Steps of a session, at most. */
  most: number;
  /** Sessions at once. Absent: one. */
  sessions?: number;
}

export function randomScript(weather: Weather, seed: number): Script {
  const chance = chanceOf(seed);
  const any = { repeatsCalls: chance.once(0.3), eager: chance.once(0.4) };
  const host = { ...ORDINARY, ...any, ...weather.host?.(chance) };
  // Drawn apart, so that what is drawn here changes no steps.
  const { once, below } = chanceOf(seed ^ 0x5bd1e995);
  // Where nothing else tells two equal messages apart their times have to.
  host.oddTimes ||= host.ids && once(0.2);
  host.repeatsIds ||= once(0.2);
  const count = 3 + chance.below(weather.most - 2);
  const steps: Step[] = [];
  const sessions = weather.sessions ?? 1;
  for (let at = 0; at < count; at++) {
    // Those that are served at the same time take turns, so that there are such.
    const number = host.atOnce ? at % sessions : chance.below(sessions);
    const events = (2 * at < count ? weather.early : undefined) ?? weather.events;
    const hasTurn = steps.some((step) => step.do === "turn" && step.in === number);
    steps.push(
      hasTurn && events.length > 0 && chance.once(weather.eventful)
        ? chance.pick(events)(chance, number)
        : { ...randomTurn(chance), ...weather.turn?.(chance), in: number },
    );
  }
  // What was compacted is not in a history that begins later.
  const isCompacted = steps.some((step) => step.do === "compact");
  if (isCompacted) host.newest = null;
  else if (once(0.1)) host.newest ??= 1 + below(3);
  return { host, steps };
}

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
