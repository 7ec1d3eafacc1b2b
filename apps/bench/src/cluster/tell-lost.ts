// Tells what became of messages whose clients were told that they are stored.

/** By their texts; sessions in which the order is wrong, by their names. */
export interface Fates {
  lost: readonly string[];
  doubled: readonly string[];
  misplaced: readonly string[];
}

/** Of those that are told. */
const MOST_NAMES = 20;

/** How many, and in lines of their own which; `more` is said beside the numbers. */
export function tellLost(fates: Fates, more: string): void {
  const { lost, doubled, misplaced } = fates;
  say(
    `  ${lost.length} lost, ${doubled.length} doubled, ${misplaced.length} sessions out of order; ${more}`,
  );
  for (const [what, names] of Object.entries({ lost, doubled, misplaced }))
    if (names.length > 0) say(`  ${what}: ${names.slice(0, MOST_NAMES).join(", ")}`);
}

export const isNothingLost = ({ lost, doubled, misplaced }: Fates): boolean =>
  lost.length + doubled.length + misplaced.length === 0;

export const say = (line: string): void => void process.stdout.write(`${line}\n`);
