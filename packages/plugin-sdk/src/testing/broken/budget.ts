// Engines that do not keep to a budget, or lie about their size.
import { type BrokenEngines, fullWith, memoryWith, reassemble } from "./break.ts";

export const BROKEN_BUDGET: BrokenEngines = {
  "budget/never-throws": memoryWith((engine) => ({
    async assemble(params) {
      const result = await engine.assemble(params);
      if (result.promptAuthority === "preassembly_may_overflow") throw new Error("nothing fits");
      return result;
    },
  })),
  "budget/never-above": fullWith((engine) => ({
    async assemble({ tokenBudget: _budget, ...params }) {
      return { ...(await engine.assemble(params)), promptAuthority: "assembled" };
    },
  })),
  "budget/honest-estimate": memoryWith(
    reassemble(({ messages }) => ({ estimatedTokens: messages.length })),
  ),
};
