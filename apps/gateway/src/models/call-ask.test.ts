import { describe, expect, it } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import { ConfigSchema } from "../config/schema.ts";
import { planAsk } from "./call-ask.ts";
import { modelRequest } from "./model-request.ts";
import { resolveModel } from "./resolve.ts";

const plan = (agents: object, more: { agentId?: string; level?: "low" | "off" } = {}) =>
  planAsk(ConfigSchema.parse({ agents }), {
    agentId: more.agentId ?? "main",
    model: "a/m",
    level: more.level,
    sent: ({ reasoning }) =>
      reasoning?.effort === "off" ? { kind: "off" } : { kind: "on", ...reasoning },
  });

describe("what a call asks", () => {
  it("is nothing unless a setting says so", () => {
    expect(plan({})).toEqual({ ask: {}, leftOut: [], because: [] });
  });

  it("comes from the session, then the agent, then the model, then the defaults", () => {
    const defaults = {
      thinkingDefault: "minimal",
      params: { cacheRetention: "long", serviceTier: "flex", maxTokens: 100 },
      models: { "a/m": { params: { serviceTier: "priority", thinking: "high" } } },
    };
    expect(plan({ defaults })).toEqual({
      leftOut: [],
      ask: {
        reasoning: { effort: "high" },
        cache: { retention: "long" },
        serviceTier: "priority",
        maxOutputTokens: 100,
      },
      because: [
        'thinking high (agents.defaults.models["a/m"].params)',
        "cache long (agents.defaults.params)",
        'service tier priority (agents.defaults.models["a/m"].params)',
        "tokens of a reply 100 (agents.defaults.params)",
      ],
    });
    const list = [{ id: "main", thinkingDefault: "max", params: { cacheRetention: "none" } }];
    expect(plan({ defaults, list }).ask).toMatchObject({
      reasoning: { effort: "max" },
      cache: { retention: "none" },
    });
    expect(plan({ defaults, list }, { agentId: "other" }).ask).toMatchObject({
      reasoning: { effort: "high" },
    });
    const said = plan({ defaults, list }, { level: "off" });
    expect(said.ask.reasoning).toEqual({ effort: "off" });
    expect(said.because[0]).toBe("thinking off (/think)");
  });

  describe("of a model whose limits are known", () => {
    const config = ConfigSchema.parse({});
    const environment = readEnvironment({ ANTHROPIC_API_KEY: "key-for-tests-only" });
    const name = "anthropic/claude-opus-4-6";
    const asked = (params: object) => {
      const route = resolveModel({ ...modelRequest(config, environment), name });
      const agents = { defaults: { params } };
      return planAsk(ConfigSchema.parse({ agents }), {
        ...{ agentId: "main", model: name, level: undefined, route },
        sent: () => ({ kind: "off" }),
      });
    };

    it("is no more tokens than a reply of it can have, and says so", () => {
      const { ask, because } = asked({ maxTokens: 1_000_000 });
      const limit = ask.maxOutputTokens!;
      expect(limit).toBeLessThan(200_000);
      expect(because).toContain(
        `tokens of a reply 1000000 (agents.defaults.params), of which this model is asked for its most, ${limit}`,
      );
      expect(asked({ maxTokens: limit })).toMatchObject({ ask: { maxOutputTokens: limit } });
      expect(asked({ maxTokens: limit }).because.join()).not.toContain("its most");
    });

    it("says where the provider compacts later than it is asked to", () => {
      expect(asked({ compactAbove: 100 }).because).toContain(
        "compaction by the provider above 100 (agents.defaults.params), sent as 50000, its least",
      );
      expect(asked({ compactAbove: 60_000 }).because).toContain(
        "compaction by the provider above 60000 (agents.defaults.params)",
      );
    });
  });

  it("leaves thinking to the model when it is adaptive", () => {
    const found = plan({ defaults: { thinkingDefault: "adaptive" } });
    expect(found.ask).toEqual({});
    expect(found.because).toEqual(["thinking adaptive (agents.defaults.thinkingDefault)"]);
  });

  it.each([
    ["off", { kind: "off" }, ""],
    ["off", { kind: "unsaid" }, ", but this model cannot be told not to think"],
    [
      ...(["off", { kind: "on", effort: "low" }] as const),
      ", but this model cannot be told not to think; asked for its least: low",
    ],
    [
      ...(["off", { kind: "on", budgetTokens: 1024 }] as const),
      ", but this model cannot be told not to think; asked for its least: 1,024 tokens",
    ],
    ["high", { kind: "unsaid" }, ", which this model cannot be told"],
    ["high", { kind: "on", effort: "high" }, ""],
    ["max", { kind: "on", effort: "xhigh" }, ", sent as xhigh"],
    ["max", { kind: "on", budgetTokens: 44_800 }, ", sent as 44,800 tokens"],
    ["high", { kind: "off" }, ", but a reply has no room for it: it does not think"],
    ["adaptive", { kind: "unsaid" }, ""],
    ["adaptive", { kind: "off" }, ", which this model does not know: it does not think"],
  ] as const)("says of thinking %s what %j makes of it", (level, sent, words) => {
    const config = ConfigSchema.parse({ agents: { defaults: { thinkingDefault: level } } });
    const asked = { agentId: "main", model: "a/m", level: undefined, sent: () => sent };
    expect(planAsk(config, asked).because).toEqual([
      `thinking ${level} (agents.defaults.thinkingDefault)${words}`,
    ]);
  });

  it("says of a temperature that the model is not sent it", () => {
    const config = ConfigSchema.parse({ agents: { defaults: { params: { temperature: 0.5 } } } });
    const asked = { agentId: "main", model: "a/m", level: undefined };
    const said = (isSent: boolean) =>
      planAsk(config, {
        ...asked,
        sent: () => ({ kind: "unsaid" }),
        sendsTemperature: () => isSent,
      }).because;
    expect(said(true)).toEqual(["temperature 0.5 (agents.defaults.params)"]);
    expect(said(false)).toEqual([
      "temperature 0.5 (agents.defaults.params), which this model is not sent",
    ]);
  });

  it("lists only what the route takes, and keeps another vendor's class of service from it", () => {
    const params = { cacheRetention: "long", serviceTier: "standard_only", compactAbove: 60_000 };
    const config = ConfigSchema.parse({ agents: { defaults: { params } } });
    const environment = readEnvironment({ CLEW_HOME: "/nowhere", OPENAI_API_KEY: "k" });
    const asked = (name: string) =>
      planAsk(config, {
        ...{ agentId: "main", model: name, level: undefined, sent: () => ({ kind: "unsaid" }) },
        route: resolveModel({ ...modelRequest(config, environment), name }),
      });
    const openai = asked("openai/gpt-5.6");
    expect(openai.ask).not.toHaveProperty("serviceTier");
    expect(openai.because).toEqual([
      "cache long (agents.defaults.params)",
      expect.stringContaining("service tier standard_only (agents.defaults.params), which openai"),
      "compaction by the provider above 60000 (agents.defaults.params)",
    ]);
    expect(asked("ollama/qwen3").because).toEqual([
      "service tier standard_only (agents.defaults.params)",
    ]);
  });

  it("sends a class of service that is set for the model itself, known or not", () => {
    const name = "openai/gpt-5.6";
    const models = { [name]: { params: { serviceTier: "brand-new" } } };
    const config = ConfigSchema.parse({ agents: { defaults: { models } } });
    const environment = readEnvironment({ CLEW_HOME: "/nowhere", OPENAI_API_KEY: "k" });
    const { ask, because } = planAsk(config, {
      ...{ agentId: "main", model: name, level: undefined },
      sent: () => ({ kind: "unsaid" }),
      route: resolveModel({ ...modelRequest(config, environment), name }),
    });
    expect(ask).toEqual({ serviceTier: "brand-new" });
    expect(because).toEqual([`service tier brand-new (agents.defaults.models["${name}"].params)`]);
  });
});
