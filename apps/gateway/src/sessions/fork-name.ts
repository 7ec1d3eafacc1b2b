// Names a session that begins as a copy of another one.
import { parseSessionName } from "./keys.ts";

/** The first key of the same agent that nobody has: "agent:main:main-fork-1". */
export async function keyOfFork(
  key: string,
  isTaken: (key: string) => Promise<boolean>,
): Promise<string> {
  const { agentId, name } = parseSessionName(key)!;
  for (let number = 1; ; number++) {
    const candidate = `agent:${agentId}:${name}-fork-${number}`;
    if (!(await isTaken(candidate))) return candidate;
  }
}
