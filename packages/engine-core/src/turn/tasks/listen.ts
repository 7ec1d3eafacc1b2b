// Stores what people said since the turn began, so that the next call shows it.
import type { UserMessage } from "@clew/plugin-sdk/core";
import { ask, done, type Task } from "../step.ts";
import type { Turn } from "../turn.ts";

/** Behind the results of the tools, which is where every provider takes words of a person. */
export const listen: Task = {
  begin: (turn) => (turn.setup.host.listens ? ask(turn, { do: "listen" }) : done(turn)),
  take(turn, answer) {
    switch (answer.type) {
      case "listened": {
        if (answer.said.length === 0) return done(turn);
        const entries = answer.said.map((message, index) => ({
          type: "message" as const,
          message: messageOf(turn, message, index),
        }));
        return ask(turn, { do: "append", as: "said-meanwhile", entries });
      }
      case "appended":
        return done(
          turn,
          ...answer.entries.flatMap((entry) =>
            entry.type === "message"
              ? [
                  {
                    do: "emit" as const,
                    event: {
                      ...{ type: "message" as const, entryId: entry.id },
                      message: entry.message,
                    },
                  },
                ]
              : [],
          ),
        );
      default:
        return done(turn);
    }
  },
};

/** What was said before and is said again is another message: it gets an id of its own. */
function messageOf(
  { setup, calls }: Turn,
  message: Omit<UserMessage, "role">,
  index: number,
): UserMessage {
  const { __openclaw: { id: _id, kind: _kind, ...envelope } = {}, ...said } = message;
  return {
    idempotencyKey: `${setup.turnId}:said:${calls}.${index}`,
    ...said,
    ...(Object.keys(envelope).length > 0 && { __openclaw: envelope }),
    role: "user",
  };
}
