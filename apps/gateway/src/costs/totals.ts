// What sessions, agents and days came to, line by line.
import { z } from "zod";
import { rounded } from "./cost.ts";
import type { BegunLine, CallLine, CostLine, DeletedLine, RenewedLine, WasteLine } from "./line.ts";
import { addWaste, noWaste, sumOfWaste, WasteByCauseSchema } from "./usage.ts";

const SpentSchema = z.object({
  dollars: z.number(),
  /** Calls whose cost is not known; their dollars are not in it. */
  unknown: z.number(),
  /** Calls, each of their tries that was not refused, and side calls. */
  modelCalls: z.number(),
});
/** What calls came to. */
export type Spent = z.infer<typeof SpentSchema>;

const SessionSpentSchema = SpentSchema.extend({
  /** Tokens of all prompts, and those of them that came from a cache. */
  prompt: z.number(),
  fromCache: z.number(),
  /** Of `dollars`: side calls. */
  summariser: z.number(),
  /** Of `dollars`: what was for nothing. */
  waste: WasteByCauseSchema,
  /** Calls that began, and of whose end nothing is written down: they are in no other number. */
  unended: z.number(),
});
/** The same of a session with all that it started. */
export type SessionSpent = z.infer<typeof SessionSpentSchema>;

export const TotalsSchema = z.object({
  /** By the session that nobody started, until it is deleted. */
  sessions: z.record(z.string(), SessionSpentSchema),
  /** By day and agent; the newest days only. */
  days: z.record(z.string(), z.record(z.string(), SpentSchema)),
  /** Calls that began and whose end is not told yet: by id, the session that nobody started. */
  open: z.record(z.string(), z.string()),
  /** Caps of which somebody was told, by when (day). */
  warned: z.record(z.string(), z.string()),
  /** When sessions last began anew, ISO 8601. */
  renewed: z.record(z.string(), z.string()),
  /** Those of them that were deleted since, newest last. */
  gone: z.array(z.string()),
});
/** Small: it grows with the sessions that there are, not with what they say. */
export type Totals = z.infer<typeof TotalsSchema>;

const KEPT_DAYS = 2;
/**
 * Of so many deleted sessions it is known when: other gateways may tell late what was spent in
 * them.
 */
const MOST_GONE = 1_000;

export const noTotals = (): Totals => ({
  ...{ sessions: {}, days: {}, open: {}, warned: {}, renewed: {}, gone: [] },
});
export const NOTHING: Spent = { dollars: 0, unknown: 0, modelCalls: 0 };
export const nothingSpent = (): SessionSpent => ({
  ...NOTHING,
  ...{ prompt: 0, fromCache: 0, summariser: 0, waste: noWaste() },
  unended: 0,
});

/** Changes `totals` by one line of a day. */
export function countLine(totals: Totals, day: string, line: CostLine): void {
  if (line.kind === "warned") totals.warned[line.cap] = day;
  else if (line.kind === "renewed") beginAnew(totals, line);
  else if (line.kind === "deleted") goAway(totals, line);
  else if (line.kind !== "played") {
    countInSession(totals, line);
    countInDay(totals, day, line);
  }
}

/** Changes `totals` by a line of a session. */
export function countInSession(totals: Totals, line: BegunLine | CallLine | WasteLine): void {
  comeBack(totals, line.root);
  if (line.kind === "begun") {
    totals.open[line.id] = line.root;
    addUnended(totals, line.root, 1);
  } else if (line.kind === "waste") {
    totals.sessions[line.root] ??= nothingSpent();
    addWaste(totals.sessions[line.root]!.waste, line);
  } else {
    const { root, input, cacheRead, cacheWrite, cost } = line;
    if (line.id !== undefined) endCall(totals, line.id);
    const before = totals.sessions[root] ?? nothingSpent();
    totals.sessions[root] = {
      ...before,
      ...addSpent(before, cost?.total),
      prompt: before.prompt + input + cacheRead + cacheWrite,
      fromCache: before.fromCache + cacheRead,
      summariser: rounded(before.summariser + (cost?.summariser ?? 0)),
    };
  }
}

/** Changes `totals` by a line of a day alone. */
export function countInDay(
  totals: Totals,
  day: string,
  line: BegunLine | CallLine | WasteLine,
): void {
  if (line.kind !== "call") return;
  totals.days[day] ??= {};
  const before = totals.days[day][line.agent] ?? NOTHING;
  totals.days[day][line.agent] = addSpent(before, line.cost?.total);
  forgetOldDays(totals);
}

function addUnended({ sessions }: Totals, root: string, more: number): void {
  const before = sessions[root] ?? nothingSpent();
  sessions[root] = { ...before, unended: before.unended + more };
}

function endCall(totals: Totals, id: string): void {
  const root = totals.open[id];
  if (root !== undefined) addUnended(totals, root, -1);
  delete totals.open[id];
}

function beginAnew(
  totals: Totals,
  { session, at }: Pick<RenewedLine | DeletedLine, "session" | "at">,
): void {
  const { sessions, open, warned, renewed } = totals;
  comeBack(totals, session);
  delete sessions[session];
  renewed[session] = at;
  for (const [id, root] of Object.entries(open)) if (root === session) delete open[id];
  for (const cap of Object.keys(warned))
    if (cap.startsWith(`session ${session} `)) delete warned[cap];
}

function goAway(totals: Totals, line: DeletedLine): void {
  beginAnew(totals, line);
  totals.gone.push(line.session);
  for (const old of totals.gone.splice(0, totals.gone.length - MOST_GONE))
    delete totals.renewed[old];
}

/** Whoever takes the name of a deleted session. */
function comeBack(totals: Totals, session: string): void {
  if (totals.renewed[session] !== undefined)
    totals.gone = totals.gone.filter((name) => name !== session);
}

/** Of all agents. */
export function spentOn(totals: Totals, day: string): Spent {
  const agents = Object.values(totals.days[day] ?? {});
  return agents.reduce(sumOfSpent, NOTHING);
}

/** Pure. What two of them came to in a session. */
export function sumOfSessions(one: SessionSpent, other: SessionSpent): SessionSpent {
  const sum = (part: Exclude<keyof SessionSpent, "waste">) => rounded(one[part] + other[part]);
  return {
    ...{ dollars: sum("dollars"), unknown: sum("unknown"), modelCalls: sum("modelCalls") },
    ...{ prompt: sum("prompt"), fromCache: sum("fromCache"), summariser: sum("summariser") },
    ...{ waste: sumOfWaste(one.waste, other.waste), unended: sum("unended") },
  };
}

/** Pure. */
export const sumOfSpent = (one: Spent, other: Spent): Spent => ({
  dollars: rounded(one.dollars + other.dollars),
  unknown: one.unknown + other.unknown,
  modelCalls: one.modelCalls + other.modelCalls,
});

function addSpent({ dollars, unknown, modelCalls }: Spent, more: number | undefined): Spent {
  return {
    dollars: rounded(dollars + (more ?? 0)),
    unknown: unknown + (more === undefined ? 1 : 0),
    modelCalls: modelCalls + 1,
  };
}

function forgetOldDays({ days, warned }: Totals): void {
  const old = Object.keys(days).toSorted().slice(0, -KEPT_DAYS);
  for (const day of old) delete days[day];
  // A warning of a session stands as long as the session.
  for (const [cap, day] of Object.entries(warned))
    if (!cap.startsWith("session ") && old.includes(day)) delete warned[cap];
}
