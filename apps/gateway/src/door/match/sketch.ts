// What the matcher looks at of one request.
import { contentHash } from "../../text/content-hash.ts";
import type { DoorRequest, DoorWire, MessageLook } from "../wires/door-wire.ts";
import { canonical } from "../wires/json.ts";
import type { ClientKey } from "./client-key.ts";

export interface SketchedMessage extends MessageLook {
  /** Of the identity; null: it has none. */
  hash: string | null;
  /** Of this message and all before it. */
  end: string;
  /** The same without the first one; null where the first two are not both a person's. */
  behindFirst: string | null;
}

export interface RequestSketch {
  client: ClientKey;
  /** Those behind the leading system and developer messages. */
  messages: readonly SketchedMessage[];
  /** Names, sorted. */
  tools: readonly string[];
  /** Of everything that leads: system prompt, instructions, developer messages. */
  head: string;
}

export function sketchRequest(
  wire: DoorWire,
  request: DoorRequest,
  client: ClientKey,
): RequestSketch {
  const { messages, leading } = request;
  const head = contentHash(canonical([request.system, messages.slice(0, leading)]));
  // The chain begins with the wire: what looks alike on two is not the same conversation.
  let end: string = wire.api;
  let behindFirst = `${wire.api} behind the first`;
  const looks = messages.slice(leading).map((message) => wire.look(message));
  const isIntroduced = looks[0]?.speaker === "person" && looks[1]?.speaker === "person";
  const sketched = looks.map((look, index): SketchedMessage => {
    const { identity } = look;
    if (identity !== null) end = contentHash(end + identity);
    const isBehindFirst = isIntroduced && index > 0;
    if (identity !== null && isBehindFirst) behindFirst = contentHash(behindFirst + identity);
    return withHash(look, { end, behindFirst: isBehindFirst ? behindFirst : null });
  });
  return { client, messages: sketched, tools: [...request.tools].sort(), head };
}

/** Few messages are asked for theirs. */
function withHash(
  look: MessageLook,
  ends: Pick<SketchedMessage, "end" | "behindFirst">,
): SketchedMessage {
  const { identity } = look;
  let hash: string | null | undefined;
  // What is only computed when it is asked for stays so.
  return Object.defineProperty(Object.assign(look, ends), "hash", {
    get: () => {
      if (hash === undefined) hash = identity === null ? null : contentHash(identity);
      return hash;
    },
  }) as SketchedMessage;
}

/**
 * What a message is found by when what stands before it has changed: its first id, a reply by its
 * words, anything else as a whole. Null: it has nothing to be found by.
 */
export function tokenOf(message: SketchedMessage): string | null {
  const { calls, answers, speaker, text } = message;
  if (calls.length > 0) return `${ANCHOR}calls ${calls[0]}`;
  if (answers.length > 0) return `${ANCHOR}answers ${answers[0]}`;
  if (message.identity === null) return null;
  return speaker === "model" && text.trim() !== "" ? saidToken(text) : message.hash;
}

/** The tokens that a reply will be found by. */
export const tokensOfReply = (reply: {
  texts: readonly string[];
  calls: readonly string[];
}): string[] => [
  ...reply.texts.map(saidToken),
  ...reply.calls.map((call) => `${ANCHOR}calls ${call}`),
];

/** Of a model or a tool: hardly ever said twice. */
export const isAnchor = (token: string): boolean => token.startsWith(ANCHOR);

/** True: the token ends a turn. */
export const isSaid = (token: string | undefined): boolean =>
  token?.startsWith(`${ANCHOR}said `) === true;

const ANCHOR = "= ";

const saidToken = (text: string): string => `${ANCHOR}said ${contentHash(text.trim())}`;
