// Finds the sessions that one started or was started by, and what each came to.
import { formatCount } from "../../src/conversation/format.ts";
import type { Usage } from "../../src/costs/usage.ts";
import { shortName } from "../../src/sessions/keys.ts";
import type { SessionRow } from "../api.ts";
import { isSameSession } from "../page-state.ts";
import { describeCost, sumOfUsage } from "./ledger.ts";

/** Pure. Rows below one that nobody started, up to the next one, if `session` is among them. */
export function familyOf(sessions: readonly SessionRow[], session: string): SessionRow[] {
  const families: SessionRow[][] = [];
  for (const row of sessions)
    if (row.depth === 0) families.push([row]);
    else families.at(-1)?.push(row);
  return families.find((rows) => rows.some(({ key }) => isSameSession(key, session))) ?? [];
}

/** A session of a family, in words. */
export interface FamilyRow {
  key: string;
  name: string;
  depth: number;
  /** The one that is looked at. */
  isShown: boolean;
  /** What it was asked to do; null = a person began it. */
  task: string | null;
  state: string;
  /** Model calls, tokens in and out, and dollars; "…" = not known yet. */
  calls: string;
  sent: string;
  output: string;
  cost: string;
}

/** Pure. `usage`: of the family's first session and all below it; null = not known yet. */
export function planFamily(
  family: readonly SessionRow[],
  session: string,
  usage: Pick<Usage, "sessions"> | null,
): FamilyRow[] {
  return family.map(({ key, label, depth, child, busy }) => {
    const sum = usage?.sessions.find(({ name }) => shortName(name) === shortName(key));
    const figure = (count: number | undefined) =>
      usage === null ? "…" : count === undefined ? "–" : formatCount(count);
    const { input = 0, cacheRead = 0, cacheWrite = 0 } = sum?.tokens ?? {};
    const name = label ?? child?.label ?? shortName(key);
    return {
      ...{ key, name, depth, isShown: isSameSession(key, session), task: child?.task ?? null },
      state: busy ? "replying…" : (child?.state ?? ""),
      calls: figure(sum?.modelCalls),
      sent: figure(sum && input + cacheRead + cacheWrite),
      output: figure(sum?.tokens.output),
      cost:
        sum === undefined
          ? figure(undefined)
          : describeCost(sumOfUsage(sum, { turns: 0, lines: 0 })),
    };
  });
}
