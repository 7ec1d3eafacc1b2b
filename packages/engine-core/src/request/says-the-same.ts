// Knows what of a message a model is sent, and whether two messages say the same to it.
import type { AgentMessage } from "@clew/plugin-sdk/core";

/** What no model is sent: what a host remembers of a message, and what only programs read. */
const UNSAID: ReadonlySet<string> = new Set([
  ...["usage", "details", "timestamp", "__openclaw", "errorMessage", "prunedAt"],
]);

/**
 * What of a message a model is sent: without counts of tokens, times, ids and details for programs.
 * The content hashes of reports are taken of it as JSON, so what nobody is sent changes none.
 */
export const whatIsSaid = (message: AgentMessage): AgentMessage =>
  Object.fromEntries(saidFields(message)) as unknown as AgentMessage;

/** Cheap where the content is the same object. */
export function saysTheSame(one: AgentMessage, other: AgentMessage): boolean {
  if (one === other) return true;
  if (one.role !== other.role) return false;
  const [left, right] = [saidFields(one), new Map(saidFields(other))];
  return (
    left.length === right.size &&
    left.every(([name, value]) => {
      const same = right.get(name);
      return value === same || JSON.stringify(value) === JSON.stringify(same);
    })
  );
}

const saidFields = (message: AgentMessage): [name: string, value: unknown][] =>
  Object.entries(message).filter(([name]) => !UNSAID.has(name));
