// Adds up what other gateways wrote down of model calls, as it comes.
import type { CostFollower, DayOfCosts } from "@clew/store-postgres";
import { type DeletedLine, parseLine, type RenewedLine } from "./line.ts";
import { countInDay, countInSession, countLine, noTotals, type Totals } from "./totals.ts";

export interface OtherTotals {
  /**
   * With all that others told until now. `renewed`: sessions that began anew here, by when; what
   * was spent in them before is in none of it. Rejects where nobody can be asked.
   */
  read(renewed: Totals["renewed"]): Promise<Totals>;
  /** As they were read last. */
  known(): Totals;
}

export function createOtherTotals(follower: CostFollower): OtherTotals {
  let last = noTotals();
  let sums: Sums | undefined;
  let queue: Promise<unknown> = Promise.resolve();
  const readAll = async (renewed: Totals["renewed"]): Promise<Sums> => {
    const all = noSums(renewed);
    let day = "";
    const texts: string[] = [];
    for await (const piece of follower.all()) {
      if (piece.day !== day) countDay(all, day, texts.splice(0));
      day = piece.day;
      texts.push(piece.text);
    }
    countDay(all, day, texts);
    return all;
  };
  /** Undefined: all has to be read. */
  const readOn = async (before: Sums, renewed: Totals["renewed"]): Promise<Sums | undefined> => {
    const more = await follower.more();
    return more !== null && beginAllAnew(before, renewed) && countDays(before, more)
      ? before
      : undefined;
  };
  const read = async (renewed: Totals["renewed"]): Promise<Totals> => {
    const before = sums;
    // Nobody knows how much of it is read where this fails.
    sums = undefined;
    sums = (before && (await readOn(before, renewed))) ?? (await readAll(renewed));
    last = sums.totals;
    return last;
  };
  return {
    read(renewed) {
      const reading = queue.then(() => read(renewed));
      queue = reading.catch(() => undefined);
      return reading;
    },
    known: () => last,
  };
}

interface Sums {
  totals: Totals;
  /** When something was last spent in sessions, ISO 8601. */
  spentAt: Map<string, string>;
}

const noSums = (renewed: Totals["renewed"]): Sums => ({
  totals: { ...noTotals(), renewed: { ...renewed } },
  spentAt: new Map(),
});

/** False: a session began anew before what was counted of it already. */
function countDays(sums: Sums, pieces: readonly DayOfCosts[]): boolean {
  const days = Map.groupBy(pieces, ({ day }) => day);
  return [...days].every(([day, its]) =>
    countDay(
      sums,
      day,
      its.map(({ text }) => text),
    ),
  );
}

/** Lines of several homes, in the order of their times. False: as above. */
function countDay(sums: Sums, day: string, texts: readonly string[]): boolean {
  const { totals, spentAt } = sums;
  const lines = texts.flatMap((text) => text.split("\n").flatMap((line) => parseLine(line) ?? []));
  let isRight = true;
  for (const line of lines.toSorted(byTime))
    if (line.kind === "renewed" || line.kind === "deleted")
      isRight = beginAnew(sums, line) && isRight;
    else if (!("root" in line)) countLine(totals, day, line);
    else {
      countInDay(totals, day, line);
      if (line.at < (totals.renewed[line.root] ?? "")) continue;
      countInSession(totals, line);
      if (line.at > (spentAt.get(line.root) ?? "")) spentAt.set(line.root, line.at);
    }
  return isRight;
}

/** False: more was counted since, which is gone now. */
function beginAnew({ totals, spentAt }: Sums, line: RenewedLine | DeletedLine): boolean {
  const { session, at } = line;
  if (at <= (totals.renewed[session] ?? "")) return true;
  countLine(totals, "", line);
  const isRight = at >= (spentAt.get(session) ?? "");
  if (isRight) spentAt.delete(session);
  return isRight;
}

const beginAllAnew = (sums: Sums, renewed: Totals["renewed"]): boolean =>
  Object.entries(renewed).every(([session, at]) =>
    beginAnew(sums, { ...{ kind: "renewed", v: 1, at, session, archivedAs: null } }),
  );

const byTime = (one: { at: string }, other: { at: string }): number =>
  one.at < other.at ? -1 : one.at > other.at ? 1 : 0;
