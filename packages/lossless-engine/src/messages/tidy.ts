// Makes times and keys of messages what the contract says they are, and keeps the messages.
import type { AgentMessage } from "@clew/plugin-sdk/core";

/** What no other time of a message lies beyond, ms: dates end there. */
const MOST_MS = 8.64e15;

/**
 * Pure. A time that is a date or says one is its milliseconds, a key that is a number is its
 * digits; what says neither is left out. The very list where there is nothing of the kind.
 */
export const tidied = <List extends readonly AgentMessage[]>(messages: List): List =>
  messages.some(isOdd) ? (messages.map(tidiedOne) as readonly AgentMessage[] as List) : messages;

type Odd = Readonly<Record<"timestamp" | "idempotencyKey", unknown>>;

const isOdd = (message: AgentMessage): boolean => {
  const { timestamp, idempotencyKey } = (message ?? {}) as unknown as Odd;
  return !(
    (timestamp === undefined || isTime(timestamp)) &&
    (idempotencyKey === undefined || isKey(idempotencyKey))
  );
};

/** The message itself where it is what it should be. */
function tidiedOne(message: AgentMessage): AgentMessage {
  if (!isOdd(message)) return message;
  const { timestamp, idempotencyKey, ...rest } = message as AgentMessage & Odd;
  const [time, key] = [timeIn(timestamp), keyIn(idempotencyKey)];
  return {
    ...rest,
    ...(time !== undefined && { timestamp: time }),
    ...(key !== undefined && { idempotencyKey: key }),
  } as AgentMessage;
}

const isTime = (value: unknown): value is number =>
  typeof value === "number" && Math.abs(value) <= MOST_MS;

const isKey = (value: unknown): value is string => typeof value === "string" && value !== "";

function timeIn(value: unknown): number | undefined {
  const time =
    value instanceof Date
      ? value.getTime()
      : typeof value === "bigint"
        ? Number(value)
        : typeof value === "string"
          ? msIn(value)
          : value;
  return isTime(time) ? time : undefined;
}

const msIn = (text: string): number =>
  /^\s*-?\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : Date.parse(text);

const keyIn = (value: unknown): string | undefined =>
  typeof value === "bigint" || (typeof value === "number" && Number.isFinite(value))
    ? String(value)
    : isKey(value)
      ? value
      : undefined;
