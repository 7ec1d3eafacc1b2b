// What a Messages server remembers of thinking it signed, and of prompts.

import { record, text } from "../server/json.ts";
import type { PromptCache } from "../server/prompt-cache.ts";
import {
  createSigner,
  type Dropped,
  type Piece,
  type Refused,
  readThinking,
  type Signer,
} from "../server/signed-thinking.ts";
import type { Accepted, WireMemory } from "../server/wire.ts";
import { lineOf } from "./models.ts";
import { meaning, piecesOf, preface, segmentsOf } from "./prefix.ts";
import { isThinking, type MessagesView } from "./view.ts";

export interface MessagesAccepted extends Accepted {
  dropped: readonly Dropped[];
  /** One for each reply: it remembers what the reply has said. */
  signer(): Signer;
}

const BOUND_ELSEWHERE =
  'Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';

const WORDS: Readonly<Record<Refused["rule"], string>> = {
  "signature.foreign": "Invalid `signature` in `thinking` block",
  "signature.modified":
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
  "signature.prefix": BOUND_ELSEWHERE,
  "signature.chain": BOUND_ELSEWHERE,
};

export function createMemory(cache: PromptCache): WireMemory<MessagesView, MessagesAccepted> {
  return {
    examine(view, { account }) {
      const reader = {
        api: "anthropic-messages",
        account,
        model: lineOf(view.model),
        bindsPrefix: view.traits.bindsPrefix,
        mayDrop: mayDrop(view),
        latestTurn: view.messages.findLast(({ role }) => role === "assistant")?.index ?? -1,
      };
      const read = readThinking(preface(view), piecesOf(view).map(pieceOf), reader);
      if (read.kind === "refused") {
        const { rule, path } = read;
        return { kind: "refused", rule, message: `${path}: ${WORDS[rule]}` };
      }
      const { dropped } = read;
      const prompt = cache.settle(`${account} ${view.model}`, segmentsOf(view));
      const changes = dropped.map(({ path, binding }) => `thinking_dropped ${path} ${binding}`);
      const signer = () => createSigner(reader, read);
      return { kind: "accepted", accepted: { prompt, dropped, changes, signer } };
    },
  };
}

const mayDrop = ({ body }: MessagesView) =>
  record(record(body.thinking).block_binding).prefix_mismatch_behavior === "drop_block";

function pieceOf(block: ReturnType<typeof piecesOf>[number]): Piece {
  const { value, turn, index } = block;
  if (!isThinking({ type: text(value.type) })) return { kind: "said", meaning: meaning(block) };
  const isOpen = value.type === "thinking";
  return {
    kind: "thinking",
    path: `messages.${turn}.content.${index}`,
    turn,
    words: isOpen ? text(value.thinking) : "",
    signature: text(isOpen ? value.signature : value.data),
  };
}
