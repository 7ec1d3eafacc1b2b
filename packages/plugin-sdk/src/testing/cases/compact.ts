// Conformance cases about compaction, delegated or owned.
import { estimateMessages } from "../../tokens/message.ts";
import { asOwner, type ConformanceCase } from "../case.ts";
import type { CaseContext } from "../case-context.ts";
import { check } from "../engine-call.ts";
import { positionsIn, talk } from "./observe.ts";

export const compactCases: readonly ConformanceCase[] = [
  {
    id: "compact/delegates",
    group: "compact",
    title:
      "hands compaction to the host's built-in one: doing nothing leaves no way out of an overflow",
    rule: "one that does not should return `delegateCompactionToRuntime(params)`",
    async run(context) {
      const before = await longSession(context);
      asOwner(context.engine, false);
      const { tokenBudget = 0 } = context.session().compactParams();
      const result = await context.session().compact(context.engine);
      check(
        context.compactions.length > 0,
        "compact() of an engine that owns no compaction did not reach the host's built-in one.",
      );
      check(
        result?.compacted === true,
        "compact() does not answer what the built-in compaction did.",
      );
      const after = await sizeOf(context);
      // Who shows little of a session shows as little afterwards.
      check(
        after < before || before <= tokenBudget,
        "After the built-in compaction the assembly is not smaller.",
      );
    },
  },
  {
    id: "compact/no-built-in",
    group: "compact",
    title: "says so, and does not throw, where the host offers no built-in compaction",
    rule: '"no-built-in" this host has none',
    async run(context) {
      await longSession(context);
      asOwner(context.engine, false);
      const result = await context.withoutCompaction(() =>
        context.session().compact(context.engine),
      );
      check(
        result?.compacted === false,
        "compact() answered that it compacted on a host that offers no compaction.",
      );
      check(
        typeof result.reason === "string",
        "compact() gives no reason on a host that offers no compaction.",
      );
    },
  },
  {
    id: "compact/smaller",
    group: "compact",
    title:
      "compacts a context four times its budget, or fits without; and compacted means a smaller next assembly",
    rule: "`{ ok: true, compacted: true }` promises a smaller next assembly",
    async run(context) {
      const before = await longSession(context);
      asOwner(context.engine, true);
      const { tokenBudget = 0 } = context.session().compactParams();
      const result = await context.session().compact(context.engine);
      if (!result.compacted && context.engine.info.turnMaintenanceMode === "background")
        await context.session().maintain(context.engine);
      const after = await sizeOf(context);
      if (result.compacted)
        check(
          after < before,
          `compact() answered that it compacted, but the assembly went from ${before} to ${after}.`,
        );
      else
        check(
          after <= tokenBudget,
          `compact() did nothing about ${before} tokens for a budget of ${tokenBudget}.`,
        );
    },
  },
  {
    id: "compact/reported-numbers",
    group: "compact",
    title: "reports fewer tokens after than before when it compacted",
    rule: "True promises that the next assembly is smaller.",
    async run(context) {
      await longSession(context);
      asOwner(context.engine, true);
      const { compacted, result } = await context.session().compact(context.engine);
      if (!compacted || result?.tokensAfter === undefined) return;
      const { tokensBefore, tokensAfter } = result;
      check(
        tokensAfter < tokensBefore,
        `compact() compacted from ${tokensBefore} to ${tokensAfter} tokens by its own count.`,
      );
    },
  },
  {
    id: "compact/keeps-request",
    group: "compact",
    title: "keeps the newest request as it was said",
    rule: "The newest request stays as it was said.",
    async run(context) {
      const session = context.session();
      await longSession(context);
      asOwner(context.engine, true);
      await session.compact(context.engine);
      const newest = session.history().findLastIndex(({ role }) => role === "user");
      const { messages } = await session.assemble(context.engine);
      check(
        positionsIn(session.history(), messages).includes(newest),
        "After compact() the newest request is not in the assembly.",
      );
    },
  },
  {
    id: "compact/again",
    group: "compact",
    title: "can be asked again and again, and never grows the assembly",
    rule: "If it made nothing smaller, `code` tells the host why",
    async run(context) {
      let size = await longSession(context);
      asOwner(context.engine, true);
      for (let time = 1; time <= 3; time++) {
        await context.session().compact(context.engine);
        const after = await sizeOf(context);
        check(
          after <= size,
          `The ${time}. compact() in a row grew the assembly from ${size} to ${after} tokens.`,
        );
        size = after;
      }
    },
  },
];

/** Tokens of its assembly. */
async function longSession(context: CaseContext): Promise<number> {
  await context
    .session()
    .deliver(context.engine, talk("a", { turns: 16, tools: 2, toolResultChars: 1_200 }));
  return sizeOf(context);
}

async function sizeOf(context: CaseContext): Promise<number> {
  return estimateMessages((await context.session().assemble(context.engine)).messages).estimate;
}
