import type { ToolCallBlock } from "@clew/plugin-sdk/core";
import { DRIVER_APIS } from "@clew/providers";
import { EMULATED_APIS } from "@clew/providers/testing";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { createLab, createSession, type EmulatedModel } from "../testing/emulated-session.ts";
import {
  countCall,
  describeFigures,
  type LastSent,
  noFigures,
  type ReplayFigures,
} from "../testing/replay-figures.ts";

/** Models that think, each particular in what it takes back. */
const MODELS: readonly EmulatedModel[] = [
  ["anthropic", "anthropic-messages", "claude-opus-4-6"],
  ["anthropic", "anthropic-messages", "claude-opus-5-5"],
  ["amazon-bedrock", "bedrock-converse-stream", "us.anthropic.claude-opus-5-5-v1:0"],
  ["amazon-bedrock", "bedrock-converse-stream", "global.amazon.nova-2-lite-v1:0"],
  ["google", "google-generative-ai", "gemini-3-pro-preview"],
  ["google-vertex", "google-generative-ai", "gemini-3-pro-preview"],
  ["google", "google-generative-ai", "gemini-2.5-flash"],
  ["google-gemini-cli", "google-gemini-cli", "gemini-3-pro-preview"],
  ["deepseek", "openai-completions", "deepseek-reasoner", "deepseek"],
  ["openai", "openai-responses", "gpt-5.6"],
  ["openai", "openai-chatgpt-responses", "gpt-5.6-codex"],
  ["mistral", "mistral-conversations", "magistral-medium-latest"],
];
/** Their signatures hold for one prefix only. */
const BOUND = MODELS.filter(([, , id]) => id.includes("opus-5-5"));

const lab = createLab();
afterAll(() => lab.close());

/** What may go wrong beside a call. */
const FAULTS = ["late result", "abort", "steering", "cut"] as const;
const step = (models: readonly EmulatedModel[], isCalm: boolean) =>
  fc.record({
    model: fc.constantFrom(...models),
    /** Switches are rarer than replies. */
    stays: fc.boolean(),
    thinks: fc.boolean(),
    text: fc.constantFrom("", "Looking.", "There: नमस्ते 👋"),
    calls: fc.integer({ min: 0, max: 3 }),
    fault: isCalm
      ? fc.constant(null)
      : fc.option(fc.constantFrom(...FAULTS), { freq: 2, nil: null }),
  });
type Step = ReturnType<typeof step> extends fc.Arbitrary<infer T> ? T : never;

let thoughts = 0;

/** One session; the thoughts of no two replies are alike. */
async function live(steps: readonly Step[], figures: ReplayFigures): Promise<void> {
  const session = createSession(lab);
  const last: LastSent = new Map();
  const late: ToolCallBlock[] = [];
  session.say("Begin.");
  let current = steps[0]!.model;
  for (const { model: wanted, stays, thinks, text, calls, fault } of steps) {
    if (!stays && wanted !== current) figures.switches++;
    if (!stays) current = wanted;
    const stored = [...session.stored];
    const reply = {
      thinking: thinks ? `So it is, number ${thoughts++}.` : "",
      text: calls === 0 ? text || "Done." : text,
      toolCalls: Array.from({ length: calls }, (_, index) => ({
        name: index === 1 ? "look" : "read",
        arguments: { path: `${index}` },
      })),
    };
    const broken =
      fault === "abort"
        ? ({ fault: "hang", text: "Half an" } as const)
        : fault === "cut"
          ? ({ fault: "cut", text: "Half an" } as const)
          : undefined;
    const asked = await session.ask(current, broken ?? reply, { aborts: fault === "abort" });
    expect(countCall(figures, last, { model: current, stored, asked })).toEqual([]);
    if (broken === undefined) expect(asked.error).toBeNull();
    else expect(asked.error).not.toBeNull();
    for (const call of late.splice(0)) session.answer(call, "late");
    const asks = asked.reply.content.filter((block) => block.type === "toolCall");
    if (fault === "steering" && asks.length > 0) session.say("Rather something else.");
    for (const call of asks)
      if (fault === "late result") late.push(call);
      else session.answer(call);
    if (asks.length === 0 || fault !== null) session.say("And then?");
  }
}

const run = async (steps: fc.Arbitrary<Step>, figures: ReplayFigures) =>
  fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 2, maxLength: 12 }), (each) =>
      live(each, figures),
    ),
  );

/** Of all sessions of a test. */
function check(figures: ReplayFigures, what: string) {
  if (process.env.CLEW_FUZZ !== undefined)
    process.stderr.write(`${what}: ${describeFigures(figures)}\n`);
  expect(figures.replayed / figures.produced).toBeGreaterThanOrEqual(0.99);
  // Claude's providers look back over twenty blocks; of few sessions one long absence is much.
  expect(figures.found / figures.known).toBeGreaterThanOrEqual(figures.calls > 5000 ? 0.98 : 0.94);
  expect(figures.changed).toEqual([]);
}

describe("a session that goes on with another model", { timeout: 3_600_000 }, () => {
  it("has models of every wire that can be emulated", () => {
    const wires = DRIVER_APIS.filter((api) => EMULATED_APIS.includes(api));
    expect(new Set(MODELS.map(([, api]) => api))).toEqual(new Set(wires));
  });

  it("is never refused, loses no thought and no cache, wherever in a turn that is", async () => {
    const figures = noFigures();
    await run(step(MODELS, true), figures);
    check(figures, "switches");
  });

  it("is never refused after late results, aborts, broken replies and words in between", async () => {
    const figures = noFigures();
    await run(step(MODELS, false), figures);
    check(figures, "switches and faults");
  });
});

describe("a session with models that bind what they sign to what came before", () => {
  it("is never refused, and no thought is left out, whatever goes wrong", async () => {
    const figures = noFigures();
    await run(step(BOUND, false), figures);
    check(figures, "prefix-bound models");
  });
});
