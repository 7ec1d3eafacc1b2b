// Says in whose name a stored message speaks, for people and models that read it later.
import type { AgentMessage, MessageProvenance } from "../contract/message.ts";

/** The session that sent a message in a person's place; null = which one is not told. */
export interface OtherSession {
  /** Its session key. */
  readonly key: string | null;
}

/** Undefined: no other session did. */
export function otherSessionOf(message: AgentMessage): OtherSession | undefined {
  const provenance = message.role === "user" ? asProvenance(message.provenance) : undefined;
  if (provenance?.kind !== "inter_session") return undefined;
  const { sourceSessionKey: key } = provenance;
  return { key: typeof key === "string" && key.trim() !== "" ? key.trim() : null };
}

/** "person", "model", "session agent:main:main", "result of read_file", … */
export function speakerOf(message: AgentMessage): string {
  switch (message.role) {
    case "user":
      return speakerOfPrompt(message);
    case "assistant":
      return "model";
    case "toolResult":
      return `result of ${message.toolName}`;
    case "bashExecution":
      return "shell";
    default:
      return "host";
  }
}

function speakerOfPrompt(message: AgentMessage): string {
  const other = otherSessionOf(message);
  return other === undefined ? "person" : other.key === null ? "session" : `session ${other.key}`;
}

/** A file may hold anything. */
const asProvenance = (value: unknown): MessageProvenance | undefined =>
  typeof value === "object" && value !== null ? (value as MessageProvenance) : undefined;
