// Reads what all homes wrote down of model calls, as if one had.
import { readCosts } from "./ledger.ts";
import { parseLine } from "./line.ts";
import type { DatedLine } from "./usage.ts";

/** Lines of other homes' days, each with its line feed. */
export type OtherCosts = () => AsyncIterable<{ day: string; text: string }>;

/** Oldest first; of this home what its files say now. */
export async function allCosts(home: string, others?: OtherCosts): Promise<DatedLine[]> {
  const lines: DatedLine[] = [];
  for await (const each of readCosts(home)) lines.push(each);
  if (others === undefined) return lines;
  const own = lines.length;
  for await (const { day, text } of others())
    for (const line of text.split("\n"))
      if (line !== "") lines.push({ day, line: parseLine(line) ?? { kind: "unreadable" } });
  return lines.length === own ? lines : lines.sort(byTime);
}

/** Those of a home stay in their order where they say the same time. */
function byTime(one: DatedLine, other: DatedLine): number {
  const [a, b] = [placeOf(one), placeOf(other)];
  return a < b ? -1 : a > b ? 1 : 0;
}

const placeOf = ({ day, line }: DatedLine): string =>
  `${day} ${line.kind === "unreadable" ? "" : line.at}`;
