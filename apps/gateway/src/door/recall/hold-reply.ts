// Holds a reply back until it is whole, and keeps its client from giving up meanwhile.

import type { UpstreamAnswer } from "../../passing/ask-upstream.ts";
import { headersBack } from "../../passing/pass-headers.ts";
import { headerOf, type RawHeaders } from "../../passing/raw-headers.ts";
import type { DoorOutlet } from "../call/door-call.ts";
import type { PeekedReply, ReplyPeek } from "../upstream/peek-reply.ts";
import type { RelayEnd } from "../upstream/relay.ts";

export interface HeldReply {
  answer: UpstreamAnswer;
  /** As they came. */
  pieces: readonly Uint8Array[];
  reply: PeekedReply;
  end: RelayEnd;
}

export interface Holding {
  peek: ReplyPeek;
  /** A longer one is broken off: nobody can say what is in it. */
  maxBytes: number;
  /** Headers that are ours. */
  named: RawHeaders;
  /** Between signs of life, ms; only a stream of events has a place for them. */
  idleMs?: number;
}

const IDLE_MS = 10_000;
const SIGN_OF_LIFE = new TextEncoder().encode(": waiting\n\n");

export async function holdReply(
  answer: UpstreamAnswer,
  outlet: DoorOutlet,
  { peek, maxBytes, named, idleMs = IDLE_MS }: Holding,
): Promise<HeldReply> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  let end: RelayEnd = "whole";
  const isEvents = headerOf(answer.headers, "content-type")?.startsWith("text/event-stream");
  const signs = setInterval(() => {
    if (!isEvents || outlet.gone.aborted) return;
    beginOnce(answer, outlet, named);
    void outlet.write(SIGN_OF_LIFE);
  }, idleMs);
  try {
    for await (const piece of answer.bytes) {
      await peek.push(piece);
      pieces.push(piece);
      size += piece.length;
      if (size > maxBytes) end = "broken";
      if (outlet.gone.aborted || end === "broken") break;
    }
  } catch {
    end = "broken";
  } finally {
    clearInterval(signs);
  }
  if (outlet.gone.aborted) end = "gone";
  return { answer, pieces, reply: await peek.end(end), end };
}

/** What was held, behind the signs of life if there were any. */
export async function passHeld(
  { answer, pieces, end }: HeldReply,
  outlet: DoorOutlet,
  named: RawHeaders,
): Promise<void> {
  beginOnce(answer, outlet, named);
  for (const piece of pieces) await outlet.write(piece);
  if (end === "whole") outlet.end();
  else outlet.breakOff();
}

function beginOnce({ status, headers }: UpstreamAnswer, outlet: DoorOutlet, named: RawHeaders) {
  if (!outlet.hasBegun) outlet.begin(status, [...headersBack(headers), ...named]);
}
