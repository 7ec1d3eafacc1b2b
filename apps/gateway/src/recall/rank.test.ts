import { stepsAtOnce } from "@clew/plugin-sdk/host";
import { describe, expect, it } from "vitest";
import { chooseCandidates, findTermSteps, readHitSteps } from "./rank.ts";
import { planTerms } from "./terms.ts";

const PIECE = 2 ** 17;
const terms = planTerms("Harbour-Tide keys");

function search(text: string) {
  const candidate = stepsAtOnce(findTermSteps(terms, 0, [text, "2026-01-01 10:00"]));
  if (candidate === undefined) return undefined;
  const choice = chooseCandidates(terms, [candidate]);
  return stepsAtOnce(readHitSteps(terms, choice, choice.chosen[0]!, text));
}

describe("a long message", () => {
  it("is searched across the ends of the pieces in which it is looked at", () => {
    const said = "the HARBOUR-tide keys are here";
    for (let at = PIECE - said.length - 2; at <= PIECE + 2; at++) {
      const text = `${".".repeat(at)} ${said} ${".".repeat(PIECE)}`;
      const candidate = stepsAtOnce(findTermSteps(terms, 0, [text]));
      expect(candidate).toMatchObject({ hasLiteral: true, terms: 2 ** terms.terms.length - 1 });
    }
  });

  it("makes a pause for every piece, and for every line that is compared", () => {
    const text = `${"x".repeat(10 * PIECE)}\n${"a line\n".repeat(1000)}harbour-tide keys`;
    const count = (steps: Iterator<unknown>) => {
      let pauses = 0;
      while (!steps.next().done) pauses++;
      return pauses;
    };
    expect(count(findTermSteps(terms, 0, [text]))).toBeGreaterThanOrEqual(10);
    const choice = chooseCandidates(terms, [{ source: 0, terms: 1, hasLiteral: false }]);
    expect(count(readHitSteps(terms, choice, choice.chosen[0]!, text))).toBeGreaterThan(1000);
  });

  it("is shown by its best line and whole lines around it, as many as there is room for", () => {
    const lines = Array.from({ length: 2000 }, (_, at) => `line ${at} of the log`);
    lines[900] = "Harbour-Tide keys: in the drawer";
    const { passage } = search(lines.join("\n"))!;
    expect(passage).toContain("Harbour-Tide keys: in the drawer");
    expect(passage.length).toBeLessThanOrEqual(260);
    expect(passage.split("\n").length).toBeGreaterThan(8);
    expect(lines.join("\n")).toContain(passage);
    const alone = search(`${"z".repeat(5000)}\nHarbour-Tide keys\n${"z".repeat(5000)}`)!;
    expect(alone.passage).toContain("Harbour-Tide keys");
    expect(search("Harbour-Tide keys")!.passage).toBe("Harbour-Tide keys");
    expect(search("nothing of that kind")).toBeUndefined();
  });
});
