// Sums what was spent, and what the demo would have cost where it alone is asked for.
import { readCosts } from "../costs/ledger.ts";
import { dayOf } from "../costs/line.ts";
import { type DatedLine, sumUsage, type Usage } from "../costs/usage.ts";
import type { PricesOf } from "../inspect/cost.ts";
import { createSessionCalls } from "../inspect/session-calls.ts";
import type { CallRow } from "../inspect/shapes.ts";
import { agentPaths, transcriptFile } from "../sessions/paths.ts";
import { readAllEntries } from "../sessions/read-transcript.ts";
import { createSessionStore } from "../sessions/store.ts";
import { DEMO_AGENT, DEMO_KEY, demoState } from "./demo-place.ts";

/**
 * Of all sessions, or of the one with this canonical key and those it started. Nobody was asked for
 * the demo, so it is in no sum but its own; what a person goes on to say in it costs, and is.
 */
export async function readUsage(
  home: string,
  pricesOf: PricesOf,
  session?: string,
): Promise<Usage> {
  const isMade = (await demoState(home)) === "made";
  if (isMade && session === DEMO_KEY) return sumUsage(await demoLines(home, pricesOf));
  const usage = await sumUsage(readCosts(home), session);
  return { ...usage, notCounted: isMade && session === undefined ? [DEMO_KEY] : [] };
}

async function demoLines(home: string, pricesOf: PricesOf): Promise<DatedLine[]> {
  const found = await createSessionStore({ home }).read(DEMO_KEY);
  if (found === null) return [];
  const { sessionId, branch } = found;
  const source = {
    ...{ folder: agentPaths(home, DEMO_AGENT).reports, sessionId, branch },
    allEntries: () => readAllEntries(transcriptFile(home, DEMO_AGENT, sessionId)),
  };
  const calls = createSessionCalls(source, pricesOf);
  await calls.refresh(source);
  return calls.rows.flatMap(linesOf);
}

/** Pure. A call, and what it paid for nothing, as they would have been written down then. */
export function linesOf(row: CallRow): DatedLine[] {
  const { startedAt, tokens, cache, isCounted, outputTokens, cost, error, model, engine } = row;
  const [cacheRead, cacheWrite] = [cache?.read ?? 0, cache?.written ?? 0];
  const day = dayOf(Date.parse(startedAt));
  const who = {
    ...{ v: 1 as const, at: startedAt, agent: DEMO_AGENT, engine, model },
    ...{ session: DEMO_KEY, root: DEMO_KEY },
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
