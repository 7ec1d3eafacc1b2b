// Makes the person's message durable as it was sent, before anything can fail.
import { messageId, type UserMessage } from "@clew/plugin-sdk/core";
import type { Tell } from "../effects.ts";
import { ask, done, type Task } from "../step.ts";
import type { Turn, TurnSetup } from "../turn.ts";

export const admit: Task = {
  begin: (turn) =>
    turn.prompt !== null
      ? done(turn, ...acceptedBefore(turn))
      : ask(turn, {
          do: "append",
          as: "prompt",
          entries: [{ type: "message", message: promptOf(turn.setup) }],
        }),
  take(turn, answer) {
    if (answer.type !== "appended") return done(turn);
    const entry = answer.entries[0]!;
    const id = (entry.type === "message" && messageId(entry.message)) || entry.id;
    return done(
      { ...turn, prompt: { id, entryId: entry.id } },
      { do: "emit", event: { type: "accepted", entryId: entry.id } },
    );
  },
};

const acceptedBefore = ({ setup: { stored } }: Turn): Tell[] =>
  stored === null ? [] : [{ do: "emit", event: { type: "accepted", entryId: stored.entryId } }];

/**
 * A turn that no person began says so on its message, for whoever is told of it later. What was
 * said before and is said again is another message: it gets an id of its own.
 */
function promptOf({ prompt, startedAt, turnId, kind }: TurnSetup): UserMessage {
  const { __openclaw: { id: _id, kind: _kind, ...envelope } = {}, ...said } = prompt;
  const marks = { ...envelope, ...(kind !== "user" && { kind }) };
  return {
    timestamp: startedAt,
    idempotencyKey: `${turnId}:user`,
    ...said,
    ...(Object.keys(marks).length > 0 && { __openclaw: marks }),
    role: "user",
  };
}
