// What a Messages server remembers of thinking it signed, and of prompts.

import { tokensIn } from "../server/bill.ts";
import { divergence, type Fingerprint } from "../server/cache-miss.ts";
import { canonical, record, text } from "../server/json.ts";
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
import { type Compaction, compactionOf } from "./compaction.ts";
import { lineOf } from "./models.ts";
import { meaning, piecesOf, preface, segmentsOf } from "./prefix.ts";
import { isThinking, type MessagesView } from "./view.ts";

export interface MessagesAccepted extends Accepted {
  dropped: readonly Dropped[];
  /** One for each reply: it remembers what the reply has said. */
  signer(): Signer;
  /** As asked, to compare the next request with. */
  view: MessagesView;
  /** What it makes of the history before it answers; undefined: nothing. */
  compaction: Compaction | undefined;
  /** Why the cache could not be used; undefined: the request does not ask. */
  diagnostics: object | undefined;
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
  /** By id of the message that answered. */
  const sent = new Map<string, MessagesView>();
  return {
    said(_reply, { accepted, nonce }) {
      if (accepted !== null) sent.set(messageId(nonce), accepted.view);
    },
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
      const compaction = compactionOf(view);
      const changes = [
        ...dropped.map(({ path, binding }) => `thinking_dropped ${path} ${binding}`),
        ...(compaction === undefined
          ? []
          : [`history_compacted ${compaction.tokensBefore} tokens`]),
      ];
      // What was compacted is not part of what the reply is bound to.
      const bound = compaction === undefined ? read : readThinking(preface(view), [], reader);
      const signer = () => createSigner(reader, bound.kind === "read" ? bound : read);
      const diagnostics = diagnose(view, sent);
      const accepted = { prompt, dropped, changes, signer, view, compaction, diagnostics };
      return { kind: "accepted", accepted };
    },
  };
}

export const messageId = (nonce: string): string => `msg_${nonce}`;

function fingerprintOf(view: MessagesView): Fingerprint {
  const { body, model } = view;
  return {
    fields: [
      ["model", model],
      ["system", canonical(body.system ?? "")],
      ["tools", canonical(body.tools ?? [])],
    ],
    pieces: piecesOf(view).map((piece) => {
      const content = meaning(piece);
      return { content, tokens: tokensIn(content.length) };
    }),
  };
}

function diagnose(view: MessagesView, sent: ReadonlyMap<string, MessagesView>): object | undefined {
  const { diagnostics } = view.body;
  const { previous_message_id: previous } = record(diagnostics);
  if (diagnostics == null) return undefined;
  if (typeof previous !== "string") return { cache_miss_reason: null };
  const before = sent.get(previous);
  if (before === undefined) return { cache_miss_reason: { type: "previous_message_not_found" } };
  const found = divergence(fingerprintOf(before), fingerprintOf(view));
  if (found === undefined) return { cache_miss_reason: null };
  const where = found.where === "pieces" ? "messages" : found.where;
  const cache_missed_input_tokens = found.missedTokens;
  return { cache_miss_reason: { type: `${where}_changed`, cache_missed_input_tokens } };
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
