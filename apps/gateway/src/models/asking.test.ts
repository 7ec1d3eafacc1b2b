import { readFile } from "node:fs/promises";
import { createEmulator, type JsonObject } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { startTestGateway } from "../testing/gateway.ts";

/** How each wire says what the settings ask: thinking hard, a long cache, a class of service. */
const WIRES: readonly (readonly [string, string, object])[] = [
  [
    "anthropic-messages",
    "claude-opus-4-6",
    { thinking: { type: "enabled" }, service_tier: "flex", max_tokens: 8000 },
  ],
  [
    "openai-responses",
    "gpt-5.5",
    { reasoning: { effort: "high" }, service_tier: "flex", max_output_tokens: 8000 },
  ],
  [
    "bedrock-converse-stream",
    "us.anthropic.claude-opus-4-6-v1:0",
    {
      inferenceConfig: { maxTokens: 8000 },
      additionalModelRequestFields: { thinking: { type: "enabled" } },
      serviceTier: { type: "flex" },
    },
  ],
  [
    "google-generative-ai",
    "gemini-3-pro-preview",
    {
      generationConfig: { thinkingConfig: { thinkingLevel: "HIGH" }, maxOutputTokens: 8000 },
      serviceTier: "flex",
    },
  ],
  ["openai-chatgpt-responses", "gpt-5.5", { reasoning: { effort: "high" }, service_tier: "flex" }],
  ["openai-completions", "gpt-5.5", { reasoning_effort: "high", service_tier: "flex" }],
  ["mistral-conversations", "magistral-medium", { reasoning_effort: "high", max_tokens: 8000 }],
];

async function start(api: string, id: string, defaults: object, provider = "lab") {
  const server = await createEmulator(api, {
    answers: [{ text: "Fine." }],
    tolerant: true,
    check: true,
  });
  onTestFinished(() => server.close());
  const gateway = await startTestGateway({
    agents: { defaults: { model: `${provider}/${id}`, ...defaults } },
    models: {
      providers: {
        [provider]: {
          ...{ api, baseUrl: server.baseUrl, apiKey: "key-for-tests" },
          models: [
            {
              ...{ id, contextWindow: 100_000, maxTokens: 16_000, reasoning: true },
              ...(api === "openai-completions" && { profile: { reasoning: { ask: "effort" } } }),
            },
          ],
        },
      },
    },
  });
  const command = async (name: string, args = "") =>
    (await gateway.gateway.command("main", { kind: "command", name, args })) as {
      ok: boolean;
      text: string;
    };
  const bodies = () => server.requests.map(({ body }) => body as JsonObject);
  return { ...gateway, command, bodies };
}

/** What no request of a wire says, and /status does not either. */
const NEVER_SENT: Readonly<Record<string, readonly string[]>> = {
  "google-generative-ai": ["cache long"],
  "openai-chatgpt-responses": ["cache long", "tokens of a reply 8000"],
  "openai-completions": ["cache long"],
  "openai-responses": ["cache long"],
  "mistral-conversations": ["cache long"],
};

describe.each(WIRES)("settings of calls, over %s", (api, id, expected) => {
  const settings = {
    thinkingDefault: "low",
    params: { cacheRetention: "long", serviceTier: "flex", maxTokens: 8000 },
    models: { [`lab/${id}`]: { params: { thinking: "high" } } },
  };

  it("reach the provider, and /status says which one decided", async () => {
    const { say, bodies, command } = await start(api, id, settings);
    expect((await say("hi")).text).toBe("Fine.");
    expect(bodies().at(-1)).toMatchObject(expected);
    const sent = id.includes("claude") ? ", sent as 5,600 tokens" : "";
    const others = ["cache long", "service tier flex", "tokens of a reply 8000"].filter(
      (what) => !NEVER_SENT[api]?.includes(what),
    );
    expect((await command("status")).text).toContain(
      `Asked of it: ${[
        `thinking high (agents.defaults.models["lab/${id}"].params)${sent}`,
        ...others.map((what) => `${what} (agents.defaults.params)`),
      ].join(", ")}\n`,
    );
  });
});

it("a class of service that the provider does not have is in the report, /status and the log, and not in the request", async () => {
  const settings = { params: { serviceTier: "standard_only" } };
  const asked = await start("openai-responses", "gpt-5.5", settings, "openai");
  const { say, bodies, command, get, home } = asked;
  const text = "service tier standard_only (agents.defaults.params), which openai does not have";
  for (let turn = 0; turn < 2; turn++) {
    await say("hi");
    const { call } = (await (await get("/api/sessions/main/context")).json()) as {
      call: { leftOut?: string[] };
    };
    expect(call.leftOut).toEqual([expect.stringContaining(text)]);
  }
  expect(JSON.stringify(bodies())).not.toContain("standard_only");
  const status = (await command("status")).text;
  expect(status.split(text)).toHaveLength(2);
  await asked.stop();
  const log = await readFile(`${home}/logs/gateway.log`, "utf8");
  expect(log.split(text)).toHaveLength(2);
});

describe("what a provider may do about a long history", () => {
  const params = { clearToolResultsAbove: 50_000, compactAbove: 60_000 };

  it.each([
    [
      "anthropic",
      "anthropic-messages",
      "claude-opus-4-6",
      {
        edits: [
          {
            type: "clear_tool_uses_20250919",
            trigger: { type: "input_tokens", value: 50_000 },
          },
          { type: "compact_20260112", trigger: { type: "input_tokens", value: 60_000 } },
        ],
      },
    ],
    ["openai", "openai-responses", "gpt-5.5", [{ type: "compaction", compact_threshold: 60_000 }]],
    ["lab", "openai-responses", "gpt-5.5", undefined],
    ["lab", "anthropic-messages", "claude-opus-4-6", undefined],
  ])("is asked of %s over %s only where it offers it", async (provider, api, id, expected) => {
    const asked = await start(api, id, { params }, provider);
    await asked.say("hi");
    expect(asked.bodies().at(-1)?.context_management).toEqual(expected);
    const { text } = await asked.command("status");
    const said = JSON.stringify(expected ?? "");
    expect(text.includes("tool results cleared by the provider above 50000")).toBe(
      said.includes("clear_tool_uses"),
    );
    expect(text.includes("compaction by the provider above 60000")).toBe(said.includes("compact"));
    const usual = await start(api, id, {}, provider);
    await usual.say("hi");
    expect(usual.bodies().at(-1)).not.toHaveProperty("context_management");
  });
});

describe("/think", () => {
  it("holds for the session until it is told otherwise", async () => {
    const { say, bodies, command } = await start("openai-responses", "gpt-5.5", {
      thinkingDefault: "low",
    });
    const effort = async () => {
      await say("hi");
      return (bodies().at(-1)?.reasoning as JsonObject | undefined)?.effort;
    };
    expect(await effort()).toBe("low");
    expect((await command("think")).text).toBe("Thinking: low (agents.defaults.thinkingDefault).");
    expect((await command("think", "xhigh")).text).toBe("Thinking: xhigh (/think).");
    expect(await effort()).toBe("xhigh");
    expect((await command("think", "default")).text).toContain("low (agents.defaults");
    expect(await effort()).toBe("low");
    expect(await command("think", "hihg")).toMatchObject({
      ok: false,
      text: expect.stringContaining('Did you mean "high"?'),
    });
  });

  it.each([
    [
      ...(["claude-opus-5-5", "off"] as const),
      "Thinking: off (/think), but this model cannot be told not to think; asked for its least: low.",
      { thinking: { type: "adaptive" }, output_config: { effort: "low" } },
    ],
    [
      ...(["claude-opus-4-6", "adaptive"] as const),
      "Thinking: adaptive (/think), which this model does not know: it does not think.",
      {},
    ],
    [
      ...(["claude-opus-4-6", "off"] as const),
      "Thinking: off (/think).",
      { thinking: { type: "disabled" } },
    ],
  ])("says of %s and %s what is really sent", async (id, level, words, sent) => {
    const { say, bodies, command } = await start("anthropic-messages", id, {});
    expect((await command("think", level)).text).toBe(words);
    await say("hi");
    const { thinking, output_config } = bodies().at(-1) ?? {};
    expect({ thinking, output_config }).toMatchObject(sent);
    if (level === "adaptive") expect(thinking).toBeUndefined();
    expect((await command("status")).text).toContain(words.slice("Thinking: ".length, -1));
  });

  it("may be said before anything else", async () => {
    const { say, bodies, command } = await start("openai-responses", "gpt-5.5", {});
    expect((await command("think")).text).toContain("as the provider does by default");
    await command("think", "high");
    await say("hi");
    expect(bodies().at(-1)).toMatchObject({ reasoning: { effort: "high" } });
  });
});

describe("what an engine keeps unchanged", () => {
  it("is marked for the provider's cache", async () => {
    const { say, bodies, command } = await start("anthropic-messages", "claude-opus-4-6", {
      compaction: { keepRecentTokens: 50 },
      params: { cacheRetention: "long" },
    });
    for (let turn = 0; turn < 6; turn++)
      await say(`Note ${turn}. ${"The tide was high. ".repeat(60)}`);
    expect(await command("compact")).toMatchObject({ ok: true });
    await say("What was it?");
    const body = bodies().at(-1) ?? {};
    const messages = body.messages as { content: JsonObject[] }[];
    const marked = messages.flatMap(({ content }, index) =>
      content.some(({ cache_control }) => cache_control !== undefined) ? [index] : [],
    );
    expect(marked).toEqual([0, messages.length - 1]);
    expect(JSON.stringify(body)).toContain('"ttl":"1h"');
  });
});
