import { loadExactCounter } from "@clew/plugin-sdk/tokens";
import { describe, expect, it } from "vitest";
import { bm25Of } from "./bm25.ts";
import { KINDS, makeDialogue } from "./dialogue.ts";
import { askDialogue, formatAsked, withinTokens } from "./dialogue-recall.command.ts";
import { TOPICS_ONE } from "./topics-one.ts";
import { TOPICS_TWO } from "./topics-two.ts";

describe("a made-up dialogue", () => {
  it("is the same for a seed, long, in the order of time, and holds what it asks for", () => {
    for (const topics of [TOPICS_ONE, TOPICS_TWO]) {
      const dialogue = makeDialogue(3, topics);
      expect(makeDialogue(3, topics)).toEqual(dialogue);
      const { turns, questions } = dialogue;
      expect(turns.length).toBeGreaterThan(1_100);
      const times = turns.map(({ timestamp }) => timestamp);
      expect(times.toSorted((a, b) => a - b)).toEqual(times);
      expect(new Set(questions.map(({ kind }) => kind))).toEqual(new Set(KINDS));
      for (const { text, evidence } of questions) {
        expect(text).not.toMatch(/[{}]/);
        expect(evidence.every((at) => turns[at] !== undefined)).toBe(true);
      }
      expect(turns.map(({ text }) => text).join("\n")).not.toMatch(/[{}]/);
    }
  });
});

describe("the yardstick", () => {
  it("puts first what holds the rarest words of a question", () => {
    const texts = ["the boat is green", "the boat sank", "the car is green", "nothing"];
    expect(bm25Of(texts)("Is the boat sinking, or sank it?")[0]).toBe(1);
    expect(bm25Of(texts)("?")).toEqual([]);
  });
});

describe("what is given back", () => {
  it("is cut off where the tokens end", async () => {
    const counter = await loadExactCounter();
    const kept = withinTokens(["one two\n", "three four five six\n"], { counter, tokens: 6 });
    expect(kept).toMatch(/^one two\nthree four/);
    expect(counter.count(kept)).toBeLessThanOrEqual(6);
  });

  it("holds more of the answers with a call of recall than by the yardstick", async () => {
    const counter = await loadExactCounter();
    const dialogue = makeDialogue(11, TOPICS_ONE);
    const asked = await askDialogue(dialogue, { counter, tokens: 2048 });
    const found = (name: string) =>
      asked.filter(({ system, found: of }) => system === name && of.every(Boolean)).length;
    expect(found("lossless")).toBeGreaterThan(found("BM25"));
    expect(formatAsked(asked)).toMatch(/^multi-hop +16 /m);
  });
});
