import { loadExactCounter } from "@clew/plugin-sdk/tokens";
import { pairToolCalls, textOf } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { smallFrame, smallSession } from "./__fixtures__/small-session.ts";
import { passThrough, rawTail, yardstick } from "./controls.ts";
import { type Evaluation, evaluateSession } from "./evaluate.ts";
import { tokensOf } from "./frame.ts";
import { generateCoding } from "./generate/coding.ts";
import { OTHER_LANGUAGES } from "./generate/languages.ts";
import { generateSessions } from "./generate/sessions.ts";
import { generateSupport } from "./generate/support.ts";
import { readEngineChoice } from "./systems.ts";

const evaluation = async (budgets: number[], engines: string[]): Promise<Evaluation> => ({
  budgets,
  engines: engines.map(readEngineChoice),
  config: {},
  pluginFolders: [],
  route: { provider: "anthropic", api: "anthropic-messages", id: "claude-opus-4-6" },
  counter: await loadExactCounter(),
  signal: new AbortController().signal,
  onProgress: () => {},
  onTrouble: (what) => {
    throw new Error(what);
  },
});

describe("an evaluation", () => {
  it("plays every recorded call once through the gateway, and sends what a pass-through sends where it fits", async () => {
    const scores = await evaluateSession(smallSession(), await evaluation([100_000], ["legacy"]));
    const find = (system: string) => scores.find((one) => one.system === system)!.tally;
    const { engineMs: _engine, hostMs: _host, ...legacy } = find("legacy");
    const { engineMs: _none, hostMs: _neither, ...through } = find("pass-through");
    expect(legacy).toEqual(through);
    expect(legacy).toMatchObject({
      over: { part: 0, whole: 15 },
      notMade: { part: 0, whole: 15 },
      cost: { part: legacy.cost.whole },
    });
  });

  it("compacts in a small window with a model and without one, whose summaries cost nothing", async () => {
    const language = OTHER_LANGUAGES[2];
    const source = generateCoding({ name: "long", seed: 3, language, tokens: 20_000 });
    const scores = await evaluateSession(
      source,
      await evaluation([8000], ["legacy", "legacy:no-model"]),
    );
    const [withModel, without] = ["legacy", "legacy:no-model"].map(
      (name) => scores.find(({ system }) => system === name)!.tally,
    );
    expect(withModel!.costSummaries.part).toBeGreaterThan(withModel!.cost.part);
    expect(without!.costSummaries.part).toBe(without!.cost.part);
    for (const tally of [withModel!, without!]) {
      expect(tally.cost.part).toBeLessThan(tally.cost.whole);
      expect(tally.notMade.part).toBe(0);
    }
  });
});

describe("an evaluation under other marks", () => {
  it("is compared to sending everything all the same, and a provider counts what it is sent", async () => {
    const language = OTHER_LANGUAGES[2];
    const source = generateCoding({ name: "long", seed: 3, language, tokens: 20_000 });
    const plain = await evaluation([8000], ["legacy:no-model"]);
    const compaction = { highWaterTokens: 4000, lowWaterTokens: 3000 };
    const marked = { ...plain, config: { agents: { defaults: { compaction } } } };
    const [usual, other] = await Promise.all(
      [plain, marked].map(async (one) => {
        const scores = await evaluateSession(source, one);
        return scores.find(({ system }) => system === "legacy:no-model")!;
      }),
    );
    expect(other!.tally.cost.whole).toBe(usual!.tally.cost.whole);
    expect(other!.tally.names.whole).toBe(usual!.tally.names.whole);
    expect(other!.tally.cost.part).not.toBe(usual!.tally.cost.part);
    // What is counted does not surprise anybody.
    expect(usual!.tally.over.part).toBe(0);
  });
});

describe("a control", () => {
  it("sends everything, or keeps to the budget with a tail that begins at a whole exchange", async () => {
    const frame = await smallFrame();
    expect([...passThrough(frame)].map(({ shown }) => shown.length)).toEqual(
      frame.script.calls.map(({ history }) => history),
    );
    for (const { shown } of rawTail(frame)) {
      expect(tokensOf(shown) + 10).toBeLessThanOrEqual(1600);
      expect(pairToolCalls(shown.map(({ message }) => message)).orphanResults).toEqual([]);
    }
    const lengths = [...rawTail(frame)].map(({ shown }) => shown.length);
    expect(Math.min(...lengths.slice(4))).toBeLessThan(Math.max(...lengths));
  });

  it("pins first and latest request and the names that went, and changes that only at a cut", async () => {
    const frame = { ...(await smallFrame()), ledgerRoom: 60 };
    const heads = [...yardstick(frame)].map(({ shown }) => textOf(shown[0]!.message));
    const pinned = heads.filter((text) => text.startsWith("First request:\nRequest 0"));
    expect(pinned.length).toBeGreaterThan(1);
    expect(new Set(pinned).size).toBeLessThan(pinned.length);
    expect(pinned[0]).toContain("Names:\n#");
  });
});

describe("a generated session", () => {
  it("is the same for a seed and another one for the next", () => {
    const [first] = generateSessions(5, 1);
    const [again] = generateSessions(5, 1);
    const [other] = generateSessions(6, 1);
    expect(again).toEqual(first);
    expect(other!.messages).not.toEqual(first!.messages);
    expect([...generateSessions(5, 0)]).toEqual([]);
  });

  it("answers every call, and says each rule in a message of the person", () => {
    const coding = OTHER_LANGUAGES.map((language) =>
      generateCoding({ name: language.name, seed: 1, language, tokens: 60_000 }),
    );
    for (const source of [...coding, generateSupport("support", 1, 20_000)]) {
      const pairing = pairToolCalls(source.messages);
      expect(pairing.unanswered.length + pairing.orphanResults.length).toBe(0);
      expect(source.constraints.length).toBeGreaterThan(1);
      for (const rule of source.constraints)
        expect(
          source.messages.some((one) => one.role === "user" && textOf(one).includes(rule)),
        ).toBe(true);
    }
  });
});
