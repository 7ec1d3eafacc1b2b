// Decides which names and ids tool calls carry on the wire.

import { definePass, mapChanged } from "../pass.ts";
import {
  isToolCall,
  nonBlank,
  roleOf,
  type StoredBlock,
  type StoredMessage,
  storedBlocks,
} from "../stored.ts";
import type { WireRules } from "../wires.ts";
import { type IdsBefore, type Taken, takenBehind } from "./ids-before.ts";
import { canonicalId } from "./responses.ts";
import { type Allocate, renameCalls, sanitizeToolCallId, uniqueId } from "./tool-ids.ts";

/** Gives calls names and ids the wire takes, and ids that occur once. */
export const fitToolCalls = definePass<{ wire: WireRules; inOrder?: boolean; before?: IdsBefore }>(
  "wire-calls",
  (messages, { wire, inOrder = false, before }, report) => {
    const named = mapChanged(messages, (message, index) => {
      const renamed = nameCalls(message, wire);
      if (renamed !== message) report("changed", index, "a tool name the provider does not accept");
      return renamed;
    });
    const allocate = allocateFor(inOrder ? [] : named, wire, before);
    return renameCalls(named, allocate, report, { before });
  },
  ({ hasTools }) => hasTools,
);

function nameCalls(message: StoredMessage, wire: WireRules): StoredMessage {
  if (roleOf(message) === "toolResult") {
    const name = legalName(message.toolName, wire);
    return name === message.toolName ? message : { ...message, toolName: name };
  }
  if (roleOf(message) !== "assistant") return message;
  const blocks = storedBlocks(message);
  const renamed = mapChanged(blocks, (block) => {
    if (!isToolCall(block)) return block;
    const name = legalName(block.name, wire);
    return name === block.name ? block : { ...block, name };
  });
  return renamed === blocks ? message : { ...message, content: renamed };
}

function legalName(name: unknown, wire: WireRules): string {
  const text = nonBlank(name) ?? "unknown";
  if (wire.names.test(text)) return text;
  const plain = text.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 63);
  return wire.names.test(plain) ? plain : `_${plain}`;
}

/**
 * Legal ids stay at their first use; all others are replaced by new ones, out of the way of the
 * legal ids of `messages`.
 */
function allocateFor(
  messages: readonly StoredMessage[],
  wire: WireRules,
  before: IdsBefore | undefined,
): Allocate {
  const taken = takenBehind(before?.taken);
  for (const message of messages)
    for (const block of roleOf(message) === "assistant" ? storedBlocks(message) : [])
      if (isToolCall(block) && wire.ids.test(String(block.id)))
        taken.add(callPart(String(block.id)));
  const used = takenBehind(before?.taken);
  const usedItems = takenBehind(before?.items);
  return (id, use, call) => {
    const item = wire.idMode === "responses" ? id.split("|")[1] : undefined;
    if (item !== undefined && call !== undefined && usedItems.has(item))
      return allocate(callPart(id), use, call);
    if (item !== undefined) usedItems.add(item);
    return allocate(id, use, call);
  };

  function allocate(id: string, use: number, call: StoredBlock | undefined): string {
    const isFree = wire.ids.test(id) && !used.has(callPart(id));
    const chosen =
      isFree || call === undefined
        ? id
        : freshId(`${id}${use === 1 && !wire.ids.test(id) ? "" : `:${use}`}`, wire, taken);
    used.add(callPart(chosen));
    taken.add(callPart(chosen));
    return chosen;
  }
}

/**
 * What names the call: on the Responses wire, the part before the bar.
 * @internal
 */
export const callPart = (id: string): string => id.split("|")[0] || id;

function freshId(seed: string, wire: WireRules, taken: Pick<Taken, "has">): string {
  if (wire.idMode !== "responses") {
    const { idMode } = wire;
    const wanted = sanitizeToolCallId(seed, idMode);
    return !taken.has(wanted) && wire.ids.test(wanted)
      ? wanted
      : uniqueId(seed.replace(/[^A-Za-z0-9]/g, "x"), idMode, taken);
  }
  for (let attempt = 0; ; attempt++) {
    const candidate = canonicalId(
      `${callPart(seed)}${seed.slice(callPart(seed).length).replace(/[^:\d]/g, "")}:${attempt}`,
    );
    if (!taken.has(candidate)) return candidate;
  }
}
