// What a view of a history consists of.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { estimateMessage, type TokenEstimate } from "@clew/plugin-sdk/tokens";
import { capToolResults } from "@clew/plugin-sdk/transcript";
import { nameOf } from "../messages/name.ts";
import { ownRecord } from "../messages/own.ts";
import { sum } from "./plan.ts";

/** What stands for the beginning of a history. */
export interface Standing {
  readonly name: string;
  readonly record: string;
  /** When the last message was made that it stands for, ms; null = not known. */
  readonly time: number | null;
  /** How many messages it stands for. */
  readonly covered: number;
  /** Name of the request that is shown behind it; null = none is. */
  readonly request: string | null;
}

/**
 * Why a message is shown: "record" it stands for those that are not · "request" it began the turn
 * that the rest belongs to · "kept" it is what came since.
 */
export type Why = "record" | "request" | "kept";

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

/** Tokens of a message, as a model of this window is shown it. Undefined: not known, then whole. */
export type Count = (message: AgentMessage) => TokenEstimate;

/** Hosts shorten long tool results by the window. */
export const counter =
  (contextWindow: number | undefined): Count =>
  (message) =>
    estimateMessage(
      contextWindow === undefined || message.role !== "toolResult"
        ? message
        : capToolResults([message], contextWindow)[0]!,
    );

/** The messages from `from` on, behind what stands for the others. */
export function show(
  messages: readonly AgentMessage[],
  { from, record, count }: { from: number; record: Standing | null; count: Count },
): View {
  const request =
    record === null || record.request === null
      ? -1
      : messages.slice(0, from).findLastIndex((message) => nameOf(message) === record.request);
  const items: ViewItem[] = [
    ...(record === null ? [] : [{ message: recordMessage(record), why: "record" as const }]),
    ...(request < 0 ? [] : [{ message: messages[request]!, why: "request" as const }]),
    ...messages.slice(from).map((message) => ({ message, why: "kept" as const })),
  ];
  return {
    items,
    tokens: sum(
      items.map(({ message }) => message),
      count,
    ),
    record,
    hidden: from - (request < 0 ? 0 : 1),
  };
}

const recordMessage = ({ record, name, time }: Standing): AgentMessage =>
  ownRecord(record, { name, timestamp: time ?? undefined });
