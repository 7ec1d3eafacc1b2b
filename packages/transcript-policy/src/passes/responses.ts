// What Responses apis insist on in reasoning items and tool-call ids.
import { sha256Hex } from "../hash.ts";
import { definePass, mapChanged } from "../pass.ts";
import {
  fieldOf,
  isThinking,
  isToolCall,
  nonBlank,
  parseJson,
  roleOf,
  type StoredBlock,
  type StoredMessage,
  storedBlocks,
  typeOf,
  without,
} from "../stored.ts";
import { renameCalls } from "./tool-ids.ts";

/**
 * True for a thinking block whose signature is a reasoning item that can be sent back.
 * @internal
 */
export const isReasoningItem = (block: StoredBlock): boolean =>
  typeOf(block) === "thinking" && readReasoningItem(block.thinkingSignature) !== undefined;

/**
 * The reasoning item a signature holds, as an object or as JSON text; undefined when it is another
 * kind of signature.
 * @internal
 */
export function readReasoningItem(signature: unknown): StoredBlock | undefined {
  const item = readItem(signature);
  const id = fieldOf(item, "id");
  const type = fieldOf(item, "type");
  const isItem =
    typeof id === "string" &&
    id.startsWith("rs_") &&
    typeof type === "string" &&
    (type === "reasoning" || type.startsWith("reasoning."));
  return isItem ? item : undefined;
}

function readItem(signature: unknown): StoredBlock | undefined {
  if (typeof signature === "object" && signature !== null) return signature as StoredBlock;
  if (typeof signature !== "string") return undefined;
  const text = signature.trim();
  if (!text.startsWith("{") || !text.endsWith("}")) return undefined;
  return parseJson(text) as StoredBlock | undefined;
}

/**
 * Drops reasoning items that nothing follows; after a change of model, all of them and the text
 * item ids of their turns (rule R6a), with `keepsWritten` only where nobody knows which model wrote
 * them: for the others it is decided before each call, by who can read them. A turn that is left
 * empty goes.
 */
export const downgradeReasoningItems = definePass<{
  modelChanged?: boolean;
  keepsWritten?: boolean;
}>(
  "reasoning-items",
  (messages, { modelChanged: isSwitch = false, keepsWritten = false }, report) =>
    mapChanged(messages, (message, index) => {
      if (roleOf(message) !== "assistant") return message;
      const modelChanged = isSwitch && !(keepsWritten && hasWriter(message));
      const blocks = storedBlocks(message);
      const lastSpoken = blocks.findLastIndex((block) => !isThinking(block));
      const kept = mapChanged(blocks, (block, position) =>
        isReasoningItem(block) && (modelChanged || position > lastSpoken) ? undefined : block,
      );
      if (kept === blocks) return message;
      report(
        kept.length === 0 ? "dropped" : "changed",
        index,
        modelChanged ? "reasoning of another model" : "a reasoning item nothing follows",
      );
      if (kept.length === 0) return undefined;
      return { ...message, content: modelChanged ? kept.map(forgetTextItem) : kept };
    }),
  ({ hasThinking }) => hasThinking,
);

const hasWriter = ({ provider, model }: StoredMessage): boolean =>
  nonBlank(provider) !== undefined && nonBlank(model) !== undefined;

/**
 * The block without the id of its item; the phase of a reply stays.
 * @internal
 */
export function forgetTextItem(block: StoredBlock): StoredBlock {
  if (typeOf(block) !== "text" || !("textSignature" in block)) return block;
  const item = readItem(block.textSignature);
  const phase = fieldOf(item, "phase");
  if (fieldOf(item, "v") === 1 && (phase === "commentary" || phase === "final_answer"))
    return { ...block, textSignature: JSON.stringify({ v: 1, phase }) };
  return without(block, ["textSignature"]);
}

/**
 * Removes reasoning items and text item ids that an earlier block already used: the wire takes each
 * item once.
 */
export const dropRepeatedItems = definePass(
  "repeated-items",
  (messages, _options, report) => {
    const seen = new Set<string>();
    return mapChanged(messages, (message, index) => {
      if (roleOf(message) !== "assistant") return message;
      const blocks = storedBlocks(message);
      const kept = mapChanged(blocks, (block) => {
        const id = itemId(block);
        if (id === undefined || !seen.has(id)) {
          if (id !== undefined) seen.add(id);
          return block;
        }
        return isThinking(block) ? undefined : without(block, ["textSignature"]);
      });
      if (kept === blocks) return message;
      report(
        kept.length === 0 ? "dropped" : "changed",
        index,
        "an item that stands in an earlier message already",
      );
      return kept.length === 0 ? undefined : { ...message, content: kept };
    });
  },
  ({ hasThinking, hasTextSignatures }) => hasThinking || hasTextSignatures,
);

/**
 * The id under which a block is an item of its own on the Responses wire; calls carry theirs in
 * their id.
 * @internal
 */
export function itemId(block: StoredBlock): string | undefined {
  if (typeOf(block) === "text") {
    const { textSignature } = block;
    const id = fieldOf(readItem(textSignature), "id") ?? textSignature;
    return typeof id === "string" && id.startsWith("msg_") ? id : undefined;
  }
  const item =
    typeOf(block) === "thinking" ? readReasoningItem(block.thinkingSignature) : undefined;
  return item === undefined ? undefined : String(item.id);
}

const CALL_PART = { prefix: "call_", legal: /^call_[A-Za-z0-9_-]{1,59}$/ };
const ITEM_PART = { prefix: "fc_", legal: /^fc_[A-Za-z0-9_-]{1,61}$/ };
const MAX_PART = 64;

/**
 * Brings ids into the form `call_…` or `call_…|fc_…`, the same id always to the same result (rule
 * R6b).
 */
export const canonicalizeResponsesIds = definePass(
  "responses-ids",
  (messages, _options, report) => renameCalls(messages, (id) => canonicalId(id), report),
  ({ hasTools }) => hasTools,
);

/**
 * A Responses id in canonical form; unchanged when it is.
 * @internal
 */
export function canonicalId(id: string): string {
  const [call, item] = splitId(id);
  return item === undefined
    ? canonicalPart(call, CALL_PART)
    : `${canonicalPart(call, CALL_PART)}|${canonicalPart(item, ITEM_PART)}`;
}

function splitId(id: string): [call: string, item?: string] {
  const bar = id.indexOf("|");
  return bar > 0 && bar < id.length - 1 ? [id.slice(0, bar), id.slice(bar + 1)] : [id];
}

function canonicalPart(part: string, { prefix, legal }: typeof CALL_PART): string {
  const text = part.trim();
  if (legal.test(text)) return text;
  const room = MAX_PART - prefix.length - 11;
  const tail = trimUnderscores(
    text.replace(/^(?:call|fc)_/, "").replace(/[^A-Za-z0-9_-]/g, "_"),
  ).slice(0, room);
  return `${prefix}${trimUnderscores(tail) || "id"}_${sha256Hex(text).slice(0, 10)}`;
}

function trimUnderscores(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text[start] === "_") start++;
  while (end > start && text[end - 1] === "_") end--;
  return text.slice(start, end);
}

/**
 * Removes the item id of a call whose reasoning is not in front of it in the same turn, and of its
 * result (rule R6c).
 */
export const dropUnbackedItemIds = definePass(
  "responses-item-ids",
  (messages, _options, report) => {
    const backed = new WeakSet<StoredBlock>();
    for (const message of messages) {
      if (roleOf(message) !== "assistant") continue;
      const blocks = storedBlocks(message);
      const reasoning = blocks.findIndex(isReasoningItem);
      for (const block of blocks.slice(reasoning < 0 ? blocks.length : reasoning))
        if (isToolCall(block)) backed.add(block);
    }
    const allocate = (id: string, _use: number, call?: StoredBlock) => {
      const [callPart, itemPart] = splitId(id);
      return itemPart?.startsWith(ITEM_PART.prefix) && call !== undefined && !backed.has(call)
        ? callPart
        : id;
    };
    return renameCalls(messages, allocate, report);
  },
  ({ hasTools }) => hasTools,
);
