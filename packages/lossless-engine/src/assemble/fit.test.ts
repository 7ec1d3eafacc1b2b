import { stepsAtOnce } from "@clew/plugin-sdk/host";
import { toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { expect, it } from "vitest";
import { counter, sum } from "./count.ts";
import { planFit } from "./fit.ts";

const count = counter(undefined);
const words = (number: number) => "the quick brown fox ".repeat(number);

it("shows the newest messages whole as long as a quarter is left for an older request of any size", () => {
  const kept = [1, 2].map((at) => toolResult(toolCall("read", {}, `c${at}`), words(200)));
  const partsUnder = (budget: number) => {
    const messages = [user(words(4_000)), ...kept];
    const fit = stepsAtOnce(planFit({ messages, from: 1, budget, leastRecord: 0, count }));
    expect(fit.left).toBeGreaterThanOrEqual(0);
    return [...fit.parts.keys()];
  };
  const { high } = sum(kept, count);
  expect(partsUnder(Math.ceil(high / 0.74))).toEqual([0]);
  expect(partsUnder(Math.floor(high / 0.76))).toContain(1);
});
