// Adds up what was spent by session, engine, model and day.
import { z } from "zod";
import { addCosts, CostSchema, NO_COST, rounded } from "./cost.ts";
import type { CallLine, CostLine, WasteCause, WasteLine } from "./line.ts";

const count = z.int().nonnegative();
const dollars = z.number().nonnegative();

/** Tokens as providers counted them. */
export const TokenSumsSchema = z.object({
  ...{ input: count, cacheRead: count, cacheWrite: count, output: count },
});

export const WasteSumSchema = z.object({
  calls: count,
  tokens: count,
  /** Of what is known. */
  dollars,
});

/** What was for nothing, by cause. */
export const WasteByCauseSchema = z.object({
  brokenPrefix: WasteSumSchema,
  /** A cache had forgotten it by then: nobody's mistake, but waiting less had cost less. */
  afterPause: WasteSumSchema,
  resent: WasteSumSchema,
  overFull: WasteSumSchema,
});

/** What some model calls came to. */
export const UsageSumSchema = z.object({
  /** Calls, each of their tries that was not refused, and side calls. */
  modelCalls: count,
  /** Of those: without an answer. */
  failed: count,
  /** Of those: side calls, which asked for a summary or the like. */
  sideCalls: count,
  /** Calls whose cost is not known: it is in none of the dollars. */
  unknown: count,
  /** Calls whose provider did not count them, as where one broke off: they are estimated. */
  estimated: count,
  /**
   * Calls that began, and of whose end nothing is written down, as the gateway ended in them, or
   * another process is in them: they are in no other number, which is "at least" then.
   */
  unended: count,
  /** Of all calls. */
  tokens: TokenSumsSchema,
  /** Of side calls alone. */
  sideTokens: TokenSumsSchema,
  /** Dollars. */
  cost: CostSchema,
  /** Part of the cost, not beside it. */
  waste: WasteByCauseSchema,
});

const NamedSumSchema = UsageSumSchema.extend({ name: z.string() });

/** Each list is sorted: days by date, the others by cost. */
export const UsageSchema = z.object({
  total: UsageSumSchema,
  sessions: z.array(NamedSumSchema),
  engines: z.array(NamedSumSchema),
  models: z.array(NamedSumSchema),
  days: z.array(NamedSumSchema),
  /** Sessions for which nobody was asked, as the demo and replays: they are in none of it. */
  notCounted: z.array(z.string()),
  /** Nobody was asked, so nothing was paid: it is what it would have cost. Null: it was paid. */
  unpaid: z.enum(["demo", "replayed"]).nullable(),
  /** What nobody can read any more; what it cost is in no sum, so each is at least so much. */
  untold: z.object({
    /** Turns of a session that is told by its reports. */
    turns: count,
    /** Lines of what was written down. */
    lines: count,
    /** Sessions that asked a model, where nothing at all is written down. */
    sessions: count,
  }),
});

export type TokenSums = z.infer<typeof TokenSumsSchema>;
export type WasteSum = z.infer<typeof WasteSumSchema>;
export type WasteByCause = z.infer<typeof WasteByCauseSchema>;
export type UsageSum = z.infer<typeof UsageSumSchema>;
export type NamedSum = z.infer<typeof NamedSumSchema>;
export type Usage = z.infer<typeof UsageSchema>;

/** Where engines have nothing to do with a call. */
export const NO_ENGINE = "none";

const noTokens = (): TokenSums => ({ input: 0, cacheRead: 0, cacheWrite: 0, output: 0 });
const none = (): WasteSum => ({ calls: 0, tokens: 0, dollars: 0 });
export const noWaste = (): WasteByCause => ({
  ...{ brokenPrefix: none(), afterPause: none(), resent: none(), overFull: none() },
});
const nothing = (): UsageSum => ({
  ...{ modelCalls: 0, failed: 0, sideCalls: 0, unknown: 0, estimated: 0, unended: 0 },
  ...{ tokens: noTokens(), sideTokens: noTokens(), cost: NO_COST },
  waste: noWaste(),
});

/** A day's line. */
export interface DatedLine {
  /** YYYY-MM-DD. */
  day: string;
  line: CostLine | UnreadableLine;
}

/** Nobody knows of whom. */
export interface UnreadableLine {
  kind: "unreadable";
}

/**
 * Pure, but for reading `lines`, which come oldest first. `session`: of this one and those it
 * started; absent: of all. What a session cost before it began anew is its archive's. `underWay`:
 * ids of calls of which this process knows that they go on.
 */
export async function sumUsage(
  lines: AsyncIterable<DatedLine> | Iterable<DatedLine>,
  session?: string,
  underWay: ReadonlySet<string> = new Set(),
): Promise<Usage> {
  const total = nothing();
  const sessions = new Map<string, UsageSum>();
  const engines = new Map<string, UsageSum>();
  const models = new Map<string, UsageSum>();
  const days = new Map<string, UsageSum>();
  /** What tells of a call that began, by its id, until its end is told. */
  const open = new Map<string, readonly UsageSum[]>();
  let unreadable = 0;
  for await (const { day, line } of await linesOf(lines, session)) {
    if (line.kind === "unreadable") unreadable++;
    if (line.kind === "renewed") rename(sessions, line.session, line.archivedAs);
    if (line.kind !== "call" && line.kind !== "waste" && line.kind !== "begun") continue;
    const sums = [
      ...[total, sumIn(sessions, line.session), sumIn(engines, line.engine ?? NO_ENGINE)],
      ...[sumIn(models, line.model), sumIn(days, day)],
    ];
    if (line.kind === "begun") {
      if (!underWay.has(line.id)) open.set(line.id, sums);
      continue;
    }
    for (const sum of sums) addLine(sum, line);
    if (line.kind === "call" && line.id !== undefined) open.delete(line.id);
  }
  for (const sum of [...open.values()].flat()) sum.unended++;
  return {
    total,
    sessions: byCost(sessions),
    engines: byCost(engines),
    models: byCost(models),
    days: named(days).toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    notCounted: [],
    unpaid: null,
    untold: { turns: 0, lines: unreadable, sessions: 0 },
  };
}

/** Of one session: what it is since it began anew, or what it was until then. */
async function linesOf(
  lines: AsyncIterable<DatedLine> | Iterable<DatedLine>,
  session: string | undefined,
): Promise<AsyncIterable<DatedLine> | Iterable<DatedLine>> {
  if (session === undefined) return lines;
  const found = new Map<string, DatedLine[]>();
  const unreadable: DatedLine[] = [];
  for await (const each of lines) {
    const { line } = each;
    if (line.kind === "unreadable") unreadable.push(each);
    if (line.kind === "renewed") {
      const before = found.get(line.session);
      found.delete(line.session);
      if (before !== undefined && line.archivedAs !== null) found.set(line.archivedAs, before);
    } else if (line.kind === "call" || line.kind === "waste" || line.kind === "begun")
      for (const name of new Set([line.session, line.root]))
        if (session === name || isArchiveOf(session, name))
          if (found.get(name)?.push(each) === undefined) found.set(name, [each]);
  }
  return [...(found.get(session) ?? []), ...unreadable];
}

const isArchiveOf = (session: string, name: string) => session.startsWith(`${name}.`);

function addLine(sum: UsageSum, line: CallLine | WasteLine): void {
  if (line.kind === "waste") {
    addWaste(sum.waste, line);
    return;
  }
  const isSide = line.for !== "reply";
  sum.modelCalls++;
  if (line.failure !== null) sum.failed++;
  if (isSide) sum.sideCalls++;
  if (line.isEstimated === true) sum.estimated++;
  if (line.cost === null) sum.unknown++;
  else sum.cost = addCosts([sum.cost, line.cost]);
  addTokens(sum.tokens, line);
  if (isSide) addTokens(sum.sideTokens, line);
}

/** Changes `waste`. */
export function addWaste(waste: WasteByCause, line: WasteLine): void {
  const sum = waste[PARTS[line.cause]];
  sum.calls += line.calls;
  sum.tokens += line.tokens;
  sum.dollars = rounded(sum.dollars + (line.dollars ?? 0));
}

/** Pure. */
export function sumOfWaste(one: WasteByCause, other: WasteByCause): WasteByCause {
  const sum = (cause: keyof WasteByCause): WasteSum => ({
    calls: one[cause].calls + other[cause].calls,
    tokens: one[cause].tokens + other[cause].tokens,
    dollars: rounded(one[cause].dollars + other[cause].dollars),
  });
  return {
    ...{ brokenPrefix: sum("brokenPrefix"), afterPause: sum("afterPause") },
    ...{ resent: sum("resent"), overFull: sum("overFull") },
  };
}

const PARTS = {
  "broken-prefix": "brokenPrefix",
  "after-pause": "afterPause",
  "re-sent": "resent",
  "over-full": "overFull",
} as const satisfies Record<WasteCause, keyof WasteByCause>;

function addTokens(sums: TokenSums, { input, cacheRead, cacheWrite, output }: TokenSums): void {
  sums.input += input;
  sums.cacheRead += cacheRead;
  sums.cacheWrite += cacheWrite;
  sums.output += output;
}

function sumIn(sums: Map<string, UsageSum>, name: string): UsageSum {
  const sum = sums.get(name) ?? nothing();
  sums.set(name, sum);
  return sum;
}

function rename(sums: Map<string, UsageSum>, name: string, to: string | null): void {
  const sum = sums.get(name);
  sums.delete(name);
  if (sum !== undefined) sums.set(to ?? name, sum);
}

const named = (sums: ReadonlyMap<string, UsageSum>): NamedSum[] =>
  [...sums].map(([name, sum]) => ({ name, ...sum }));

const byCost = (sums: ReadonlyMap<string, UsageSum>): NamedSum[] =>
  named(sums).toSorted((one, other) => other.cost.total - one.cost.total);
