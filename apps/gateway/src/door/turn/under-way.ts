// Knows which replies are under way at the door, so that each of them can be ended.
import { EndedEarly, IS_STOPPING } from "../../stopping.ts";

/** Who ended a reply that its client would have heard to its end. */
export class EndedHere extends EndedEarly {
  /** What the client is told, as HTTP says it. */
  readonly status: number;

  constructor(why: string, status: number) {
    super(why);
    this.status = status;
  }
}

/** A reply from its request to its end. */
export interface ReplyUnderWay {
  /** Aborted when it is to end: its client has gone, or somebody here said so. */
  readonly signal: AbortSignal;
  /** It is over. */
  leave(): void;
}

export interface RepliesUnderWay {
  /** By the canonical key of its session. */
  enter(key: string, gone: AbortSignal): ReplyUnderWay;
  /** The gateway stops: all end. */
  endAll(): void;
}

export function createRepliesUnderWay(): RepliesUnderWay {
  const replies = new Map<string, Set<AbortController>>();
  let isStopping = false;
  const stop = (here: AbortController) => here.abort(new EndedHere(IS_STOPPING, 503));
  return {
    enter(key, gone) {
      const here = new AbortController();
      if (isStopping) stop(here);
      const together = replies.get(key) ?? new Set();
      replies.set(key, together.add(here));
      return {
        signal: AbortSignal.any([gone, here.signal]),
        leave() {
          together.delete(here);
          if (together.size === 0) replies.delete(key);
        },
      };
    },
    endAll() {
      isStopping = true;
      for (const together of replies.values()) for (const here of together) stop(here);
    },
  };
}

/** Why a reply was ended here; undefined: it was not, or its client went away before. */
export const endedHere = ({ reason }: AbortSignal): EndedHere | undefined =>
  reason instanceof EndedHere ? reason : undefined;
