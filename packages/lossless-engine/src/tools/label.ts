// How a stored message is named to a model.
import type { StoredMessage } from "../store/rows.ts";

/** Its number, by which it is asked for, and what helps to tell it from others. */
export function labelOf({ seq, name, turn, conversation, message, isHeartbeat }: StoredMessage) {
  const { role, timestamp } = message;
  const time =
    typeof timestamp === "number" && Math.abs(timestamp) < MOST_MS
      ? [new Date(timestamp).toISOString().slice(0, 16).replace("T", " ")]
      : [];
  return [
    `#${seq}`,
    ...(/^(?:json|key):/.test(name) ? [] : [`id ${name}`]),
    role === "toolResult" ? `result of ${message.toolName}` : role,
    ...(isHeartbeat ? ["heartbeat"] : []),
    `turn ${turn}`,
    ...time,
    `conversation ${conversation}`,
  ].join(" · ");
}

/** Of a date. */
const MOST_MS = 8.64e15;
