// Asks for replies of all lengths, and for thinking, in windows with more and less room.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../wires/door-wire.ts";
import { DOOR_WIRES } from "../wires/find-wire.ts";
import { leastReplyOf, planLimits } from "./reply-room.ts";

const completions = DOOR_WIRES["openai-completions"];
const claude = DOOR_WIRES["anthropic-messages"];
const google = DOOR_WIRES["google-generative-ai"];
const window = 32_000;

describe("the room that is kept for a reply", () => {
  const kept = (body: JsonObject, wire = completions) => leastReplyOf({ wire, body, window });

  it("is what its client asks for, and 1,024 tokens at most", () => {
    expect(kept({ max_tokens: 16 })).toBe(16);
    expect(kept({ max_tokens: 1_025 })).toBe(1_024);
    expect(kept({})).toBe(1_024);
    // Servers differ in which one counts.
    expect(kept({ max_tokens: 16, max_completion_tokens: 200 })).toBe(200);
  });

  it("is an eighth of a small window at most", () => {
    expect(leastReplyOf({ wire: completions, body: {}, window: 4_000 })).toBe(500);
    expect(leastReplyOf({ wire: completions, body: { max_tokens: 16 }, window: 4_000 })).toBe(16);
  });

  it("does not follow a limit that is none", () => {
    for (const value of [0, -5, "16", null, {}]) expect(kept({ max_tokens: value })).toBe(1_024);
  });

  it("is larger where a budget of thinking is asked for, which 0 and -1 are not", () => {
    const thinking = { type: "enabled", budget_tokens: 4_000 };
    expect(kept({ max_tokens: 8_000, thinking }, claude)).toBe(2_048);
    const config = (thinkingBudget: number) => ({
      generationConfig: { thinkingConfig: { thinkingBudget } },
    });
    expect(kept(config(4_000), google)).toBe(2_048);
    for (const none of [0, -1]) expect(kept(config(none), google)).toBe(1_024);
  });
});

describe("a limit of the reply that the window has no room for", () => {
  /** In a window with room for 2,360 tokens of a reply. */
  const lowered = (body: JsonObject, wire = completions) => {
    const leastReply = leastReplyOf({ wire, body, window });
    return planLimits({ wire, body, window }, { taken: 29_000, leastReply });
  };

  it("is lowered to the room there is, each that is above it", () => {
    expect(lowered({ max_tokens: 5_000, max_completion_tokens: 2_360 })).toEqual({
      values: [{ path: ["max_tokens"], value: 2_360 }],
      clamped: { from: 5_000, to: 2_360 },
    });
    expect(lowered({ max_tokens: 2_360 })).toEqual({ values: [] });
  });

  it.each([2_360, 2_361, 8_000])(
    "takes the budget of thinking along, which must stay below: %s",
    (budget_tokens) => {
      const thinking = { type: "enabled", budget_tokens };
      expect(lowered({ max_tokens: 9_000, thinking }, claude).values).toEqual([
        { path: ["max_tokens"], value: 2_360 },
        { path: ["thinking", "budget_tokens"], value: 1_770 },
      ]);
    },
  );

  it("leaves a budget that is below it alone", () => {
    const thinking = { type: "enabled", budget_tokens: 2_359 };
    expect(lowered({ max_tokens: 9_000, thinking }, claude).values).toHaveLength(1);
  });

  it("takes Google's budget along, however it is written", () => {
    for (const [config, limit, thinking, budget] of [
      ["generationConfig", "maxOutputTokens", "thinkingConfig", "thinkingBudget"],
      ["generation_config", "max_output_tokens", "thinking_config", "thinking_budget"],
    ] as const) {
      const body = { [config]: { [limit]: 9_000, [thinking]: { [budget]: 8_000 } } };
      expect(lowered(body, google).values).toEqual([
        { path: [config, limit], value: 2_360 },
        { path: [config, thinking, budget], value: 1_770 },
      ]);
    }
  });

  it("is never above the room, nor the budget above the limit, however little there is", () => {
    const size = fc.integer({ min: 1, max: 40_000 });
    fc.assert(
      fc.property(size, size, size, size, (holds, used, max_tokens, budget_tokens) => {
        const body = { max_tokens, thinking: { type: "enabled", budget_tokens } };
        const asked = { wire: claude, body, window: holds + 8 };
        const leastReply = leastReplyOf(asked);
        const taken = Math.min(used, asked.window - leastReply);
        const { values } = planLimits(asked, { taken, leastReply });
        const at = (name: string) => values.find(({ path }) => path.at(-1) === name)?.value;
        const limit = Number(at("max_tokens") ?? max_tokens);
        expect(limit).toBeLessThanOrEqual(Math.max(leastReply, asked.window - taken));
        expect(limit).toBeLessThanOrEqual(max_tokens);
        if (values.length > 0)
          expect(Number(at("budget_tokens") ?? budget_tokens)).toBeLessThan(limit);
      }),
    );
  });
});
