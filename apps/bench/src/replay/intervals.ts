// How far a figure could be off, had other sessions been recorded.
import { random } from "../shared/texts.ts";
import { addTallies, figureOf, type Measure, type Tally } from "./measures.ts";

const DRAWS = 1000;
const TAILS = 0.025;

/**
 * The 95 % interval of a figure by drawing as many sessions again, with repetition (a bootstrap).
 * The same seed gives the same interval. Undefined for fewer than three sessions.
 */
export function intervalOf(
  tallies: readonly Tally[],
  measure: Measure,
  seed: number,
): readonly [low: number, high: number] | undefined {
  if (tallies.length < 3) return undefined;
  const next = random(seed);
  const figures: number[] = [];
  for (let draw = 0; draw < DRAWS; draw++) {
    const drawn = tallies.map(() => tallies[Math.floor(next() * tallies.length)]!);
    const figure = figureOf(addTallies(drawn), measure);
    if (figure !== undefined) figures.push(figure);
  }
  if (figures.length < DRAWS / 2) return undefined;
  figures.sort((a, b) => a - b);
  const at = (share: number) => figures[Math.round(share * (figures.length - 1))]!;
  return [at(TAILS), at(1 - TAILS)];
}
