import type { CacheReport } from "@clew/engine-core";
import { createEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { clew } from "../testing/command.ts";
import { startTestGateway } from "../testing/gateway.ts";
import { describeCache } from "./describe-cache.ts";

const ROUTES = [
  ["anthropic", "anthropic-messages", "claude-opus-4-6"],
  ["openai", "openai-responses", "gpt-5.6"],
  ["openai", "openai-completions", "gpt-5.5"],
] as const;

type Answers = NonNullable<NonNullable<Parameters<typeof createEmulator>[1]>["answers"]>;

/** Servers on this machine are nobody's: what theirs do is said here. */
const CACHES: Readonly<Record<string, object>> = {
  "anthropic-messages": { how: "marks", marks: 4 },
  "openai-responses": { how: "automatic", marks: 4 },
  "openai-chatgpt-responses": { how: "automatic" },
  "openai-completions": { how: "automatic" },
};

async function start(
  provider: string,
  api: string,
  id: string,
  params: object = {},
  {
    answers = [{ text: "Fine." }],
    ...defaults
  }: { answers?: Answers; thinkingDefault?: string } = {},
) {
  const server = await createEmulator(api, {
    answers,
    cacheMinimumTokens: 16,
    tolerant: true,
  });
  onTestFinished(() => server.close());
  const gateway = await startTestGateway({
    agents: { defaults: { model: `${provider}/${id}`, params, ...defaults } },
    models: {
      providers: {
        [provider]: {
          ...{ api, baseUrl: server.baseUrl, apiKey: "key-for-tests" },
          models: [
            {
              ...{ id, contextWindow: 100_000 },
              ...(provider !== "github-copilot" && {
                profile: { cache: { ...CACHES[api], minTokens: 16 } },
              }),
            },
          ],
        },
      },
    },
  });
  const say = async (text: string) =>
    ((await gateway.say(text)).events.at(-1) as unknown as { cache?: CacheReport }).cache;
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

describe.each([
  ["openai", "openai-responses", "gpt-5.5"],
  ["openai-codex", "openai-chatgpt-responses", "gpt-5.6-codex"],
])("what is expected where thinking goes back encrypted, of %s over %s", (provider, api, id) => {
  it("holds the thinking as the provider counts it, so that a part that is missed is seen", async () => {
    const { say } = await start(
      provider,
      api,
      id,
      {},
      {
        answers: Array.from({ length: 8 }, (_, turn) => ({
          thinking: `${turn} ${NOTE}`,
          text: "So.",
        })),
        thinkingDefault: "high",
      },
    );
    await say(NOTE);
    for (const text of ["And now?", "And then?", "And later?"]) {
      const report = await say(text);
      expect(report).not.toHaveProperty("broke");
      expect(report!.billed!).toBeGreaterThan(500);
      expect(report!.predicted / report!.billed!).toBeCloseTo(1, 2);
    }
  });
});

describe("a cache of which nothing is recorded", () => {
  it("is told when it is read, and expected from then on", async () => {
    const { say, gateway } = await start("github-copilot", "openai-completions", "gpt-5");
    await say(NOTE);
    const surprise = await say("And now?");
    expect(surprise).toMatchObject({ predicted: 0, broke: { code: "not-cached" } });
    expect(surprise!.billed!).toBeGreaterThan(500);
    const status = await gateway.command("main", { kind: "command", name: "status", args: "" });
    expect((status as { text: string }).text).toMatch(
      /Cache: the last call read [\d,]+ tokens, about 0 expected \(nobody knew that this model caches\)/,
    );
    const report = await say("And then?");
    expect(report).not.toHaveProperty("broke");
    expect(report!.predicted / report!.billed!).toBeCloseTo(1, 1);
  });

  it("is no news while nothing is read from it", async () => {
    const { say } = await start("github-copilot", "openai-completions", "gpt-5");
    expect(describeCache((await say(NOTE))!)).toBeNull();
  });
});

it("what Mistral is asked to keep is expected of it", async () => {
  const { say } = await start("mistral", "mistral-conversations", "mistral-large-latest");
  expect(await say(NOTE)).toMatchObject({ predicted: 0, broke: { code: "first-call" } });
  const report = await say("And now?");
  expect(report).not.toHaveProperty("broke");
  expect(report!.billed!).toBeGreaterThan(500);
  expect(report!.predicted / report!.billed!).toBeCloseTo(1, 1);
});

const MARKS = { how: "marks", marks: 4, minTokens: 16 };

describe("what a session reads from caches", () => {
  const ask = async (clock: () => number, first: object, answers: Answers) => {
    const servers = await Promise.all(
      [answers, [{ text: "Fine." }]].map((each) =>
        createEmulator("anthropic-messages", {
          ...{ answers: each, cacheMinimumTokens: 16, tolerant: true, now: clock },
        }),
      ),
    );
    for (const server of servers) onTestFinished(() => server.close());
    const id = "claude-opus-4-6";
    const model = (cache: object) => ({ id, contextWindow: 100_000, profile: { cache } });
    const [one, other] = servers.map(({ baseUrl }, place) => ({
      ...{ api: "anthropic-messages", baseUrl, apiKey: "key-for-tests" },
      models: [model(place === 0 ? { ...MARKS, ...first } : { how: "none" })],
    }));
    const gateway = await startTestGateway({
      agents: { defaults: { model: { primary: `one/${id}`, fallbacks: [`other/${id}`] } } },
      models: { providers: { one, other } },
    });
    const say = async (text: string) => {
      const { model: answered, cache } = (await gateway.say(text)).events.at(-1) as unknown as {
        model: { resolved: string };
        cache: CacheReport;
      };
      return { from: answered.resolved.split("/")[0], ...cache };
    };
    return { ...gateway, say, name: `one/${id}` };
  };
  const agrees = ({ predicted, billed }: CacheReport) => {
    expect(predicted).toBeGreaterThan(0);
    expect(billed! / predicted).toBeGreaterThan(0.7);
    expect(billed! / predicted).toBeLessThan(1.6);
  };

  it("is as predicted before and after another model answered, of which nobody knows that it caches", async () => {
    const { say, home, name } = await ask(Date.now, {}, [
      { text: "Fine." },
      { text: "Fine." },
      { fault: "refusal", status: 404, message: "no such model" },
      { text: "Fine." },
    ]);
    expect(await say(NOTE)).toMatchObject({ from: "one", broke: { code: "first-call" } });
    agrees(await say("And now?"));
    for (const text of ["And then?", "And later?"])
      expect(await say(text)).toMatchObject({
        ...{ from: "other", predicted: 0, billed: 0, broke: { code: "not-cached" } },
      });
    await clew(home, ["models", "retry", name]);
    const back = await say("And at last?");
    expect(back).toMatchObject({ from: "one" });
    agrees(back);
    agrees(await say("And after that?"));
  });

  it("is nothing when the time is over for which the provider keeps it", async () => {
    let now = Date.now();
    const { say } = await ask(() => now, { shortMs: 1 }, [{ text: "Fine." }]);
    await say(NOTE);
    now += 6 * 60_000;
    await new Promise((done) => setTimeout(done, 20));
    expect(await say("And now?")).toMatchObject({
      ...{ predicted: 0, billed: 0, broke: { code: "expired" } },
    });
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
