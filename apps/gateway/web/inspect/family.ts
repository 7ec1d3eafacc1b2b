// Finds the sessions that one started or was started by in the list of all.
import type { SessionRow } from "../api.ts";
import { isSameSession } from "../page-state.ts";

/** Pure. Rows below one that nobody started, up to the next one, if `session` is among them. */
export function familyOf(sessions: readonly SessionRow[], session: string): SessionRow[] {
  const families: SessionRow[][] = [];
  for (const row of sessions)
    if (row.depth === 0) families.push([row]);
    else families.at(-1)?.push(row);
  return families.find((rows) => rows.some(({ key }) => isSameSession(key, session))) ?? [];
}
