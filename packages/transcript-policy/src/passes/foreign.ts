// Decides what a model is not sent because another one wrote it.
import { definePass, mapChanged } from "../pass.ts";
import type { Reader } from "../readers.ts";
import {
  isThinking,
  isToolCallLike,
  nonBlank,
  roleOf,
  type StoredBlock,
  type StoredMessage,
  storedBlocks,
  textBlock,
  typeOf,
  without,
} from "../stored.ts";
import { TEXTS } from "../texts.ts";
import type { WireRules } from "../wires.ts";
import { forgetTextItem } from "./responses.ts";
import { isSigned } from "./thinking.ts";

/** Who is about to read, and by which wire. */
export interface ForeignOptions {
  /** Its rules. */
  wire: WireRules;
  /** What the model reads. */
  reader: Reader;
}

/**
 * Removes what another model, provider or account signed or encrypted, where only the reader's own
 * is taken: thinking, signatures of calls, ids of items. Plain text is nobody's and stays.
 */
export const dropForeignProofs = definePass<ForeignOptions>(
  "foreign-proofs",
  (messages, { wire, reader }, report) =>
    mapChanged(messages, (message, index) => {
      if (roleOf(message) !== "assistant" || reader.reads(message)) return message;
      const blocks = storedBlocks(message);
      const kept = mapChanged(blocks, (block) => withoutProof(block, wire));
      if (kept === blocks) return message;
      report(
        "changed",
        index,
        "a signature this model could not read: another one wrote it, or it refused it",
      );
      return withContent(message, kept);
    }),
  ({ hasThinking, hasThoughtSignatures, hasTextSignatures }) =>
    hasThinking || hasThoughtSignatures || hasTextSignatures,
);

function withoutProof(block: StoredBlock, wire: WireRules): StoredBlock | undefined {
  if (isThinking(block)) return hasForeignProof(block, wire) ? undefined : block;
  if (isToolCallLike(block)) return without(block, ["thoughtSignature", "thought_signature"]);
  if (wire.idMode === "responses") return forgetTextItem(block);
  const isSignedText = wire.carrier === "thought" && typeOf(block) === "text";
  return isSignedText ? without(block, ["textSignature"]) : block;
}

/**
 * True for thinking that holds more than text on a wire where that is looked at.
 * @internal
 */
export const hasForeignProof = (block: StoredBlock, { carrier }: WireRules): boolean =>
  carrier !== "reasoning_content" &&
  carrier !== "reasoning" &&
  (isSigned(block) || typeof block.thinkingSignature === "object" || block.carried !== undefined);

/** Removes opaque blocks of other routes: nobody else can read them. */
export const dropForeignBlocks = definePass<ForeignOptions>(
  "provider-blocks",
  (messages, { reader }, report) =>
    mapChanged(messages, (message, index) => {
      const blocks = storedBlocks(message);
      const isForeign = (block: StoredBlock) =>
        typeOf(block) === "provider" && !reader.owns(block, message);
      const kept = mapChanged(blocks, (block) => (isForeign(block) ? undefined : block));
      if (kept === blocks) return message;
      const kinds = blocks.filter(isForeign).flatMap((block) => nonBlank(block.kind) ?? []);
      report("changed", index, `a part only another route understands (${[...new Set(kinds)]})`);
      return withContent(message, kept);
    }),
  ({ hasProviderBlocks }) => hasProviderBlocks,
);

const withContent = (message: StoredMessage, blocks: readonly StoredBlock[]): StoredMessage => ({
  ...message,
  content: blocks.length === 0 ? [textBlock(TEXTS.omittedReasoning)] : blocks,
});
