// Which stored messages the messages are that an engine or a policy handed back.
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { textOf, withMessageId } from "@clew/plugin-sdk/transcript";
import type { MessageTable } from "./message-table.ts";
import { asChanged, MADE_BY_ENGINE, type ViewItem, type Why } from "./view-item.ts";

export interface ResolvedView {
  items: readonly ViewItem[];
  /** Messages without an id that were recognised by their content: a best effort. */
  aligned: number;
}

/**
 * Resolves `returned` against the items that were `given`, by id; messages without one by their
 * tool call ids, then by role and text in order (contract, "Decided since" 1). The same whether
 * objects or copies came back. Costs little where the very objects did.
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
  const known = itemFinder(given);
  const aligner = createAligner(given);
  let aligned = 0;
  const items = returned.slice(same).map((message): ViewItem => {
    const mine = table.canonical(message);
    const original = known(mine);
    if (original !== undefined) return changedItem(original, mine);
    const found = messageId(mine) === undefined ? aligner(mine) : undefined;
    // An id that is no stored message's proves nothing.
    if (found === undefined) return { id: undefined, message: mine, why: made };
    aligned++;
    return changedItem(found, table.canonical(withMessageId(mine, found.id!)));
  });
  return { items: [...given.slice(0, same), ...items], aligned };
}

/** The item itself where its message came back as it was. */
function changedItem(original: ViewItem, message: AgentMessage): ViewItem {
  if (original.message === message) return original;
  const { source } = original.why;
  return {
    id: original.id,
    message,
    why: source.kind === "entry" ? asChanged(source.entryId) : original.why,
  };
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

/** Finds the given item with the same content, each one once, later ones after earlier ones. */
function createAligner(
  given: readonly ViewItem[],
): (message: AgentMessage) => ViewItem | undefined {
  let byContent: Map<string, ViewItem[]> | undefined;
  return (message) => {
    byContent ??= groupBy(given);
    return byContent.get(contentKey(message))?.shift();
  };
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
    const calls = message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
    if (calls.length > 0) return `calls ${calls.join(" ")}`;
  }
  return `${message.role} ${textOf(message)}`;
}
