// What a message is known by in the store, whether or not its host gives it an id.
import { createHash } from "node:crypto";
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { blocksOf, textOf, withMessageId } from "@clew/plugin-sdk/transcript";

/** A message, and what tells it from all others of its conversation. */
export interface NamedMessage {
  readonly name: string;
  readonly message: AgentMessage;
  /** True: said in a run that the host began by itself. Absent: false. */
  readonly isHeartbeat?: boolean;
  /** True: told for the first time, whatever else says the same. Absent: its name decides. */
  readonly isNew?: boolean | undefined;
}

/** Characters of a text by which copies that a host shortened are the same message. */
const HEAD_CHARS = 200;
const NAMELESS = /^(?:json|key):/;
const ESCAPED = 'json"';

/**
 * Its id. A message of a host that gives no ids is known by its key; else by its time, its role and
 * how it begins, which copies keep; without a time by all that it says.
 */
export function nameOf(message: AgentMessage): string {
  const id = messageId(message);
  if (id !== undefined) return keyOf(id);
  return repeated.get(message) ?? keyName(message) ?? printOf(message);
}

/** What a message is known by where its host gives no id: with its key, and without. */
export function namesWithoutId(message: AgentMessage): readonly string[] {
  const print = printOf(message);
  return [...new Set([keyName(message) ?? print, print])];
}

/** What the same message is known by as long as its host gives it no id. */
export function printOf(message: AgentMessage): string {
  const { role, timestamp } = message;
  const text =
    timestamp === undefined ? jsonOf(message) : `${role}\n${timestamp}\n${beginningOf(message)}`;
  return `json:${createHash("sha256").update(text).digest("hex").slice(0, 32)}`;
}

/** Undefined: it has no idempotency key. One event's request and answer are two messages. */
export const keyName = ({ role, idempotencyKey }: AgentMessage): string | undefined =>
  // Session files may say anything.
  typeof idempotencyKey === "string" && idempotencyKey !== ""
    ? `key:${role}:${keyOf(idempotencyKey)}`
    : undefined;

export const named = (message: AgentMessage): NamedMessage => ({ name: nameOf(message), message });

/** The `time`-th message of this name: people repeat themselves. */
export const nthName = (name: string, time: number): string =>
  time === 1 ? name : `${name}#${time}`;

/** True: it names a message of a host that gave it no id. */
export const isNameless = (name: string): boolean => NAMELESS.test(name);

/** A nameless message's name as if it had been said once. */
export const saidOnce = (name: string): string =>
  isNameless(name) ? name.replace(/#\d+$/, "") : name;

/**
 * A text as a key of the database, which keeps no half of a surrogate pair: no two texts have the
 * same.
 */
export const keyOf = (text: string): string =>
  text.isWellFormed() && !NAMELESS.test(text) && !text.startsWith(ESCAPED)
    ? text
    : `json${JSON.stringify(text)}`;

/** The message with the id that it is known by, where that is not its own. */
export function withName({ name, message }: NamedMessage): AgentMessage {
  if (isNameless(name) || messageId(message) !== undefined) return message;
  const id = name.startsWith(ESCAPED) ? String(JSON.parse(name.slice("json".length))) : name;
  return withMessageId(message, id);
}

/** Copies of messages that say what one before them says, and what each is known by. */
const repeated = new WeakMap<AgentMessage, string>();

/** The list, in which no two messages without ids have one name. Copies only what it must. */
export function withoutNamesakes(messages: readonly AgentMessage[]): readonly AgentMessage[] {
  const groups = new Map<string, number[]>();
  for (const [index, message] of messages.entries()) {
    if (messageId(message) !== undefined) continue;
    const group = `${message.role} ${message.timestamp}`;
    const indexes = groups.get(group) ?? [];
    groups.set(group, indexes);
    indexes.push(index);
  }
  const copies = new Map<number, AgentMessage>();
  for (const indexes of groups.values()) {
    if (indexes.length === 1) continue;
    const times = new Map<string, number>();
    for (const index of indexes) {
      const message = messages[index]!;
      const name = keyName(message) ?? printOf(message);
      const time = (times.get(name) ?? 0) + 1;
      times.set(name, time);
      if (time === 1) continue;
      const copy = { ...message };
      repeated.set(copy, nthName(name, time));
      copies.set(index, copy);
    }
  }
  return copies.size === 0
    ? messages
    : messages.map((message, index) => copies.get(index) ?? message);
}

/** What copies of a message keep of its words, however a host shortens them. */
export function beginningOf(message: AgentMessage): string {
  const blocks = message.role === "assistant" ? blocksOf(message.content) : [];
  const calls = blocks.flatMap(({ type, name }) => (type === "toolCall" ? [String(name)] : []));
  const said = [textOf(message), ...calls].join(" ");
  return said
    .slice(0, 4 * HEAD_CHARS)
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, HEAD_CHARS);
}

/** What is nested too deep to be written is told apart by what can be read of it. */
function jsonOf(message: AgentMessage): string {
  try {
    return JSON.stringify(message);
  } catch {
    return textOf(message);
  }
}

/** How names begin of what lossless-claw kept without the id of an entry; its own id follows. */
export const OLD_PREFIX = "lossless-claw:";
