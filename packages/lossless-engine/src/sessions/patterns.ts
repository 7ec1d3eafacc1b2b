// Which sessions a pattern names.

/** The sessions that answer questions about others: what they read is stored there already. */
export const RECALL_SESSION = {
  pattern: "agent:*:subagent:lcm-recall-*",
  key: (agentId: string, id: string): string => `agent:${agentId}:subagent:lcm-recall-${id}`,
} as const;

/** True when one of the patterns names the key: `*` stands for no colon, `**` for anything. */
export function namesSession(patterns: readonly string[], sessionKey: string | undefined): boolean {
  return sessionKey !== undefined && patterns.some((pattern) => fits(pattern, sessionKey));
}

/** Sign by sign, so that no pattern takes longer than its length for each sign of the key. */
function fits(pattern: string, key: string): boolean {
  const parts = pattern.match(/\*\*+|[\s\S]/gu) ?? [];
  const signs = [...key];
  /** At which signs of the key the parts so far may end. */
  let ends = new Set([0]);
  for (const part of parts) {
    const next = new Set<number>();
    for (const end of ends) {
      if (!part.startsWith("*")) {
        if (signs[end] === part) next.add(end + 1);
        continue;
      }
      for (let at = end; at <= signs.length && !next.has(at); at++) {
        next.add(at);
        if (part === "*" && signs[at] === ":") break;
      }
    }
    ends = next;
  }
  return ends.has(signs.length);
}
