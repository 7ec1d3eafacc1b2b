// Conformance cases about turns delivered with the whole message list.
import { type ConformanceCase, onlyWith } from "../case.ts";
import { expectNothingTwice } from "./idempotence.ts";
import { turnOf } from "./observe.ts";

export const afterTurnCases: readonly ConformanceCase[] = [
  {
    id: "after-turn/only-new-messages",
    group: "after-turn",
    title: "records only messages from prePromptMessageCount on",
    rule: "Record only messages from `prePromptMessageCount` on.",
    ...onlyWith("afterTurn"),
    async run(context) {
      for (const turn of [1, 2, 3])
        await context.session().deliver(context.engine, turnOf("a", turn, { tools: 1 }));
      await expectNothingTwice(context, "told of three turns, each with the whole list");
    },
  },
];
