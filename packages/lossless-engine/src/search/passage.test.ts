import { describe, expect, it } from "vitest";
import { bestPassage, weightOf } from "./passage.ts";
import { termsOf } from "./terms.ts";

const asking = (query: string) => ({
  terms: termsOf(query, 0).map((term) => ({ term, weight: weightOf(term, 1, 100) })),
  time: undefined,
});

describe("the best passage of a text", () => {
  it("is looked for in steps, however often a text of megabytes holds the letters", () => {
    const text = `${"concatenate é ".repeat(100_000)}\nThe cat sat on the MÉTRO mat.`;
    const steps = bestPassage(text, asking("cat metro"));
    let [step, pauses] = [steps.next(), 0];
    for (; !step.done; pauses++) step = steps.next();
    const { start, end } = step.value!.match;
    expect(text.slice(start, end)).toBe("cat sat on the MÉTRO");
    expect(step.value!.held.size).toBe(2);
    // One for every 65,536 characters that are spelled, and one for every 2,000 places.
    expect(pauses).toBeGreaterThan(21 + 50 - 2);
  });
});
