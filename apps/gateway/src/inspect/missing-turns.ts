// Tells of the turns that have no report.
import { addCosts } from "../costs/cost.ts";
import type { PaidLine } from "../costs/paid-since.ts";
import { countReports, findInNewest } from "../reports/read-reports.ts";
import { callsByPrompt, planUntold, type UntoldTurn } from "../reports/untold-turns.ts";
import { originOf } from "../sessions/origin.ts";
import type { SessionSource } from "./session-source.ts";
import type { MissingTurn } from "./shapes/calls.ts";

/** What reports tell of, and what they do not. */
export interface ToldTurns extends Pick<MissingAsked, "gone" | "unreadable" | "letGo" | "newest"> {
  /** With the entry that began each, and how many calls it made; a turn may be there many times. */
  turns: readonly { promptEntryId: string | null; turn: number; calls: number }[];
}

export async function findMissing(
  { branch, paidSince }: Pick<SessionSource, "branch" | "paidSince">,
  { turns, ...told }: ToldTurns,
): Promise<MissingTurn[]> {
  const untold = planUntold(branch, callsByPrompt(turns));
  const [oldest] = untold;
  const paid = (oldest && (await paidSince?.(oldest.at))) ?? [];
  return planMissing({ ...told, untold, turnOf: turnsByPrompt(turns), paid });
}

/** Pure. Ordinals of turns by the entry that began them. */
export function turnsByPrompt(turns: ToldTurns["turns"]): Map<string, number> {
  const found = new Map<string, number>();
  for (const { promptEntryId, turn } of turns)
    if (promptEntryId !== null) found.set(promptEntryId, turn);
  return found;
}

/** Those behind the newest report, at the cost of the newest reports alone. */
export async function findMissingAtEnd(
  source: Pick<SessionSource, "folder" | "sessionId" | "branch" | "paidSince" | "underWay">,
): Promise<MissingTurn[]> {
  const { folder, sessionId, branch, underWay } = source;
  const count = await countReports(folder, sessionId);
  const reports = await findInNewest(folder, sessionId, (found) => found.at(0) && found);
  const newest = reports?.at(-1)?.turn ?? count;
  const told = (reports ?? []).map(({ report, turn = 0 }) => {
    return { promptEntryId: report.promptEntryId, turn, calls: report.modelCalls.length };
  });
  const prompts = new Set(told.map(({ promptEntryId }) => promptEntryId));
  const last = branch.findLastIndex(
    (entry) => prompts.has(entry.id) || prompts.has(originOf(entry)),
  );
  // Where the newest reports are of another branch nobody knows what is behind them.
  if (last < 0 && told.length > 0) return [];
  const running = underWay && {
    ...{ promptEntryId: underWay.report.promptEntryId, turn: underWay.turn, calls: Infinity },
  };
  const unreadable = Array.from({ length: count - newest }, (_, at) => newest + at + 1);
  return findMissing(
    { ...source, branch: branch.slice(Math.max(0, last)) },
    {
      ...{ turns: running === undefined ? told : [...told, running], unreadable },
      ...{ gone: [], letGo: 0, newest: count },
    },
  );
}

export interface MissingAsked {
  /** Turns of the branch of which no report tells, oldest first. */
  untold: readonly UntoldTurn[];
  /** Ordinals of told turns by the entry that began them. */
  turnOf: ReadonlyMap<string, number>;
  /** Ordinals that no report has, ascending, and those whose reports nobody can read. */
  gone: readonly number[];
  unreadable: readonly number[];
  /** How many turns, from the first on, were let go. */
  letGo: number;
  /** The ordinal of the newest turn. */
  newest: number;
  /** What was written down of the session's model calls. */
  paid: readonly PaidLine[];
}

/**
 * Pure. Oldest first. What stands before the first told turn may come from elsewhere: it was a turn
 * here where calls of it were paid.
 */
export function planMissing(asked: MissingAsked): MissingTurn[] {
  const { untold, turnOf, gone, unreadable, letGo, newest } = asked;
  const numbers = new Set(gone);
  const missing: MissingTurn[] = [];
  for (const group of gapsOf(untold)) {
    const after = group[0]!.after === null ? letGo : turnOf.get(group[0]!.after)!;
    const before = group[0]!.before === null ? Infinity : turnOf.get(group[0]!.before)!;
    const isIn = (turn: number) => turn > after && turn < before;
    const own = gone.filter(isIn);
    const damaged = unreadable.filter(isIn);
    const proven = group[0]!.after === null ? ofHere(group, own.length, asked) : group;
    // Nobody knows which of them the damaged reports told of.
    const turns = proven.slice(Math.min(damaged.length, Math.max(0, proven.length - own.length)));
    for (const [index, turn] of turns.entries()) {
      // What is behind the newest report keeps the numbers that are free up to the one that runs.
      const behind = before > newest && group[0]!.after !== null;
      const next = behind ? newest + index + 1 - own.length : null;
      const number = own[index] ?? next;
      if (own[index] !== undefined) numbers.delete(own[index]);
      missing.push(missingOf(turn, number, asked.paid));
    }
  }
  for (const turn of numbers) missing.push({ ...NOTHING_KNOWN, turn });
  return missing.toSorted((one, other) => (one.turn ?? Infinity) - (other.turn ?? Infinity));
}

const NOTHING_KNOWN = {
  ...{ promptEntryId: null, at: null, replies: null, calls: null, unended: 0, cost: null },
};

/** Those between the same told turns. */
function gapsOf(untold: readonly UntoldTurn[]): UntoldTurn[][] {
  const gaps: UntoldTurn[][] = [];
  for (const turn of untold) {
    const gap = gaps.at(-1);
    if (gap?.at(0)?.after === turn.after) gap.push(turn);
    else gaps.push([turn]);
  }
  return gaps;
}

function ofHere(
  turns: readonly UntoldTurn[],
  gone: number,
  { letGo, paid }: Pick<MissingAsked, "letGo" | "paid">,
): readonly UntoldTurn[] {
  const proven = letGo > 0 ? [] : turns.filter((turn) => paidFor(turn, paid).length > 0);
  return proven.length >= gone ? proven : turns.slice(-gone);
}

function paidFor({ at, until }: UntoldTurn, paid: readonly PaidLine[]): PaidLine[] {
  const [from, to] = [Date.parse(at), until === null ? Infinity : Date.parse(until)];
  return paid.filter((line) => Date.parse(line.at) >= from && Date.parse(line.at) < to);
}

function missingOf(
  turn: UntoldTurn,
  number: number | null,
  paid: readonly PaidLine[],
): MissingTurn {
  const lines = paidFor(turn, paid);
  const calls = lines.filter((line) => line.kind === "call");
  const costs = calls.flatMap(({ cost }) => cost ?? []);
  return {
    ...{ turn: number, promptEntryId: turn.promptEntryId, at: turn.at, replies: turn.replies },
    calls: lines.length === 0 ? null : calls.length,
    unended: lines.length - calls.length,
    cost: costs.length === 0 ? null : addCosts(costs),
  };
}
