// What those are told whose message cannot be taken now.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { describeBytes } from "../limits/size.ts";
import { shortName } from "../sessions/keys.ts";
import { counted } from "../text/number.ts";
import type { WaitingLimits } from "./plan-arrival.ts";

/** There is too much to do; it is worth trying again after so many seconds. */
export class BacklogFull extends ContextEngineError {
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number) {
    super("BACKLOG_FULL", `${message} Send it again in ${retryAfterSeconds} s.`);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export const sessionBusy = (key: string): ContextEngineError =>
  new ContextEngineError(
    "SESSION_BUSY",
    `A reply is being written in session "${shortName(key)}", and the message is not to wait; send it when the reply is there, or with whenBusy "follow" or "steer" (clew chat: --when-busy).`,
  );

export const sessionInUse = (key: string): ContextEngineError =>
  new ContextEngineError(
    "SESSION_BUSY",
    `Session "${shortName(key)}" stays: a reply is being written in it; stop that or wait for it, then try again.`,
  );

export const sessionFull = (
  key: string,
  waiting: { messages: number; bytes: number },
  { waitingMessages, waitingBytes }: WaitingLimits,
  retryAfterSeconds: number,
): BacklogFull =>
  new BacklogFull(
    `${counted(waiting.messages, "message")} of ${describeBytes(waiting.bytes)} ${waiting.messages === 1 ? "waits" : "wait"} in session "${shortName(key)}", and no more than ${waitingMessages} or ${describeBytes(waitingBytes)} may (gateway.limits.waitingMessages, waitingBytes).`,
    retryAfterSeconds,
  );

export const gatewayFull = (backlog: number, retryAfterSeconds: number): BacklogFull =>
  new BacklogFull(
    `${counted(backlog, "message")} ${backlog === 1 ? "waits" : "wait"} for their turn in all sessions, and no more may (gateway.limits.waitingTurns).`,
    retryAfterSeconds,
  );

const MOST_SECONDS = 60;

/** Pure. When there will probably be a place: the time of so many turns, with so many at once. */
export function retryAfter(
  ahead: number,
  { usualMs = 5000, atOnce }: { usualMs: number | undefined; atOnce: number },
): number {
  const seconds = Math.ceil((usualMs * Math.max(1, ahead)) / Math.max(1, atOnce) / 1000);
  return Math.min(MOST_SECONDS, Math.max(1, seconds));
}

/** It is kept although the process ends. */
export const keptForNextStart = (): ContextEngineError =>
  new ContextEngineError(
    "GATEWAY_STOPPING",
    "The gateway is stopping; the message is kept, and has its turn when it has been started again.",
  );

/** Of what was said under the key nothing is told: the sender may be another one. */
export const keyReused = (key: string): ContextEngineError =>
  new ContextEngineError(
    "IDEMPOTENCY_KEY_REUSED",
    `A message that says something else was sent under this idempotencyKey in session "${shortName(key)}"; this one was not said, so send it under a key of its own.`,
  );

/** Who waits for a reply cannot be given one that another request got. */
export const alreadySaid = (key: string): ContextEngineError =>
  new ContextEngineError(
    "REQUEST_INVALID",
    `A message with this idempotencyKey is in session "${shortName(key)}" already; send another key with another message.`,
  );
