import type { AgentMessage } from "@clew/plugin-sdk/core";
import { type CacheRequest, type ModelCall, modelProfile } from "@clew/plugin-sdk/host";
import { describe, expect, it, onTestFinished } from "vitest";
import { buildRequest } from "../build-request.ts";
import { completeModel } from "../stream.ts";
import { createEmulator } from "../testing/emulators.ts";
import type { JsonObject } from "../testing/server/json.ts";

const ROUTES = {
  claude: ["anthropic", "anthropic-messages", "claude-opus-4-6"],
  routed: ["openrouter", "openai-completions", "anthropic/claude-opus-4-6"],
  routedGemini: ["openrouter", "openai-completions", "google/gemini-3-pro"],
  lab: ["lab", "openai-completions", "claude-opus-4-6"],
  chat: ["openai", "openai-completions", "gpt-5.5"],
  responses: ["openai", "openai-responses", "gpt-5.5"],
  priced: ["openai", "openai-responses", "gpt-5.6"],
  mistral: ["mistral", "mistral-conversations", "mistral-large"],
} as const;
type Route = keyof typeof ROUTES;

const LONG = "The tide was high and the harbour full of boats. ".repeat(120);
const summary: AgentMessage = { role: "compactionSummary", summary: LONG, tokensBefore: 9000 };
const tools = [{ name: "look", description: "Looks.", parameters: { type: "object" } }];

function callOf(route: Route, messages: readonly AgentMessage[], cache?: CacheRequest): ModelCall {
  const [provider, api, id] = ROUTES[route];
  return {
    model: {
      ...{ provider, api, id, contextWindow: 200_000, maxOutputTokens: 4096 },
      profile: modelProfile({ provider, api, id }),
    },
    systemPrompt: LONG,
    messages,
    tools,
    signal: new AbortController().signal,
    sessionId: "session",
    ...(cache !== undefined && { cache }),
  };
}

const bodyFor = (route: Route, cache?: CacheRequest, messages = conversation(3)): JsonObject =>
  JSON.parse(buildRequest(callOf(route, messages, cache), { baseUrl: BASE_URLS[route] }).body);

const BASE_URLS: Readonly<Record<Route, string>> = {
  claude: "https://api.anthropic.com/v1",
  routed: "https://openrouter.ai/api/v1",
  routedGemini: "https://openrouter.ai/api/v1",
  lab: "http://127.0.0.1:4000/v1",
  chat: "https://api.openai.com/v1",
  responses: "https://api.openai.com/v1",
  priced: "https://api.openai.com/v1",
  mistral: "https://api.mistral.ai/v1",
};

/** A summary, and so many turns with a tool each. */
function conversation(turns: number): AgentMessage[] {
  const said = Array.from({ length: turns }, (_, at): AgentMessage[] => {
    const id = `call${String(at).padStart(5, "0")}`;
    return [
      { role: "user", content: `Question ${at}. ${LONG}` },
      {
        role: "assistant",
        content: [{ type: "toolCall", id, name: "look", arguments: { at } }],
        stopReason: "toolUse",
      },
      {
        role: "toolResult",
        toolCallId: id,
        toolName: "look",
        content: [{ type: "text", text: `Seen ${at}. ${LONG}` }],
        isError: false,
      },
      { role: "assistant", content: [{ type: "text", text: `Answer ${at}.` }], stopReason: "stop" },
    ];
  });
  return [summary, ...said.flat(), { role: "user", content: "And now?" }].map((message) =>
    Object.freeze({ ...message } as AgentMessage),
  );
}

const marksIn = (body: JsonObject): string[] =>
  JSON.stringify(body).match(/"cache_control":\{[^}]*\}/g) ?? [];

describe("what a call asks of the prompt cache", () => {
  it("is a mark at each place that stays or grows, four at most", () => {
    const short = { retention: "short", stableMessages: 1 } as const;
    expect(marksIn(bodyFor("claude", short))).toHaveLength(4);
    // Behind a router, tools and system prompt are part of what the others mark.
    expect(marksIn(bodyFor("routed", short))).toHaveLength(2);
    expect(marksIn(bodyFor("routedGemini", short))).toHaveLength(2);
    expect(marksIn(bodyFor("routed"))).toHaveLength(1);
    const [system, first] = bodyFor("routed", short).messages as JsonObject[];
    expect(marksIn(system!)).toHaveLength(0);
    expect(marksIn(first!)).toHaveLength(1);
  });

  it("is nothing where nobody knows the marks", () => {
    expect(marksIn(bodyFor("lab", { retention: "long", stableMessages: 1 }))).toEqual([]);
    expect(typeof (bodyFor("lab").messages as JsonObject[])[0]?.content).toBe("string");
  });

  it("is one time for all marks, the longer one where it is offered", () => {
    const long = { retention: "long", stableMessages: 1 } as const;
    for (const route of ["claude", "routed"] as const)
      expect(new Set(marksIn(bodyFor(route, long)))).toEqual(
        new Set(['"cache_control":{"type":"ephemeral","ttl":"1h"}']),
      );
    expect(marksIn(bodyFor("routedGemini", long))[0]).not.toContain("ttl");
    expect(bodyFor("chat", long).prompt_cache_retention).toBe("24h");
    expect(bodyFor("responses", long).prompt_cache_retention).toBe("24h");
    expect(bodyFor("priced", long)).toMatchObject({ prompt_cache_options: { ttl: "30m" } });
    expect(bodyFor("priced", long)).not.toHaveProperty("prompt_cache_retention");
  });

  it("is a breakpoint behind what stays, where writing is paid for", () => {
    const { input } = bodyFor("priced", { retention: "short", stableMessages: 1 });
    const marked = (input as JsonObject[]).map((item) =>
      JSON.stringify(item).includes('"prompt_cache_breakpoint":{"mode":"explicit"}'),
    );
    expect(marked.indexOf(true)).toBe(0);
    expect(marked.filter(Boolean)).toHaveLength(1);
    const before = bodyFor("responses", { retention: "short", stableMessages: 1 });
    expect(JSON.stringify(before)).not.toContain("prompt_cache_breakpoint");
  });

  it.each(Object.keys(ROUTES) as Route[])("is none at all when none is wanted: %s", (route) => {
    const body = JSON.stringify(bodyFor(route, { retention: "none", stableMessages: 1 }));
    expect(body).not.toMatch(/cache_control|prompt_cache_key|prompt_cache_retention|breakpoint/);
    expect(body.includes('"prompt_cache_options":{"mode":"explicit"}')).toBe(route === "priced");
  });

  it.each(Object.keys(ROUTES) as Route[])(
    "leaves the bytes before the newest message as they were: %s",
    (route) => {
      const messages = conversation(4);
      const cache = { retention: "short", stableMessages: 1 } as const;
      const bodyOf = (end: number) =>
        buildRequest(callOf(route, messages.slice(0, end), cache), {
          baseUrl: BASE_URLS[route],
        }).body;
      for (const end of [5, 9, 13]) {
        const before = JSON.parse(bodyOf(end)) as JsonObject;
        const after = JSON.parse(bodyOf(end + 4)) as JsonObject;
        const listOf = ({ messages: list, input }: JsonObject) => (list ?? input) as JsonObject[];
        const settled = listOf(before).slice(0, -1);
        expect(listOf(after).slice(0, settled.length)).toEqual(settled);
      }
    },
  );
});

describe.each(["claude", "routed", "chat", "responses", "priced", "mistral"] as const)(
  "the cache of %s",
  (route) => {
    it("gives back everything that was sent before, and the rules are kept", async () => {
      const [, api] = ROUTES[route];
      const server = await createEmulator(api, { answers: [{ text: "Fine." }] });
      onTestFinished(() => server.close());
      const messages = conversation(6);
      const cache = { retention: "short", stableMessages: 1 } as const;
      for (let end = 2; end <= messages.length; end += 2) {
        if (messages[end - 1]?.role === "assistant") continue;
        const call = callOf(route, messages.slice(0, end), cache);
        const result = await completeModel({ call, endpoint: { baseUrl: server.baseUrl } });
        expect(result.ok).toBe(true);
      }
      expect(server.violations).toEqual([]);
      const bills = server.requests.map(({ bill }) => bill!);
      const read = bills.slice(1).reduce((sum, bill) => sum + bill.read, 0);
      const before = bills
        .slice(0, -1)
        .reduce((sum, { fresh, read: hit, written, writtenLong }) => {
          return sum + fresh + hit + written + writtenLong;
        }, 0);
      expect(read / before).toBeGreaterThan(0.98);
    });
  },
);
