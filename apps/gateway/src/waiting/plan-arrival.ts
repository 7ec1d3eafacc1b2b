// Decides whether a message that arrives begins, waits or is refused.
import type { WhenBusy } from "../config/when-busy.ts";

export interface Arrival {
  whenBusy: WhenBusy;
  /** Of the message. */
  bytes: number;
  /** True: whoever sent it has no way to send it again, and it waits for as long as it takes. */
  isPatient: boolean;
}

export interface Standing {
  /** A turn runs in the session, or something else that has to end first. */
  isBusy: boolean;
  /** What waits in it. */
  waiting: { messages: number; bytes: number };
  /** A turn more may run in the gateway now. */
  hasRoom: boolean;
  /** Messages that wait in all sessions. */
  backlog: number;
}

export interface WaitingLimits {
  /** In one session. */
  waitingMessages: number;
  /** In one session. */
  waitingBytes: number;
  /** In all sessions. */
  waitingTurns: number;
}

export type ArrivalPlan =
  | { kind: "begin" }
  | { kind: "wait" }
  | { kind: "busy" }
  /** There is no place for it. */
  | { kind: "full"; where: "session" | "gateway" };

/** Pure. */
export function planArrival(
  { whenBusy, bytes, isPatient }: Arrival,
  { isBusy, waiting, hasRoom, backlog }: Standing,
  limits: WaitingLimits,
): ArrivalPlan {
  const comesFirst = !isBusy && waiting.messages === 0;
  if (comesFirst && hasRoom) return { kind: "begin" };
  if (!comesFirst && whenBusy === "refuse") return { kind: "busy" };
  if (isPatient) return { kind: "wait" };
  const isTooMuch =
    waiting.messages >= limits.waitingMessages || waiting.bytes + bytes > limits.waitingBytes;
  // One that is larger than all that may wait is let in alone: it was small enough to be sent.
  if (waiting.messages > 0 && isTooMuch) return { kind: "full", where: "session" };
  return backlog >= limits.waitingTurns ? { kind: "full", where: "gateway" } : { kind: "wait" };
}
