import { user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { session, setUpRecall } from "../testing/recall.ts";

const child = { sessionId: "k1", sessionKey: "agent:main:subagent:1" };

async function setUp() {
  const recall = setUpRecall();
  await recall.tell([user("the berth is seven")]);
  await recall.engine.prepareSubagentSpawn!({
    ...{ parentSessionKey: session.sessionKey, parentSessionId: session.sessionId },
    childSessionKey: child.sessionKey,
  });
  return recall;
}

describe("arguments of the recall tools", () => {
  it("that are missing or wrong are answered in one sentence where no host checks them", async () => {
    const { call } = await setUp();
    for (const [name, needs] of [
      ["lcm_grep", "pattern"],
      ["lcm_describe", "id"],
      ["lcm_expand_query", "prompt"],
    ] as const) {
      for (const args of [undefined, null, {}, { [needs]: undefined }])
        expect(await call(name, args as object)).toBe(`${name}: ${needs} is missing.`);
      expect(await call(name, { [needs]: 5 })).toBe(`${name}: ${needs} has to be a text.`);
      expect(await call(name, { [needs]: "" })).toMatch(/a text that says something\.$/);
      expect(await call(name, { [needs]: "x", toString: 1 })).toMatch(
        /there is no argument "toString"; there is: /,
      );
      expect(await call(name, [needs])).toMatch(/have to be a JSON object\.$/);
    }
    for (const tokenCap of ["100", -5, 0, 1.5, Number.NaN])
      expect(await call("lcm_expand", { query: "berth", tokenCap }, child)).toBe(
        "lcm_expand: tokenCap has to be a whole number, 1 or more.",
      );
    expect(await call("lcm_grep", { pattern: "x", mode: "fuzzy" })).toMatch(
      /mode has to be one of regex, full_text\.$/,
    );
    expect(await call("lcm_grep", { pattern: "x", fileIds: "f" })).toMatch(/a list of texts\.$/);
    expect(await call("lcm_expand", { summaryIds: ["sum_1"], maxDepth: 2 }, child)).toBe(
      [
        "maxDepth: one step at a time is shown, with the ids of the next; it was left out.",
        "There is no summary sum_1 here.",
      ].join("\n"),
    );
  });

  it("that are longer than anything one looks for are refused before any work is done", async () => {
    const { call } = await setUp();
    for (const [name, needs, most] of [
      ["lcm_grep", "pattern", 2_000],
      ["lcm_describe", "id", 4_096],
    ] as const)
      for (const text of ["x".repeat(20_000), "词".repeat(most + 1)])
        expect(await call(name, { [needs]: text })).toBe(
          `${name}: ${needs} has to be no longer than ${most} characters, and has ${text.length}.`,
        );
    const long = `berth ${"of the ferry ".repeat(4_000)}`;
    expect(await call("lcm_expand_query", { prompt: long })).toContain("the berth is seven");
    expect(await call("lcm_grep", { pattern: "词".repeat(2_000) })).toMatch(/^Nothing found/);
  });

  it("that prompts for tools of these names carry over have their effect, or a line says why not", async () => {
    const { call, tell } = await setUp();
    await tell([user("one\ntwo\nthree")], session, "lines");
    const lines = { startLine: 2, endLine: 2 };
    expect(await call("lcm_describe", { id: "#2", ...lines })).toContain("two");
    expect(await call("lcm_describe", { id: "#2", ...lines })).not.toContain("three");
    const shown = await call(
      "lcm_expand",
      { query: "berth", maxDepth: 3, includeMessages: true, tokenCap: 500 },
      child,
    );
    expect(shown).toMatch(/^maxDepth: one step at a time .*; it was left out\.\n\n[\s\S]*seven/);
    const asked = { prompt: "which berth", timeoutMs: 10_000, maxTokens: 2_000 };
    expect(await call("lcm_expand_query", asked)).toMatch(
      /^There is no model to ask; [\s\S]*seven/,
    );
    expect(await call("lcm_expand_query", { ...asked, summaryIds: ["sum_abc"] })).toMatch(
      /^There is no summary sum_abc here\.\n\nThere is no model/,
    );
  });
});
