// Sends turns and follows them over HTTP, while a held model writes their replies in pieces.
import { setTimeout as after } from "node:timers/promises";
import fc from "fast-check";
import type { StreamedEvent } from "../http/event-stream.ts";
import { post } from "./gateway.ts";
import type { HeldModel, HeldReply } from "./held-model.ts";

interface Followed {
  /** Of a gateway. */
  url: string;
  session: string;
  /** Id of the last event that was heard. Undefined: none was. */
  since: string | undefined;
}

export function sendTurn({ url, session, since }: Followed, body: object): Promise<Response> {
  const init = post(body);
  const headers = { ...(init.headers as object), ...sinceHeaders(since) };
  return fetch(`${url}/api/sessions/${session}/messages`, { ...init, headers });
}

export const followTurn = ({ url, session, since }: Followed): Promise<Response> =>
  fetch(`${url}/api/sessions/${session}/stream`, { headers: sinceHeaders(since) });

const sinceHeaders = (since: string | undefined): Record<string, string> =>
  since === undefined ? {} : { "last-event-id": since };

/** Of a turn with one reply or several. */
export const piecesOfReplies = () =>
  fc.array(fc.array(fc.string({ minLength: 1, maxLength: 5 }), { maxLength: 8 }), {
    minLength: 1,
    maxLength: 3,
  });

/** All replies but the last end with a call of a tool. */
export async function sayInPieces(
  model: HeldModel,
  replies: readonly (readonly string[])[],
  { first, pauseMs }: { first: HeldReply; pauseMs: number },
): Promise<void> {
  for (const [index, pieces] of replies.entries()) {
    const reply = index === 0 ? first : await model.asked();
    for (const piece of pieces) {
      reply.say(piece);
      await after(pauseMs);
    }
    if (index < replies.length - 1) reply.callTool("nowhere", {});
    else reply.finish();
  }
}

/** The prompt is told to those who did not send it. */
export const withoutPrompt = (event: StreamedEvent): StreamedEvent =>
  event.type === "accepted" ? { type: event.type, entryId: event.entryId } : event;
