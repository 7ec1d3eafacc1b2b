// What one message on its way to the model is, and why it is there.
import type { AgentMessage, AssembleResult } from "@clew/plugin-sdk/core";
import type { ItemCode, ItemSource, ReportItem } from "../report/item.ts";
import { saysTheSame } from "./says-the-same.ts";

/** Where an item comes from, what changed it, and why it is there. */
export type Why = Pick<
  ReportItem,
  "source" | "code" | "reason" | "engineReason" | "changed" | "covers"
> & {
  /** The stored message, where the item's is another one. Absent: it is the same, or not known. */
  stored?: AgentMessage;
};

/** What the host carries between assembly and the model call. */
export interface ViewItem {
  /** Id of the stored message it is, or is made from; undefined = it was never stored. */
  readonly id: string | undefined;
  readonly message: AgentMessage;
  readonly why: Why;
}

const lists = new WeakMap<readonly ViewItem[], readonly AgentMessage[]>();

/** The items, whose messages are known already; costs no look at them. */
export function withMessages<Items extends readonly ViewItem[]>(
  items: Items,
  messages: readonly AgentMessage[],
): Items {
  lists.set(items, messages);
  return items;
}

/** Both lists in one, and their messages. */
export const joinItems = (
  left: readonly ViewItem[],
  right: readonly ViewItem[],
): readonly ViewItem[] =>
  withMessages(left.concat(right), messagesOf(left).concat(messagesOf(right)));

/** Item lists are never changed once made, so their messages are listed once. */
export function messagesOf(items: readonly ViewItem[]): readonly AgentMessage[] {
  const known = lists.get(items);
  if (known !== undefined) return known;
  const messages = items.map(({ message }) => message);
  lists.set(items, messages);
  return messages;
}

const because = (source: ItemSource, code: ItemCode, reason: string = code): Why => ({
  source,
  code,
  reason,
});

/** A stored message, as it stands in `entryId`. */
export const asHistory = (entryId: string): Why => because({ kind: "entry", entryId }, "history");

/** What the turn answers. */
export const asPrompt = (entryId: string): Why => because({ kind: "entry", entryId }, "prompt");

export const asHookedPrompt = (entryId: string): Why => ({
  ...because({ kind: "entry", entryId }, "prompt", "prompt, with what hooks added"),
  changed: true,
});

/** A stored message with another content. */
export const asChanged = (entryId: string, { engineReason, stored }: Partial<Why> = {}): Why => ({
  ...because({ kind: "entry", entryId }, "history", "history, shortened or changed on its way"),
  ...(engineReason !== undefined && { engineReason }),
  ...(stored !== undefined && { stored }),
  changed: true,
});

/** Characters of what an engine says of an item. */
const REASON_CHARS = 200;

/** The items with what the engine says of them; the same ones where it says nothing. */
export function withEngineReasons(
  items: readonly ViewItem[],
  reasons: AssembleResult["reasons"] = [],
): readonly ViewItem[] {
  if (reasons.length === 0) return items;
  let at = -1;
  const explained = items.map((item, index): ViewItem => {
    while (at + 1 < reasons.length && reasons[at + 1]!.from <= index) at++;
    const engineReason = reasons[at]?.reason.slice(0, REASON_CHARS);
    return engineReason === undefined || engineReason === ""
      ? item
      : { ...item, why: { ...item.why, engineReason } };
  });
  return withMessages(explained, messagesOf(items));
}

/** The reason of an item whose message `message` is now. */
export function whyOf({ message: before, why }: ViewItem, message: AgentMessage): Why {
  if (before === message || why.source.kind !== "entry") return why;
  const stored = why.stored ?? (why.changed === true ? undefined : before);
  return {
    ...why,
    ...(stored !== undefined && { stored }),
    ...(!saysTheSame(before, message) && { changed: true }),
  };
}

/** The items with what the engine says of the summaries it made; the same where it says nothing. */
export function withSummaries(
  items: readonly ViewItem[],
  summaries: AssembleResult["summaries"] = [],
): readonly ViewItem[] {
  const told = new Map(summaries.map((summary) => [summary.at, summary]));
  if (told.size === 0) return items;
  const named = items.map((item, index): ViewItem => {
    const summary = told.get(index);
    // What is a stored message stands for itself.
    if (summary === undefined || item.why.source.kind !== "engine") return item;
    const source = { kind: "summary" as const, summaryId: summary.id };
    return { ...item, why: { ...item.why, source, covers: summary.covers } };
  });
  return withMessages(named, messagesOf(items));
}

export const MADE_BY_ENGINE: Why = because({ kind: "engine" }, "engine", "made by the engine");

export const MADE_BY_POLICY: Why = {
  source: { kind: "policy", rule: "pairing" },
  reason: "made by the transcript policy",
};
