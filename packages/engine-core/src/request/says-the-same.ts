// Whether two messages say the same to a model, whatever a host remembers of them.
import type { AgentMessage } from "@clew/plugin-sdk/core";

/** What no model is sent: counts of an earlier call, and what only programs read. */
const UNSAID: ReadonlySet<string> = new Set(["usage", "details", "timestamp", "__openclaw"]);

/** Cheap where the content is the same object. */
export function saysTheSame(one: AgentMessage, other: AgentMessage): boolean {
  if (one === other) return true;
  if (one.role !== other.role) return false;
  const fields = (message: AgentMessage) =>
    Object.entries(message).filter(([name]) => !UNSAID.has(name));
  const [left, right] = [fields(one), new Map(fields(other))];
  return (
    left.length === right.size &&
    left.every(([name, value]) => {
      const same = right.get(name);
      return value === same || JSON.stringify(value) === JSON.stringify(same);
    })
  );
}
