// What a Converse server remembers of reasoning it signed, and of prompts.
import { lineOf } from "../anthropic-messages/models.ts";
import { tokensIn } from "../server/bill.ts";
import { canonical, type JsonObject, list, record, text } from "../server/json.ts";
import type { PromptCache, Segment } from "../server/prompt-cache.ts";
import {
  createSigner,
  type Piece,
  type Refused,
  readThinking,
  type Signer,
} from "../server/signed-thinking.ts";
import type { Accepted, WireMemory } from "../server/wire.ts";
import type { Block, ConverseView } from "./view.ts";

export interface ConverseAccepted extends Accepted {
  /** One for each reply; null: this model does not sign. */
  signer(): Signer | null;
}

const API = "bedrock-converse-stream";
const MODEL_SAYS = "The model returned the following errors: ";

const WORDS: Readonly<Record<Refused["rule"], string>> = {
  "signature.foreign": "Invalid `signature` in `thinking` block",
  "signature.modified":
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
  "signature.prefix":
    "Invalid `signature` in `thinking` block. The block is bound to a different conversation.",
  "signature.chain":
    "Invalid `signature` in `thinking` block. The block is bound to a different conversation.",
};

export function createMemory(cache: PromptCache): WireMemory<ConverseView, ConverseAccepted> {
  return {
    examine(view, { account }) {
      const model = lineOf(view.model);
      const reader = {
        api: API,
        account,
        model,
        bindsPrefix: view.traits.bindsPrefix,
        mayDrop: mayDrop(view),
        latestTurn: view.messages.findLast(({ role }) => role === "assistant")?.index ?? -1,
      };
      const pieces = view.isClaude ? piecesOf(view) : [];
      const read = readThinking(preface(view), pieces, reader);
      if (read.kind === "refused") {
        const { rule, path } = read;
        return { kind: "refused", rule, message: `${MODEL_SAYS}${path}: ${WORDS[rule]}` };
      }
      const prompt = cache.settle(`${account} ${view.model}`, segmentsOf(view));
      const changes = read.dropped.map(
        ({ path, binding }) => `thinking_dropped ${path} ${binding}`,
      );
      const signer = () => (view.isClaude ? createSigner(reader, read) : null);
      return { kind: "accepted", accepted: { prompt, changes, signer } };
    },
  };
}

const mayDrop = ({ body }: ConverseView) => {
  const { thinking } = record(body.additionalModelRequestFields);
  return record(record(thinking).block_binding).prefix_mismatch_behavior === "drop_block";
};

const preface = ({ body }: ConverseView) =>
  canonical([withoutMarks(record(body.toolConfig).tools), withoutMarks(body.system)]);

const withoutMarks = (items: unknown) =>
  list(items).filter((item) => !("cachePoint" in record(item)));

/** Of a reply and of a request alike. */
export const meaningOf = (role: string, block: JsonObject): string => `${role} ${canonical(block)}`;

function piecesOf({ blocks }: ConverseView): Piece[] {
  return blocks.flatMap((block): Piece[] => {
    if ("cachePoint" in block.value) return [];
    return "reasoningContent" in block.value
      ? [thinkingOf(block)]
      : [{ kind: "said", meaning: meaningOf(block.role, block.value) }];
  });
}

function thinkingOf({ value, path, turn }: Block): Piece {
  const { reasoningText, redactedContent } = record(value.reasoningContent);
  const { text: words, signature } = record(reasoningText);
  const redacted = Buffer.from(text(redactedContent), "base64").toString();
  return {
    kind: "thinking",
    path,
    turn,
    words: text(words),
    signature: text(signature) || redacted,
  };
}

const TTL_MS: Readonly<Record<string, number>> = { "5m": 5 * 60_000, "1h": 60 * 60_000 };
const IMAGE_TOKENS = 1600;

/** Tools, system, messages; a mark stands behind what it marks. */
export function segmentsOf({ body, blocks }: ConverseView): Segment[] {
  const segments: Segment[] = [];
  const all = [
    ...list(record(body.toolConfig).tools),
    ...list(body.system),
    ...blocks.map(({ value }) => value),
  ];
  for (const value of all.map(record)) {
    const before = segments.at(-1);
    if ("cachePoint" in value) {
      const { ttl } = record(value.cachePoint);
      if (before !== undefined) before.keepMs = TTL_MS[text(ttl) || "5m"] ?? TTL_MS["5m"]!;
      continue;
    }
    const content = canonical(value);
    const isImage = "image" in value || "document" in value;
    segments.push({ content, tokens: isImage ? IMAGE_TOKENS : tokensIn(content.length) });
  }
  return segments;
}
