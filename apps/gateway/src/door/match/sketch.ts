// What the matcher looks at of one request.
import { contentHash } from "../../text/content-hash.ts";
import type { DoorRequest, DoorWire, MessageLook } from "../wires/door-wire.ts";
import { canonical } from "../wires/json.ts";
import type { ClientKey } from "./client-key.ts";

/** Its identity is the hash of what it was. */
export interface SketchedMessage extends MessageLook {
  /** The same; null: it has none. */
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
  const sketched: SketchedMessage[] = [];
  let isIntroduced = false;
  for (const message of messages.slice(leading)) {
    const look = wire.look(message);
    const index = sketched.length;
    if (index === 1) isIntroduced = sketched[0]!.speaker === "person" && look.speaker === "person";
    // Of the identity only the hash is kept: all of them are as large as the request.
    const hash = look.identity === null ? null : contentHash(look.identity);
    if (hash !== null) end = contentHash(end + hash);
    if (hash !== null && isIntroduced) behindFirst = contentHash(behindFirst + hash);
    const ends = { identity: hash, hash, end, behindFirst: isIntroduced ? behindFirst : null };
    // What is only computed when it is asked for stays so.
    sketched.push(Object.assign(look, ends));
  }
  return { client, messages: sketched, tools: [...request.tools].sort(), head };
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
