// How a stored message is named to a model.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { otherSessionOf } from "@clew/plugin-sdk/transcript";
import { isSummary } from "../messages/quoting.ts";
import type { StoredMessage } from "../store/rows.ts";
import { nameShown } from "./quoted.ts";

/** What a reader knows of a message without being told. */
export interface LabelOptions {
  /** The name that it was asked for by. Absent: none. */
  readonly askedAs?: string | undefined;
  /** True: there are messages of no other conversation to tell it from. Absent: there may be. */
  readonly isOnly?: boolean;
}

/** On one line: its number, by which it is asked for, and what helps to tell it from others. */
export function labelOf(stored: StoredMessage, { askedAs, isOnly = false }: LabelOptions = {}) {
  const { seq, name, turn, conversation, message, isHeartbeat, isLeft } = stored;
  const isNamed = name === askedAs || /^(?:json|key):/.test(name);
  const { timestamp } = message;
  const time =
    typeof timestamp === "number" && Math.abs(timestamp) < MOST_MS
      ? [new Date(timestamp).toISOString().slice(0, 16).replace("T", " ")]
      : [];
  return [
    `#${seq}`,
    ...(isNamed ? [] : [`id ${nameShown(name)}`]),
    speakerOf(message),
    ...(isHeartbeat ? ["heartbeat"] : []),
    ...(isLeft ? ["on a branch that was left"] : []),
    `turn ${turn}`,
    ...time,
    ...(isOnly ? [] : [`conversation ${conversation}`]),
  ].join(" · ");
}

/** Shorter, for many at once: its number, who says it, and the day. */
export function timeLabelOf({ seq, message }: StoredMessage): string {
  const { timestamp } = message;
  const isTime = typeof timestamp === "number" && Math.abs(timestamp) < MOST_MS;
  const day = isTime ? ` ${new Date(timestamp).toISOString().slice(0, 10)}` : "";
  return `#${seq}${day} ${speakerOf(message)}`;
}

function speakerOf(message: AgentMessage): string {
  const other = otherSessionOf(message);
  if (other !== undefined)
    return other.key === null ? "another session" : `session ${nameShown(other.key)}`;
  if (message.role === "toolResult") return `result of ${nameShown(String(message.toolName))}`;
  return isSummary(message) ? "summary by the host" : nameShown(message.role);
}

/** Of a date. */
const MOST_MS = 8.64e15;
