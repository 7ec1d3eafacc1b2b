// Tells which sessions of an agent are open, in one line for each process that has some.
import type { Finding } from "./finding.ts";

/** Pure. `open`: ids of sessions, by the processes that have them. */
export const describeOpen = (
  open: ReadonlyMap<number, readonly string[]>,
  agentId: string,
): Finding[] =>
  [...open].map(([pid, ids]) => {
    const [only] = ids.length === 1 ? ids : [];
    const subject = only === undefined ? `sessions of ${agentId}` : `session ${only}`;
    const which = only === undefined ? `${ids.length} are open` : "open";
    const text = `${which} in process ${pid}; not looked at`;
    return { level: "note", code: "session-in-use", subject, text };
  });
