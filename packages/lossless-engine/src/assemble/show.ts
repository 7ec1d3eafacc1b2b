// What a view of a history consists of.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { TokenEstimate } from "@clew/plugin-sdk/tokens";
import { textOf } from "@clew/plugin-sdk/transcript";
import { nameOf } from "../messages/name.ts";
import { ownRecord } from "../messages/own.ts";
import { type Parts, shortened } from "../messages/shorten.ts";
import { type Count, sum } from "./count.ts";

/** What stands for the beginning of a history, and what is shown of the rest. */
export interface Standing {
  readonly name: string;
  /** Empty: nothing is hidden. */
  readonly record: string;
  /** When the last message was made that it stands for, ms; null = not known. */
  readonly time: number | null;
  /** How many messages it stands for. */
  readonly covered: number;
  /** Name of the request that is shown behind it; null = none is. */
  readonly request: string | null;
  /** What is shown of messages that have no room as they are. */
  readonly parts: Parts;
}

/**
 * Why a message is shown: "record" it stands for those that are not · "request" it began the turn
 * that the rest belongs to · "kept" it is what came since · "shortened" it came since, but all of
 * it would not fit.
 */
export type Why = "record" | "request" | "kept" | "shortened";

/** A message of a view. */
export interface ViewItem {
  readonly message: AgentMessage;
  readonly why: Why;
}

/** What a model is shown. */
export interface View {
  readonly items: readonly ViewItem[];
  readonly tokens: TokenEstimate;
  /** What stands for the messages that are not shown; null = nothing does. */
  readonly record: Standing | null;
  /** How many of the given messages are not shown. */
  readonly hidden: number;
}

/** What is shown of a history. */
export interface Showing {
  /** Index of the first message behind the record. */
  readonly from: number;
  /** Null: nothing is left out. */
  readonly record: Standing | null;
  readonly count: Count;
  /** The record's request, where the history holds it in another message. Absent: it does not. */
  readonly merged?: AgentMessage | undefined;
}

/** The messages from `from` on, behind what stands for the others. */
export function show(
  messages: readonly AgentMessage[],
  { from, record, count, merged }: Showing,
): View {
  const place = record === null ? -1 : placeOfRequest(messages, from, record.request);
  const request = messages[place] ?? merged;
  const shown = shownBy(record?.parts);
  const items: ViewItem[] = [
    ...(record === null || record.record === ""
      ? []
      : [{ message: recordMessage(record), why: "record" as const }]),
    ...(request === undefined ? [] : [{ message: shown(request), why: "request" as const }]),
    ...messages.slice(from).map((message): ViewItem => {
      const part = shown(message);
      return { message: part, why: part === message ? "kept" : "shortened" };
    }),
  ];
  return {
    items,
    tokens: sum(
      items.map(({ message }) => message),
      count,
    ),
    record,
    hidden: from - (place < 0 ? 0 : 1),
  };
}

/** Of the request of this name before `from`; -1 = no message has it. */
export const placeOfRequest = (
  messages: readonly AgentMessage[],
  from: number,
  name: string | null,
): number =>
  name === null
    ? -1
    : messages.findLastIndex((message, at) => at < from && nameOf(message) === name);

/**
 * Whether the newest request before `from` ends with what `asked` says: hosts make one message of
 * requests that nothing came between, once the turn is over.
 */
export function isMerged(
  messages: readonly AgentMessage[],
  from: number,
  asked: AgentMessage,
): boolean {
  const text = textOf(asked).trim();
  const newest = messages.findLast(({ role }, at) => at < from && role === "user");
  return newest !== undefined && text !== "" && textOf(newest).trim().endsWith(text);
}

/** What is shown of a message. */
export function shownBy(parts: Parts | undefined): (message: AgentMessage) => AgentMessage {
  if (parts === undefined || parts.size === 0) return (message) => message;
  return (message) => {
    const part = parts.get(nameOf(message));
    return part === undefined ? message : shortened(message, part);
  };
}

const recordMessage = ({ record, name, time }: Standing): AgentMessage =>
  ownRecord(record, { name, timestamp: time ?? undefined });
