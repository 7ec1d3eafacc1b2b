import { user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { setUpRecall } from "../testing/recall.ts";
import { specificOf } from "./specific.ts";

const idle = (from: number) =>
  Array.from({ length: 30 }, (_, at) => user(`Ines: Same here, to be honest. ${from + at}`));

describe("what is given back to a question", () => {
  it("holds the answer that follows a question, though it has none of its words", async () => {
    const { tell, call } = setUpRecall();
    await tell([
      ...idle(0),
      user("Ines: How was the trip?"),
      user("Mara: Lisbon was wonderful, apart from the rain."),
      ...idle(30),
    ]);
    const asked = { prompt: "Where did Mara go on the trip?", tokenCap: 100 };
    const answer = await call("lcm_expand_query", asked);
    expect(answer).toContain("Lisbon was wonderful");
    expect(answer).toMatch(/^#32 2026-01-01 user: Mara: Lisbon/m);
  });

  it("holds what was said at the time that is asked for, and nothing of another session", async () => {
    const { tell, call } = setUpRecall();
    const at = (date: string) => ({ timestamp: Date.parse(date) });
    const other = { sessionId: "s2", sessionKey: "agent:main:other" };
    await tell([user("Mara: I bought a canoe.", at("2026-02-02"))]);
    await tell([user("Mara: I bought a secret canoe.", at("2026-03-03"))], other, "o");
    await tell(
      [user("Mara: I bought a kettle.", at("2026-03-03")), user("Thanks.", at("2026-03-04"))],
      undefined,
      "f",
    );
    const answer = await call("lcm_expand_query", { prompt: "What did Mara buy in March?" });
    expect(answer.indexOf("kettle")).toBeLessThan(answer.indexOf("canoe"));
    expect(answer).not.toContain("secret");
  });
});

describe("what a text says that others do not", () => {
  it("is nothing where all say the same, and most where its words stand nowhere else", () => {
    const [one, other, own] = specificOf(["so it is", "so it is", "a brass telescope arrived"]);
    expect(one).toBe(other);
    expect(own).toBeGreaterThan(one!);
    expect(specificOf([""])).toEqual([0]);
  });
});
