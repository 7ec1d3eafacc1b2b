// Conformance cases about the token budget.
import { estimateMessages } from "../../tokens/message.ts";
import { type ConformanceCase, ownersOnly } from "../case.ts";
import { CaseFailure, check } from "../engine-call.ts";
import { talk } from "./observe.ts";

/** Tokens, from nothing to more than the conversations of these cases. */
export const BUDGETS: readonly number[] = [
  0, 1, 7, 40, 100, 160, 230, 310, 400, 550, 700, 900, 1_200, 1_700, 2_500, 4_000, 8_000, 100_000,
];

const ODD_BUDGETS = [0, 1, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY];

export const budgetCases: readonly ConformanceCase[] = [
  {
    id: "budget/never-throws",
    group: "budget",
    title: "answers at every budget, however small or odd: a throw would set it aside",
    rule: "A method that throws sets the engine aside (quarantine) until a restart",
    async run(context) {
      const session = context.session();
      await session.deliver(
        context.engine,
        talk("a", { turns: 6, tools: 1, toolResultChars: 4_000 }),
      );
      for (const tokenBudget of [...BUDGETS, ...ODD_BUDGETS])
        await session.assemble(context.engine, { tokenBudget });
    },
  },
  {
    id: "budget/never-above",
    group: "budget",
    title: "stays within tokenBudget, or says preassembly_may_overflow",
    rule: "every tool call with its result, at most `tokenBudget` tokens",
    ...ownersOnly,
    async run(context) {
      const session = context.session();
      await session.deliver(
        context.engine,
        talk("a", { turns: 12, tools: 2, toolResultChars: 600 }),
      );
      for (const tokenBudget of BUDGETS) {
        const assembled = await session
          .assemble(context.engine, { tokenBudget })
          .catch((error: unknown) => {
            if (error instanceof CaseFailure) return undefined;
            throw error;
          });
        if (assembled === undefined || assembled.promptAuthority === "preassembly_may_overflow")
          continue;
        // The low bound: what is above it is above the budget by anybody's count.
        const { low } = estimateMessages(assembled.messages);
        check(
          low <= tokenBudget,
          `With a budget of ${tokenBudget} tokens it assembled at least ${low}, without saying so.`,
        );
      }
    },
  },
  {
    id: "budget/honest-estimate",
    group: "budget",
    title: "gives an estimate that is not below half of what its messages hold, or 0 for none",
    rule: 'Tokens of `messages`; 0 = "not estimated".',
    async run(context) {
      const session = context.session();
      await session.deliver(
        context.engine,
        talk("a", { turns: 10, tools: 1, toolResultChars: 1_000 }),
      );
      const { messages, estimatedTokens } = await session.assemble(context.engine);
      const { low } = estimateMessages(messages);
      check(
        !(estimatedTokens > 0) || estimatedTokens >= low / 2,
        `It estimated ${estimatedTokens} tokens for messages of at least ${low}.`,
      );
    },
  },
];
