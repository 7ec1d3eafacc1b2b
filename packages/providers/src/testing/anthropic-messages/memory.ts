// What a Messages server remembers: whose thinking is whose, of which conversation, and its cache.

import { record, text } from "../server/json.ts";
import { digest, type PromptCache } from "../server/prompt-cache.ts";
import { type Sealed, seal, unseal } from "../server/seal.ts";
import type { Accepted, Call, Examined, WireMemory } from "../server/wire.ts";
import { lineOf } from "./models.ts";
import { meaning, type Piece, piecesOf, preface, segmentsOf } from "./prefix.ts";
import { isThinking, type MessagesView } from "./view.ts";

/** A thinking block that the model was not shown. */
export interface Dropped {
  type: "thinking_dropped";
  path: string;
  reason: "model_binding_mismatch" | "prefix_binding_mismatch" | "organization_binding_mismatch";
}

/** Signs the next block of a reply; what was said before it in the reply is part of its prefix. */
export type Signer = (block: { type: string; text: string }) => string;

export interface MessagesAccepted extends Accepted {
  dropped: readonly Dropped[];
  /** One for each reply: it remembers what the reply has said. */
  signer(): Signer;
}

type Verdict =
  | { kind: "kept"; id: string }
  | { kind: "dropped"; reason: Dropped["reason"] }
  | { kind: "refused"; rule: string; message: string };

/** `api`: of the wire that minted; another's signatures cannot be read here. */
export function createMemory(
  cache: PromptCache,
  api = "anthropic-messages",
): WireMemory<MessagesView, MessagesAccepted> {
  return {
    examine(view, call) {
      const conversation = readConversation(view, call, api);
      if (conversation.kind === "refused") return conversation;
      const { dropped, prefix, last } = conversation;
      const prompt = cache.settle(`${call.account} ${view.model}`, segmentsOf(view));
      const changes = dropped.map(({ path, reason }) => `thinking_dropped ${path} ${reason}`);
      const origin = { api, account: call.account, model: lineOf(view.model) };
      const signer = () => createSigner(origin, prefix, last);
      return { kind: "accepted", accepted: { prompt, dropped, changes, signer } };
    },
  };
}

interface Conversation {
  kind: "read";
  dropped: Dropped[];
  /** Stands for everything that was said, thinking apart. */
  prefix: string;
  /** The thinking that was read last. */
  last: string | null;
}

function readConversation(
  view: MessagesView,
  call: Call,
  api: string,
): Conversation | Extract<Examined<never>, { kind: "refused" }> {
  const dropped: Dropped[] = [];
  let prefix = digest(preface(view));
  let last: string | null = null;
  /** The rest of a turn's thinking goes with the first that is dropped. */
  let lostTurn = -1;
  for (const piece of piecesOf(view)) {
    if (!isThinking({ type: text(piece.value.type) })) {
      prefix = digest(`${prefix} ${meaning(piece)}`);
      continue;
    }
    const path = `messages.${piece.message}.content.${piece.index}`;
    const verdict: Verdict =
      lostTurn === piece.message
        ? { kind: "dropped", reason: "prefix_binding_mismatch" }
        : judge(piece, { view, call, api, prefix, last });
    if (verdict.kind === "refused") return { ...verdict, message: `${path}: ${verdict.message}` };
    if (verdict.kind === "kept") last = verdict.id;
    else {
      dropped.push({ type: "thinking_dropped", path, reason: verdict.reason });
      if (verdict.reason === "prefix_binding_mismatch") lostTurn = piece.message;
    }
  }
  return { kind: "read", dropped, prefix, last };
}

interface Place {
  view: MessagesView;
  call: Call;
  api: string;
  prefix: string;
  last: string | null;
}

const signatureOf = ({ value }: Piece) =>
  text(value.type === "thinking" ? value.signature : value.data);
const wordsOf = ({ value }: Piece) => (value.type === "thinking" ? text(value.thinking) : "");

function judge(piece: Piece, { view, call, api, prefix, last }: Place): Verdict {
  const signature = signatureOf(piece);
  const sealed = unseal(signature);
  if (sealed === undefined || sealed.api !== api) return foreign();
  if (sealed.content !== digest(wordsOf(piece)))
    return isLatest(piece, view) ? modified() : foreign();
  const isReadable = sealed.model === lineOf(view.model);
  if (!view.traits.bindsPrefix)
    return isReadable ? { kind: "kept", id: digest(signature) } : foreign();
  if (sealed.account !== call.account)
    return { kind: "dropped", reason: "organization_binding_mismatch" };
  if (!isReadable) return { kind: "dropped", reason: "model_binding_mismatch" };
  const rule = brokenBinding(sealed, { prefix, last });
  if (rule === undefined) return { kind: "kept", id: digest(signature) };
  return mayDrop(view)
    ? { kind: "dropped", reason: "prefix_binding_mismatch" }
    : { kind: "refused", rule, message: BOUND_ELSEWHERE };
}

/** Thinking may be left out from the front on, not between others. */
function brokenBinding(sealed: Sealed, { prefix, last }: Pick<Place, "prefix" | "last">) {
  if (sealed.prefix !== prefix) return "signature.prefix";
  return last !== null && sealed.previous !== last ? "signature.chain" : undefined;
}

const BOUND_ELSEWHERE =
  'Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';

const foreign = (): Verdict => ({
  kind: "refused",
  rule: "signature.foreign",
  message: "Invalid `signature` in `thinking` block",
});

const modified = (): Verdict => ({
  kind: "refused",
  rule: "signature.modified",
  message:
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
});

const mayDrop = ({ body }: MessagesView) =>
  record(record(body.thinking).block_binding).prefix_mismatch_behavior === "drop_block";

const isLatest = ({ message }: Piece, { messages }: MessagesView) =>
  messages.findLast(({ role }) => role === "assistant")?.index === message;

/** What is said after a thinking block belongs to the prefix of the next one. */
function createSigner(
  origin: Pick<Sealed, "api" | "account" | "model">,
  prefix: string,
  previous: string | null,
): Signer {
  let before = prefix;
  let last = previous;
  return ({ type, text: said }) => {
    if (!isThinking({ type })) {
      before = digest(`${before} ${said}`);
      return "";
    }
    const signature = seal({ ...origin, content: digest(said), prefix: before, previous: last });
    last = digest(signature);
    return signature;
  };
}
