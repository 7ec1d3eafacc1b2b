// Conformance cases about what an assembly is made of.
import { pairToolCalls } from "../../transcript/tool-pairs.ts";
import type { ConformanceCase } from "../case.ts";
import { CaseFailure, check } from "../engine-call.ts";
import { later } from "../sessions/later.ts";
import { BUDGETS } from "./budget.ts";
import { positionsIn, talk } from "./observe.ts";

export const assembleCases: readonly ConformanceCase[] = [
  {
    id: "assemble/empty-session",
    group: "assemble",
    title: "answers an empty list for a session in which nothing was said",
    rule: "Where nothing was said, it shows nothing.",
    async run(context) {
      const { messages } = await context.session().assemble(context.engine, { messages: [] });
      check(
        messages.length === 0,
        `assemble() answered ${messages.length} messages for a session without any.`,
      );
    },
  },
  {
    id: "assemble/newest-kept",
    group: "assemble",
    title: "keeps the newest message, last, where the budget is ample",
    rule: "The newest message is shown last, wherever there is room.",
    async run(context) {
      const session = context.session();
      await session.deliver(context.engine, talk("a", { turns: 6, tools: 1 }));
      const { messages } = await session.assemble(context.engine);
      const last = positionsIn(session.history(), messages.slice(-1))[0];
      check(
        last === session.history().length - 1,
        "The newest message is not the last one of an assembly with room for everything.",
      );
    },
  },
  {
    id: "order/oldest-first",
    group: "order",
    title: "keeps the given messages in their order, oldest first",
    rule: "Chooses the messages for a run: oldest first",
    async run(context) {
      const session = context.session();
      await session.deliver(context.engine, talk("a", { turns: 8, tools: 2 }));
      for (const tokenBudget of [1_000, 1_000_000]) {
        const { messages } = await session.assemble(context.engine, { tokenBudget });
        const places = positionsIn(session.history(), messages);
        const kept = places.every((place, index) => index === 0 || place > places[index - 1]!);
        check(
          kept,
          `With a budget of ${tokenBudget} tokens the messages are not in the order they were said.`,
        );
      }
    },
  },
  {
    id: "pairing/every-budget",
    group: "pairing",
    title: "keeps every tool call with its results, at every budget",
    rule: "every tool call with its result, at most `tokenBudget` tokens",
    async run(context) {
      const session = context.session();
      await session.deliver(
        context.engine,
        talk("a", { turns: 12, tools: 2, toolResultChars: 300 }),
      );
      for (const tokenBudget of BUDGETS) {
        const assembled = await session
          .assemble(context.engine, { tokenBudget })
          .catch((error: unknown) => {
            // A throw is judged by the budget cases.
            if (error instanceof CaseFailure) return { messages: [] };
            throw error;
          });
        const { unanswered, orphanResults } = pairToolCalls(assembled.messages);
        check(
          unanswered.length === 0,
          `With a budget of ${tokenBudget} tokens a tool call stands without its result.`,
        );
        check(
          orphanResults.length === 0,
          `With a budget of ${tokenBudget} tokens a tool result stands without its call.`,
        );
      }
    },
  },
  {
    id: "determinism/same-input",
    group: "determinism",
    title: "answers the same input with the same assembly, so that prompt caches hold",
    rule: "The same history gives the same messages, after a restart too, so that prompt caches hold.",
    async run(context) {
      const session = context.session();
      await session.deliver(context.engine, talk("a", { turns: 10, tools: 1 }));
      for (const tokenBudget of [1_500, 1_000_000]) {
        const [first, second] = [
          await session.assemble(context.engine, { tokenBudget }),
          await session.assemble(context.engine, { tokenBudget }),
        ];
        check(
          JSON.stringify(first) === JSON.stringify(second),
          `Two assemblies of the same ${tokenBudget} tokens differ.`,
        );
      }
    },
  },
  {
    id: "determinism/minutes-later",
    group: "determinism",
    title: "answers the same history in the same way some minutes later, as long as caches hold",
    rule: "The same history gives the same messages, after a restart too, so that prompt caches hold.",
    async run(context) {
      const session = context.session();
      await session.deliver(context.engine, talk("a", { turns: 10, tools: 1 }));
      for (const tokenBudget of [1_500, 1_000_000]) {
        const shown = async () => {
          const given = await session.assemble(context.engine, { tokenBudget });
          return JSON.stringify([given.messages, given.systemPromptAddition]);
        };
        const before = await shown();
        check(
          (await later(MINUTES, shown)) === before,
          "Four minutes later the same history is assembled otherwise, so that no cache holds.",
        );
      }
    },
  },
];

/** Ms; less than any provider's cache lives. */
const MINUTES = 4 * 60_000;
