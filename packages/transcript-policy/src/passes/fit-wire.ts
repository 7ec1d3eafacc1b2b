// The last look before sending: whatever the wire would surely reject is brought into a form it takes.
import { renderImageFault } from "../images/wire-image.ts";
import { definePass, mapChanged } from "../pass.ts";
import { isSignedThinkingApi } from "../policies.ts";
import { blocksOf, isThinking, isToolCall, nonBlank, roleOf, type StoredBlock, type StoredMessage, textBlock, typeOf } from "../stored.ts";
import { toWellFormed } from "../surrogates.ts";
import { TEXTS } from "../texts.ts";
import type { WireRules } from "../wires.ts";
import { settleContent } from "./images.ts";
import { canonicalId, readReasoningItem } from "./responses.ts";
import { type Allocate, renameCalls, sanitizeToolCallId, uniqueId } from "./tool-ids.ts";

export interface WireOptions {
  wire: WireRules;
}

/** Replaces images the wire does not take by a text, and removes blank text (the synchronous half of rule R4). */
export const settleContentForWire = definePass<WireOptions>("wire-content", (messages, { wire }, report) =>
  mapChanged(messages, (message, index) => {
    const blocks = blocksOf(message);
    const shown = mapChanged(blocks, (block) => renderImageFault(block, wire) ?? block);
    return settleContent(message, shown === blocks ? undefined : shown, report, index);
  }),
);

/** Removes thinking the wire cannot verify, and thinking at the end of a message where it may not stand. */
export const fitThinking = definePass<WireOptions>("wire-thinking", (messages, { wire }, report) => {
  if (wire.thinking === "any") return messages;
  return mapChanged(messages, (message, index) => {
    if (roleOf(message) !== "assistant") return message;
    const blocks = blocksOf(message);
    const readable = mapChanged(blocks, (block) => (isThinking(block) && !isReadable(block, message, wire) ? undefined : block));
    const end = readable.findLastIndex((block) => !isThinking(block)) + 1;
    const kept = end === readable.length ? readable : readable.slice(0, end);
    if (kept === blocks) return message;
    report("changed", index, "thinking this model could not read back");
    return { ...message, content: kept.length === 0 ? [textBlock(TEXTS.omittedReasoning)] : kept };
  });
});

/** True for thinking this wire could have written itself. */
export function isReadable(block: StoredBlock, message: StoredMessage, wire: WireRules): boolean {
  if (wire.thinking !== "signed") return wire.thinking === "any";
  if (typeof message.api === "string" && message.api !== "" && !isSignedThinkingApi(message.api)) return false;
  if (typeOf(block) === "redacted_thinking") return nonBlank(block.data) !== undefined;
  return nonBlank(block.thinkingSignature) !== undefined && readReasoningItem(block.thinkingSignature) === undefined;
}

/** Gives calls names and ids the wire takes, and ids that occur once. */
export const fitToolCalls = definePass<WireOptions>("wire-calls", (messages, { wire }, report) => {
  const named = mapChanged(messages, (message, index) => {
    const renamed = nameCalls(message, wire);
    if (renamed !== message) report("changed", index, "a tool name the provider does not accept");
    return renamed;
  });
  return renameCalls(named, allocateFor(named, wire), report);
});

function nameCalls(message: StoredMessage, wire: WireRules): StoredMessage {
  if (roleOf(message) === "toolResult") {
    const name = legalName(message.toolName, wire);
    return name === message.toolName ? message : { ...message, toolName: name };
  }
  if (roleOf(message) !== "assistant") return message;
  const blocks = blocksOf(message);
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

/** Legal ids stay at their first use; all others are made anew, out of the way of those. */
function allocateFor(messages: readonly StoredMessage[], wire: WireRules): Allocate {
  const taken = new Set<string>();
  for (const message of messages)
    for (const block of roleOf(message) === "assistant" ? blocksOf(message) : [])
      if (isToolCall(block) && wire.ids.test(String(block.id))) taken.add(callPart(String(block.id)));
  const used = new Set<string>();
  return (id, use, call) => {
    const isFree = wire.ids.test(id) && !used.has(callPart(id));
    const chosen = isFree || call === undefined ? id : freshId(`${id}${use === 1 && !wire.ids.test(id) ? "" : `:${use}`}`, wire, taken);
    used.add(callPart(chosen));
    taken.add(callPart(chosen));
    return chosen;
  };
}

// On the Responses wire only the part before the bar names the call.
const callPart = (id: string): string => id.split("|")[0] || id;

function freshId(seed: string, wire: WireRules, taken: ReadonlySet<string>): string {
  if (wire.idMode !== "responses") {
    const { idMode } = wire;
    const wanted = sanitizeToolCallId(seed, idMode);
    return !taken.has(wanted) && wire.ids.test(wanted) ? wanted : uniqueId(seed.replace(/[^A-Za-z0-9]/g, "x"), idMode, taken);
  }
  for (let attempt = 0; ; attempt++) {
    const candidate = canonicalId(`${callPart(seed)}${seed.slice(callPart(seed).length).replace(/[^:\d]/g, "")}:${attempt}`);
    if (!taken.has(candidate)) return candidate;
  }
}

/** Replaces half characters, which no JSON parser takes; signed thinking that holds one has lost its meaning anyway. */
export const fitText = definePass<WireOptions>("wire-text", (messages, _options, report) =>
  mapChanged(messages, (message, index) => {
    const mended = toWellFormed(message.content);
    if (mended === message.content) return message;
    report("changed", index, "half a character, which no JSON parser takes");
    return { ...message, content: mended };
  }),
);
