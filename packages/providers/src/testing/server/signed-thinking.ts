// Who may read which signed thinking, in which conversation.
import { digest } from "./prompt-cache.ts";
import { type Sealed, seal, unseal } from "./seal.ts";

/** A block of a conversation, as far as signatures care for it. */
export type Piece =
  | { kind: "said"; meaning: string }
  | {
      kind: "thinking";
      /** As errors name it. */
      path: string;
      /** Place of its message. */
      turn: number;
      words: string;
      signature: string;
    };

/** Who asks to have the thinking read. */
export interface Reader {
  api: string;
  account: string;
  /** Models of one name read each other. */
  model: string;
  /** Signatures hold only in the conversation they were made in. */
  bindsPrefix: boolean;
  /** A block of another conversation is left out instead of refused. */
  mayDrop: boolean;
  /** Place of the last message of the model. */
  latestTurn: number;
}

/** A thinking block that the model was not shown. */
export interface Dropped {
  path: string;
  /** What it is bound to and did not find. */
  binding: "model" | "prefix" | "organization";
}

export interface Refused {
  kind: "refused";
  rule: "signature.foreign" | "signature.modified" | "signature.prefix" | "signature.chain";
  path: string;
}

export interface Read {
  kind: "read";
  dropped: Dropped[];
  /** Stands for everything that was said, thinking apart. */
  prefix: string;
  /** The thinking that was read last. */
  last: string | null;
}

type Thinking = Extract<Piece, { kind: "thinking" }>;
type Place = Pick<Read, "prefix" | "last">;
type Verdict = { kind: "kept" } | { kind: "dropped"; binding: Dropped["binding"] } | Refused;

/** `preface`: what stands before all messages. */
export function readThinking(
  preface: string,
  pieces: readonly Piece[],
  reader: Reader,
): Read | Refused {
  const dropped: Dropped[] = [];
  let prefix = digest(preface);
  let last: string | null = null;
  /** The rest of a turn's thinking goes with the first that is left out. */
  let lostTurn = -1;
  for (const piece of pieces) {
    if (piece.kind === "said") {
      prefix = digest(`${prefix} ${piece.meaning}`);
      continue;
    }
    const verdict: Verdict =
      lostTurn === piece.turn
        ? { kind: "dropped", binding: "prefix" }
        : judge(piece, reader, { prefix, last });
    if (verdict.kind === "refused") return verdict;
    if (verdict.kind === "kept") last = digest(piece.signature);
    else {
      dropped.push({ path: piece.path, binding: verdict.binding });
      if (verdict.binding === "prefix") lostTurn = piece.turn;
    }
  }
  return { kind: "read", dropped, prefix, last };
}

function judge(piece: Thinking, reader: Reader, place: Place): Verdict {
  const refuse = (rule: Refused["rule"]): Refused => ({ kind: "refused", rule, path: piece.path });
  const sealed = unseal(piece.signature);
  if (sealed === undefined || sealed.api !== reader.api) return refuse("signature.foreign");
  if (sealed.content !== digest(piece.words))
    return refuse(piece.turn === reader.latestTurn ? "signature.modified" : "signature.foreign");
  const isReadable = sealed.model === reader.model;
  if (!reader.bindsPrefix) return isReadable ? { kind: "kept" } : refuse("signature.foreign");
  if (sealed.account !== reader.account) return { kind: "dropped", binding: "organization" };
  if (!isReadable) return { kind: "dropped", binding: "model" };
  const rule = brokenBinding(sealed, place);
  if (rule === undefined) return { kind: "kept" };
  return reader.mayDrop ? { kind: "dropped", binding: "prefix" } : refuse(rule);
}

/** Thinking may be left out from the front on, not between others. */
function brokenBinding(sealed: Sealed, { prefix, last }: Place): Refused["rule"] | undefined {
  if (sealed.prefix !== prefix) return "signature.prefix";
  return last !== null && sealed.previous !== last ? "signature.chain" : undefined;
}

/** Signs thinking, and hears what is said between: that is part of the next one's prefix. */
export interface Signer {
  said(meaning: string): void;
  sign(words: string): string;
}

export function createSigner(
  { api, account, model }: Pick<Reader, "api" | "account" | "model">,
  start: Place,
): Signer {
  let { prefix, last } = start;
  return {
    said(meaning) {
      prefix = digest(`${prefix} ${meaning}`);
    },
    sign(words) {
      const content = digest(words);
      const signature = seal({ api, account, model, content, prefix, previous: last });
      last = digest(signature);
      return signature;
    },
  };
}
