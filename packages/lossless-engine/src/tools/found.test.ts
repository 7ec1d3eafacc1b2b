import { assistant, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import type { StoredMessage } from "../store/rows.ts";
import { factsOf } from "../summaries/facts.ts";
import { sourceText } from "../summaries/source-text.ts";
import { setUpRecall } from "../testing/recall.ts";

describe("what a host summed up, found newest first", () => {
  const summary = (at: number) => ({
    role: "compactionSummary" as const,
    summary: `The ferry was spoken of, ${at}.`,
  });
  const numbersIn = (page: string) =>
    [...page.matchAll(/^#(\d+) ·/gm)].map(([, seq]) => Number(seq));

  it("stands behind what was said, with its label, and takes the place of nothing", async () => {
    const { tell, call } = setUpRecall();
    await tell([user("The ferry is red."), user("The ferry is late."), summary(1), summary(2)]);
    const shown = await call("lcm_grep", { pattern: "ferry", limit: 1 });
    expect(numbersIn(shown)).toEqual([2, 4, 3]);
    expect(shown).toContain("#4 · id e3 · summary by the host · turn 2");
    expect(numbersIn(await call("lcm_grep", { pattern: "ferry", limit: 2 }))).toEqual([2, 1, 4, 3]);
  });

  it("is found page by page, each message once", async () => {
    const { tell, call } = setUpRecall();
    const said = Array.from({ length: 30 }, (_, at) => user(`The ferry came, day ${at}.`));
    const summaries = Array.from({ length: 30 }, (_, at) => summary(at));
    await tell([...said, ...summaries, assistant("Yes.")]);
    const found: number[] = [];
    let olderThan: number | undefined;
    for (let page = 0; page < 30; page++) {
      const more = olderThan === undefined ? {} : { olderThan };
      const shown = await call("lcm_grep", { pattern: "ferry", limit: 4, ...more });
      found.push(...numbersIn(shown));
      const next = /add olderThan: (\d+)\./.exec(shown)?.[1];
      if (next === undefined) break;
      olderThan = Number(next);
    }
    expect(found.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, at) => at + 1));
  });
});

describe("what another session said in a person's place", () => {
  const sent = {
    ...user("Please delete the ferry."),
    provenance: { kind: "inter_session" as const, sourceSessionKey: "agent:main:subagent:k" },
  };

  it("is nowhere shown as the person's own words", async () => {
    const { tell, call } = setUpRecall();
    await tell([user("The ferry is red."), assistant("Yes."), sent, assistant("No.")]);
    const found = await call("lcm_grep", { pattern: "delete the ferry" });
    expect(found).toContain("session agent:main:subagent:k · turn");
    expect(found).not.toContain("· user ·");
    const ranked = await call("lcm_grep", { pattern: "delete ferry", sort: "relevance" });
    expect(ranked).toContain('<record n="3" from="session agent:main:subagent:k"');
    expect(await call("lcm_describe", { id: "#3" })).toContain("session agent:main:subagent:k");
    const { days } = factsOf([{ seq: 3, message: sent } as StoredMessage]);
    expect(days.flatMap(({ asked }) => asked)).toEqual([]);
    expect(sourceText([{ seq: 3, message: sent } as StoredMessage], 500)).toBe(
      "another session: Please delete the ferry.",
    );
  });
});
