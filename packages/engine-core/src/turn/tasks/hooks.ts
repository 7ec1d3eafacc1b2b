// Asks plugins what they want to add to the prompt, once per turn.
import { textOf } from "@clew/plugin-sdk/transcript";
import { messagesOf } from "../../request/view-item.ts";
import { ask, done, type Task } from "../step.ts";

export const hooks: Task = {
  begin(turn) {
    const { setup, additions, assembly } = turn;
    if (!setup.host.hasHooks || additions !== null) return done(turn);
    return ask(turn, {
      do: "ask-hooks",
      prompt: textOf({ role: "user", content: setup.prompt.content }),
      messages: messagesOf(assembly?.items ?? []),
    });
  },
  take: (turn, answer) =>
    done(answer.type === "hooked" ? { ...turn, additions: answer.additions } : turn),
};
