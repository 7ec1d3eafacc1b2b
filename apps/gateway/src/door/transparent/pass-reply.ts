// Passes a model server's answer to the client, and learns from it on the way.
import type { UpstreamAnswer } from "../../passing/ask-upstream.ts";
import { headersBack } from "../../passing/pass-headers.ts";
import { headerOf, type RawHeaders } from "../../passing/raw-headers.ts";
import type { Refusal } from "../../passing/refusal.ts";
import type { DoorOutlet } from "../call/door-call.ts";
import { endedHere } from "../call/under-way.ts";
import { type BegunAnswer, tellEnded } from "../reply/tell-ended.ts";
import type { DoorTurn } from "../turn/door-turn.ts";
import { knowLast } from "../upstream/know-last.ts";
import { type PeekedReply, peekReply } from "../upstream/peek-reply.ts";
import { relay } from "../upstream/relay.ts";
import type { Shown } from "./ask-with-view.ts";
import { endTurn } from "./end-turn.ts";
import type { TransparentParts } from "./parts.ts";

export interface Passed {
  answer: UpstreamAnswer;
  outlet: DoorOutlet;
  named: RawHeaders;
  shown: Shown;
}

export async function passReply(
  parts: TransparentParts,
  turn: DoorTurn,
  { answer, outlet, named, shown }: Passed,
): Promise<void> {
  const { resolved } = turn.upstream;
  const tell = parts.recorder.follow(turn);
  const peek = peekReply({
    api: turn.call.wire.api,
    ...{ resolved, answer },
    maxBytes: parts.host.config.gateway.limits.answerBytes,
    onEvent: tell,
  });
  let isLearned = false;
  // Whoever has the end of a reply may go on from it at once.
  const learn = (reply: PeekedReply) => {
    if (isLearned) return;
    isLearned = true;
    endTurn(parts, turn, reply, shown);
  };
  const begun: BegunAnswer = { headers: answer.headers, tail: new Uint8Array() };
  const isEvents = headerOf(answer.headers, "content-type")?.includes("event-stream") === true;
  const { pieces, isOver } = knowLast(answer.bytes, (piece) => !isEvents || mayEnd(turn, piece));
  const end = await relay({ ...answer, bytes: pieces }, outlet, {
    more: named,
    async peek(piece) {
      if (!turn.gone.aborted) begun.tail = piece;
      const reply = (await peek.push(piece)) ?? (isOver() ? await peek.end("whole") : undefined);
      if (reply !== undefined) learn(reply);
      // Who has the end of a reply need say neither again, what was asked nor what was replied.
      if (reply !== undefined || !isEvents) await orGone(turn, parts.recorder.kept(turn));
    },
  });
  if (!isLearned) learn(await peek.end(end));
  if (end === "whole") await orGone(turn, parts.recorder.kept(turn));
  const ended = endedHere(turn.gone);
  if (end === "whole") outlet.end();
  else if (ended === undefined) outlet.breakOff();
  else tellEnded(outlet, turn.call, { ended, named, begun });
}

/** By Google's wire a reply has no event of its own behind its last words. */
const mayEnd = ({ call }: DoorTurn, piece: Uint8Array): boolean =>
  call.wire.api === "google-generative-ai" && Buffer.from(piece).includes("finishReason");

export async function orGone({ gone }: DoorTurn, done: Promise<void>): Promise<void> {
  const left = Promise.withResolvers<void>();
  const leave = () => left.resolve();
  if (gone.aborted) return;
  gone.addEventListener("abort", leave, { once: true });
  await Promise.race([done, left.promise]);
  gone.removeEventListener("abort", leave);
}

export function passRefusal(
  { status, headers, body }: Refusal,
  outlet: DoorOutlet,
  named: RawHeaders,
) {
  outlet.begin(status, [...headersBack(headers), ...named]);
  void outlet.write(body);
  outlet.end();
}
