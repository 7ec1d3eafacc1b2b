// Says in whose name a stored message speaks, for people and models that read it later.
import type { AgentMessage, MessageProvenance } from "../contract/message.ts";
import { textOf } from "./text.ts";

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

/** As hosts mark where words of another session end, in brackets of any width. */
const END = /[[［]\s*(End of the inter-session message)\s*[\]］]/gi;

/**
 * What a message says, to be quoted under its speaker: words of another session cannot end the mark
 * that they are its.
 */
export function quotedTextOf(message: AgentMessage): string {
  const text = textOf(message);
  return otherSessionOf(message) === undefined ? text : text.replace(END, "($1)");
}

/** A request word for word, as a record quotes it; where no person asked, that stands before it. */
export function requestTextOf(message: AgentMessage): string {
  const other = otherSessionOf(message);
  if (other === undefined) return textOf(message);
  const who = other.key === null ? "Another session" : `Another session (${other.key})`;
  return `${who} asked for this, and no person:\n${quotedTextOf(message)}`;
}

function speakerOfPrompt(message: AgentMessage): string {
  const other = otherSessionOf(message);
  return other === undefined ? "person" : other.key === null ? "session" : `session ${other.key}`;
}

/** A file may hold anything. */
const asProvenance = (value: unknown): MessageProvenance | undefined =>
  typeof value === "object" && value !== null ? (value as MessageProvenance) : undefined;
