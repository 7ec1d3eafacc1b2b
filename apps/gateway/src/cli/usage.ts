// Runs `clew usage`, which says what model calls cost, and what of it was for nothing.
import { describeUsage } from "../costs/describe-usage.ts";
import { namedSession } from "../demo/demo-place.ts";
import { readUsage } from "../demo/demo-usage.ts";
import { pricesIn } from "../models/prices-in.ts";
import { requireSessionName } from "../sessions/name-errors.ts";
import { printable } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { storedSessions } from "./stored-sessions.ts";

/** Reads files and database: a gateway may run or not. */
export async function usage(
  session: string | undefined,
  { json = false }: { json?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const { home } = environment;
  const { sessions: store, records, otherCosts } = await storedSessions(environment);
  const key =
    session === undefined ? undefined : requireSessionName(await namedSession(home, session)).key;
  const sums = await readUsage(
    { home, sessions: store, records, otherCosts },
    await pricesIn(environment),
    key,
  );
  if (key !== undefined && sums.total.modelCalls === 0) {
    if ((await store.find(key)) === null) throw await store.notFound(session ?? key);
  }
  if (json) output.json(sums);
  else output.line(printable(describeUsage(sums, key)));
  return 0;
}
