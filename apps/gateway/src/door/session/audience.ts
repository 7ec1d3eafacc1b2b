// Tells all requests of one answer what happens, also those that came in the middle of it.
import type { TurnEvent } from "@clew/engine-core";
import type { Answering } from "./answering.ts";

/** What one answer of a turn is told to. */
export interface Audience extends Pick<Answering, "begin" | "tell" | "pause" | "finish" | "fail"> {
  /** It hears what was said so far, message by message. */
  join(answering: Answering): void;
}

export function createAudience(): Audience {
  const here: { answering: Answering; hearsPieces: boolean }[] = [];
  const said: TurnEvent[] = [];
  let id: string | undefined;
  let last: ((answering: Answering) => void) | undefined;
  const end = (tell: (answering: Answering) => void) => {
    last = tell;
    for (const { answering } of here) tell(answering);
  };
  return {
    join(answering) {
      here.push({ answering, hearsPieces: id === undefined });
      if (id !== undefined) answering.begin(id);
      for (const event of said) answering.tell(event);
      last?.(answering);
    },
    begin(given) {
      id = given;
      for (const { answering } of here) answering.begin(given);
    },
    tell(event) {
      const isWhole = event.type === "message";
      if (isWhole) said.push(event);
      for (const one of here) {
        if (isWhole || one.hearsPieces) one.answering.tell(event);
        // Whoever came in the middle of a message hears the next one piece by piece.
        one.hearsPieces ||= isWhole;
      }
    },
    pause: () => end((answering) => answering.pause()),
    finish: (result) => end((answering) => answering.finish(result)),
    fail: (...why) => end((answering) => answering.fail(...why)),
  };
}
