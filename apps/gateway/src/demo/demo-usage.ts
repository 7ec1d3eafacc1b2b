// Sums what was spent, or what the demo or a replay would have cost where it is asked for.
import { allCosts, type OtherCosts } from "../costs/all-costs.ts";
import { readCosts } from "../costs/ledger.ts";
import { dayOf } from "../costs/line.ts";
import { type DatedLine, sumUsage, type Usage } from "../costs/usage.ts";
import type { PricesOf } from "../inspect/cost.ts";
import { createSessionCalls } from "../inspect/session-calls.ts";
import type { CallRow } from "../inspect/shapes/calls.ts";
import { findInNewest } from "../reports/read-reports.ts";
import { agentPaths, transcriptFile } from "../sessions/paths.ts";
import { readAllEntries } from "../sessions/read-transcript.ts";
import type { SessionStore } from "../sessions/store.ts";
import { DEMO_AGENT, DEMO_KEY, demoState } from "./demo-place.ts";

/** Where costs, sessions and their reports are. */
export interface UsageSources {
  /** Where the costs of its own gateway are. */
  home: string;
  sessions: SessionStore;
  /** As of `Storage`. */
  records: string;
  /** As of `Storage`. Absent: there are no other homes. */
  otherCosts?: OtherCosts | undefined;
}

/**
 * Of all sessions, or of the one with this canonical key and those it started. Nobody was asked
 * for the demo, nor for what was replayed, so they are in no sum but their own; what a person goes
 * on to say in one costs, and is. `underWay`: ids of calls that go on in this process.
 */
export async function readUsage(
  of: UsageSources,
  pricesOf: PricesOf,
  session?: string,
  underWay?: ReadonlySet<string>,
): Promise<Usage> {
  const { home, otherCosts } = of;
  const isMade = (await demoState(home)) === "made";
  if (isMade && session === DEMO_KEY) return usageByReports(of, pricesOf, session, "demo");
  const lines = await allCosts(home, otherCosts);
  const played = lines.flatMap(({ line }) => (line.kind === "played" ? [line.session] : []));
  const usage = await sumUsage(lines, session, underWay);
  const isNothing = usage.total.modelCalls + usage.total.unended === 0;
  if (isNothing && session !== undefined && played.includes(session))
    return usageByReports(of, pricesOf, session, "replayed");
  const notCounted =
    session === undefined
      ? [...(isMade ? [DEMO_KEY] : []), ...played]
      : played.filter((key) => key === session);
  const untold = isNothing ? await countForgotten(of, { session, notCounted }) : 0;
  return { ...usage, notCounted, untold: { ...usage.untold, sessions: untold } };
}

/** Sessions whose reports tell of model calls: what these cost was written down, and is gone. */
async function countForgotten(
  { sessions, records }: UsageSources,
  { session, notCounted }: { session: string | undefined; notCounted: readonly string[] },
): Promise<number> {
  let forgotten = 0;
  for (const { key, agentId, sessionId } of await sessions.list()) {
    if (notCounted.includes(key) || (session !== undefined && session !== key)) continue;
    const { reports } = agentPaths(records, agentId);
    const isAsked = await findInNewest(
      ...([reports, sessionId] as const),
      (found) => found.some(({ report }) => report.modelCalls.length > 0) || undefined,
    );
    if (isAsked === true) forgotten++;
  }
  return forgotten;
}

/** Why nobody paid for a session's calls; null = they were paid. */
export async function whyUnpaid(home: string, key: string): Promise<Usage["unpaid"]> {
  if (key === DEMO_KEY) return (await demoState(home)) === "made" ? "demo" : null;
  let isPlayed = false;
  for await (const { line } of readCosts(home)) {
    if (!("session" in line) || line.session !== key) continue;
    if (line.kind === "played") isPlayed = true;
    // What a person goes on to say in it costs.
    if (line.kind === "call") return null;
  }
  return isPlayed ? "replayed" : null;
}

/** What was never written down, as it was not paid. */
async function usageByReports(
  { sessions, records }: UsageSources,
  pricesOf: PricesOf,
  key: string,
  unpaid: NonNullable<Usage["unpaid"]>,
): Promise<Usage> {
  const found = await sessions.read(key);
  if (found === null) return { ...(await sumUsage([])), unpaid };
  const { agentId, sessionId, branch } = found;
  const source = {
    ...{ folder: agentPaths(records, agentId).reports, sessionId, branch },
    allEntries: () => readAllEntries(transcriptFile(records, agentId, sessionId)),
  };
  const calls = createSessionCalls(source, pricesOf);
  await calls.refresh(source);
  const usage = await sumUsage(calls.rows.flatMap((row) => linesOf(row, { key, agentId })));
  const { unreadable, letGo } = calls;
  const turns = unreadable.length + (await calls.missing()).length + letGo;
  return { ...usage, unpaid, untold: { turns, lines: 0, sessions: 0 } };
}

/** Pure. A call, and what it paid for nothing, as they would have been written down then. */
export function linesOf(
  row: CallRow,
  { key, agentId } = { key: DEMO_KEY, agentId: DEMO_AGENT },
): DatedLine[] {
  const { startedAt, tokens, cache, isCounted, outputTokens, cost, error, model, engine } = row;
  const [cacheRead, cacheWrite] = [cache?.read ?? 0, cache?.written ?? 0];
  const day = dayOf(Date.parse(startedAt));
  const who = {
    ...{ v: 1 as const, at: startedAt, agent: agentId, engine, model },
    ...{ session: key, root: key },
  };
  const wasted = row.waste.map((waste): DatedLine => {
    return { day, line: { kind: "waste", ...who, calls: 1, ...waste } };
  });
  return [
    {
      day,
      line: {
        ...{ kind: "call", ...who, for: "reply", plugin: null },
        input: isCounted ? Math.max(0, tokens.total - cacheRead - cacheWrite) : 0,
        ...{ cacheRead, cacheWrite, output: outputTokens ?? 0, cost, failure: error },
      },
    },
    ...wasted,
  ];
}
