import { loadExactCounter } from "@clew/plugin-sdk/tokens";
import { describe, expect, it } from "vitest";
import { configOf, readEngineChoice } from "../replay/systems.ts";
import { askFacts, judge } from "./ask.ts";
import { KINDS, planFacts } from "./facts.ts";
import { formatAsked } from "./planted-facts.command.ts";

describe("a plan of facts", () => {
  const plan = planFacts({ seed: 3, turns: 400, facts: 60 });

  it("is the same for a seed, asks as often in each kind, and tells all that it asks for", () => {
    expect(planFacts({ seed: 3, turns: 400, facts: 60 })).toEqual(plan);
    expect(planFacts({ seed: 4, turns: 400, facts: 60 })).not.toEqual(plan);
    expect(plan.turns).toHaveLength(400);
    for (const kind of KINDS)
      expect(plan.questions.filter((one) => one.kind === kind)).toHaveLength(10);
    const told = plan.turns.map(({ text }) => text);
    for (const { expected, wrong } of plan.questions)
      for (const words of [expected, ...wrong])
        expect(told.some((text) => text.includes(words))).toBe(true);
  });

  it("tells what is right after what it replaces, and days in the order of the turns", () => {
    const placeOf = (words: string) => plan.turns.findIndex(({ text }) => text.includes(words));
    for (const { kind, expected, wrong } of plan.questions)
      if (kind === "changed later") expect(placeOf(expected)).toBeGreaterThan(placeOf(wrong[0]!));
    const times = plan.turns.map(({ timestamp }) => timestamp);
    expect(times.toSorted((a, b) => a - b)).toEqual(times);
  });
});

describe("an answer", () => {
  const question = { kind: "exact", text: "?", expected: "heron-1", wrong: ["merlin-2"] } as const;
  const cost = { calls: 1, tokens: 100 };

  it("is right when it holds what was told last and nothing that was true before", () => {
    const answers = ["It is heron-1.", "It is merlin-2, now heron-1.", "No idea."];
    const given = "heron-1 stands here";
    const asked = answers.map((answer) => judge(question, { answer, given }, cost));
    expect(asked.map(({ isRight }) => isRight)).toEqual([true, false, false]);
    expect(asked.every(({ isFound }) => isFound)).toBe(true);
    expect(judge(question, { answer: "", given: "" }, cost).isFound).toBe(false);
  });

  it("counts only within two calls and a thousand tokens", () => {
    const right = { answer: "heron-1", given: "" };
    const asked = [
      judge(question, right, cost),
      judge(question, right, { calls: 3, tokens: 10 }),
      judge(question, right, { calls: 2, tokens: 1001 }),
    ];
    expect(formatAsked(asked)).toMatch(/^exact +3 +33\.3 % +2 +100\.0 %/m);
  });
});

describe("asking a gateway", () => {
  it.each([
    ["legacy", undefined],
    ["lossless", undefined],
    ["lossless", "lossless"],
    ["lossless", "legacy"],
  ])("finds what left the view of %s, told to %s before a restart", async (engine, toldTo) => {
    const plan = planFacts({ seed: 8, turns: 150, facts: 6 });
    const base = { agents: { defaults: { contextTokens: 10_000 } } };
    const configFor = (name: string) =>
      configOf(readEngineChoice(name), { base, pluginFolders: [] });
    const asked = await askFacts({
      plan,
      config: configFor(engine),
      ...(toldTo !== undefined && { toldTo: configFor(toldTo) }),
      counter: await loadExactCounter(),
      signal: new AbortController().signal,
      onProgress: () => {},
    });
    expect(asked.map(({ kind }) => kind)).toEqual(KINDS);
    const exact = asked.find(({ kind }) => kind === "exact")!;
    expect(exact.isRight).toBe(true);
    expect(asked.some(({ calls, isFound }) => calls > 0 && isFound)).toBe(true);
  });
});
