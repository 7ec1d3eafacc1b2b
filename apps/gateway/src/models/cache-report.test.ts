import type { CacheReport } from "@clew/engine-core";
import { createEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { startTestGateway } from "../testing/gateway.ts";
import { describeCache } from "./describe-cache.ts";

const ROUTES = [
  ["anthropic", "anthropic-messages", "claude-opus-4-6"],
  ["openai", "openai-responses", "gpt-5.6"],
  ["openai", "openai-completions", "gpt-5.5"],
] as const;

/** Servers on this machine are nobody's: what theirs do is said here. */
const CACHES: Readonly<Record<string, object>> = {
  "anthropic-messages": { how: "marks", marks: 4 },
  "openai-responses": { how: "automatic", marks: 4 },
  "openai-completions": { how: "automatic" },
};

async function start(provider: string, api: string, id: string, params: object = {}) {
  const server = await createEmulator(api, {
    answers: [{ text: "Fine." }],
    cacheMinimumTokens: 16,
    tolerant: true,
  });
  onTestFinished(() => server.close());
  const gateway = await startTestGateway({
    agents: { defaults: { model: `${provider}/${id}`, params } },
    models: {
      providers: {
        [provider]: {
          ...{ api, baseUrl: server.baseUrl, apiKey: "key-for-tests" },
          models: [
            { id, contextWindow: 100_000, profile: { cache: { ...CACHES[api], minTokens: 16 } } },
          ],
        },
      },
    },
  });
  const say = async (text: string) =>
    ((await gateway.say(text)).events.at(-1) as { cache?: CacheReport }).cache;
  return { ...gateway, server, say };
}

const NOTE = "The tide was high and the harbour full of boats. ".repeat(40);

describe.each(ROUTES)("the cache report of %s over %s", (provider, api, id) => {
  it("has what was expected beside what was billed, which agree", async () => {
    const { say, server } = await start(provider, api, id, {});
    expect(await say(NOTE)).toMatchObject({ predicted: 0, broke: { code: "first-call" } });
    const reports = [await say("And now?"), await say("And then?")];
    for (const report of reports) {
      expect(report).not.toHaveProperty("broke");
      expect(report!.billed! / report!.predicted).toBeGreaterThan(0.7);
      expect(report!.billed! / report!.predicted).toBeLessThan(1.6);
    }
    expect(server.requests.every(({ bill }) => bill !== null)).toBe(true);
  });
});

describe("a cache that is missed", () => {
  it("is explained by the host, and by the provider where it can", async () => {
    const { say, gateway, get } = await start("anthropic", "anthropic-messages", "claude-opus-4-6");
    await say(NOTE);
    await say("And now?");
    await gateway.command("main", { kind: "command", name: "reset", args: "" });
    const report = await say("What was it?");
    expect(report).toMatchObject({
      broke: { code: "messages-changed", at: 0 },
      told: { reason: "messages_changed", tokens: expect.any(Number) },
    });
    const view = (await (await get("/api/sessions/main/context")).json()) as {
      call: { cache: CacheReport };
    };
    expect(view.call.cache).toEqual(report);
    const { text } = (await gateway.command("main", {
      kind: "command",
      name: "status",
      args: "",
    })) as { text: string };
    const shown = (await gateway.command("main", {
      kind: "command",
      name: "context",
      args: "",
    })) as { text: string };
    expect(shown.text).toMatch(
      /Cache: the last call read [\d,]+ tokens, .*\(the history changed from message 1 on\)/,
    );
    expect(text).toMatch(
      /Cache: the last call read [\d,]+ tokens, about [\d,]+ expected.*\(the history changed from message 1 on\); the provider says: messages changed/,
    );
  });

  it("is no news where nobody wants a cache", async () => {
    const { say } = await start("openai", "openai-responses", "gpt-5.6", {
      cacheRetention: "none",
    });
    const report = await say(NOTE);
    expect(report).toMatchObject({ predicted: 0, broke: { code: "not-asked" } });
    expect(describeCache(report!)).toBeNull();
  });
});
