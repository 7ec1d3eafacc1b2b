// Which stored messages the messages are that an engine or a policy handed back.
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { blocksOf, textOf, withMessageId } from "@clew/plugin-sdk/transcript";
import type { MessageTable } from "./message-table.ts";
import { asChanged, MADE_BY_ENGINE, type ViewItem, type Why, whyOf } from "./view-item.ts";

export interface ResolvedView {
  items: readonly ViewItem[];
  /** Messages without an id that were recognised by their content: a best effort. */
  aligned: number;
}

/**
 * Resolves `returned` against the items that were `given`, by id; messages without one by their
 * tool call ids, then by role and text in order, newest first (contract, "Decided since" 1). The
 * same whether objects or copies came back. Costs little where the very objects did.
 */
export function resolveView(
  returned: readonly AgentMessage[],
  given: readonly ViewItem[],
  table: MessageTable,
  made: Why = MADE_BY_ENGINE,
): ResolvedView {
  let same = 0;
  while (same < returned.length && returned[same] === given[same]?.message) same++;
  if (same === returned.length)
    return { items: same === given.length ? given : given.slice(0, same), aligned: 0 };
  const mine = returned.slice(same).map((message) => table.canonical(message));
  const known = itemFinder(given);
  const originals = mine.map(known);
  const nameless = mine.map((message, index) =>
    originals[index] === undefined && messageId(message) === undefined ? message : undefined,
  );
  const shown = new Set([...given.slice(0, same), ...originals]);
  const aligned = align(nameless, given, shown);
  const items = mine.map((message, index): ViewItem => {
    const original = originals[index];
    if (original !== undefined) return changedItem(original, message);
    const found = aligned[index];
    // An id that is no stored message's proves nothing.
    if (found === undefined) return { id: undefined, message, why: made };
    return changedItem(found, table.canonical(withMessageId(message, found.id!)));
  });
  return {
    items: [...given.slice(0, same), ...items],
    aligned: aligned.filter((found) => found !== undefined).length,
  };
}

/** The item itself where its message came back as it was; changed where it says something else. */
function changedItem(original: ViewItem, message: AgentMessage): ViewItem {
  if (original.message === message) return original;
  const why = whyOf(original, message);
  const { source } = why;
  const isSame = why.changed !== true || source.kind !== "entry";
  return { id: original.id, message, why: isSame ? why : asChanged(source.entryId, why) };
}

/** The item a message is, or is made from: by the very object, else by id. */
export function itemFinder(
  items: readonly ViewItem[],
): (message: AgentMessage) => ViewItem | undefined {
  let byMessage: Map<AgentMessage, ViewItem> | undefined;
  let byId: Map<string, ViewItem> | undefined;
  return (message) => {
    byMessage ??= new Map(items.map((item) => [item.message, item]));
    const same = byMessage.get(message);
    if (same !== undefined) return same;
    const id = messageId(message);
    byId ??= new Map(items.flatMap((item) => (item.id === undefined ? [] : [[item.id, item]])));
    return id === undefined ? undefined : byId.get(id);
  };
}

/**
 * The given item with the same content for each of `messages`, in order and each one once, none of
 * those that are `shown` already. From the end: what engines leave out is old, and people repeat
 * themselves.
 */
function align(
  messages: readonly (AgentMessage | undefined)[],
  given: readonly ViewItem[],
  shown: ReadonlySet<ViewItem | undefined>,
): (ViewItem | undefined)[] {
  if (messages.every((message) => message === undefined)) return [];
  const byContent = groupBy(given.filter((item) => !shown.has(item)));
  return messages
    .toReversed()
    .map((message) => message && byContent.get(contentKey(message))?.pop())
    .toReversed();
}

function groupBy(given: readonly ViewItem[]): Map<string, ViewItem[]> {
  const groups = new Map<string, ViewItem[]>();
  for (const item of given) {
    if (item.id === undefined) continue;
    const key = contentKey(item.message);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

function contentKey(message: AgentMessage): string {
  if (message.role === "toolResult") return `result ${message.toolCallId}`;
  if (message.role === "assistant") {
    const calls = blocksOf(message.content).flatMap(({ type, id }) =>
      type === "toolCall" ? [id] : [],
    );
    if (calls.length > 0) return `calls ${calls.join(" ")}`;
  }
  return `${message.role} ${textOf(message)}`;
}
