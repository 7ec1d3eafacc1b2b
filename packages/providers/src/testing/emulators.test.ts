import { afterEach, describe, expect, it } from "vitest";
import { createEmulator, EMULATED_APIS } from "./emulators.ts";
import type { EmulatorFault } from "./server/fault.ts";
import type { Emulator, EmulatorOptions } from "./server/options.ts";

const servers: Emulator[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function start(api: string, options: EmulatorOptions = {}): Promise<Emulator> {
  const server = await createEmulator(api, options);
  servers.push(server);
  return server;
}

interface Sample {
  /** From `baseUrl` on. */
  path: string;
  body: object;
  /** What the key goes by. */
  key: string;
}

const hi = { role: "user", content: "hi" };
const SAMPLES: Readonly<Record<string, { streamed: Sample; whole: Sample }>> = {
  "anthropic-messages": both({
    path: "/messages",
    body: { model: "claude-opus-4-6", max_tokens: 9, messages: [hi] },
    key: "x-api-key",
  }),
  "openai-responses": both({
    path: "/responses",
    body: { model: "gpt-5.6", input: [hi] },
    key: "api-key",
  }),
  "openai-chatgpt-responses": alwaysStreamed({
    path: "/responses",
    body: { model: "gpt-5.6", input: [hi], instructions: "Be brief.", store: false, stream: true },
    key: "api-key",
  }),
  "google-generative-ai": {
    streamed: gemini(":streamGenerateContent?alt=sse"),
    whole: gemini(":generateContent"),
  },
  "google-gemini-cli": {
    streamed: geminiCli(":streamGenerateContent?alt=sse"),
    whole: geminiCli(":generateContent"),
  },
  "bedrock-converse-stream": {
    streamed: converse("/converse-stream"),
    whole: converse("/converse"),
  },
  "mistral-conversations": both({
    path: "/chat/completions",
    body: { model: "mistral-large-latest", messages: [hi] },
    key: "authorization",
  }),
  "openai-completions": both({
    path: "/chat/completions",
    body: { model: "m", messages: [hi] },
    key: "api-key",
  }),
};

/** Where the body says whether a stream is wanted. */
function both(sample: Sample) {
  const { body } = sample;
  return { whole: sample, streamed: { ...sample, body: { ...body, stream: true } } };
}

function alwaysStreamed(sample: Sample) {
  return { streamed: sample, whole: sample };
}

function gemini(method: string): Sample {
  const contents = [{ role: "user", parts: [{ text: "hi" }] }];
  return {
    path: `/models/gemini-3-pro${method}`,
    body: { contents },
    key: "x-goog-api-key",
  };
}

function geminiCli(method: string): Sample {
  const request = { contents: [{ role: "user", parts: [{ text: "hi" }] }], session_id: "s" };
  return {
    path: `/v1internal${method}`,
    body: { model: "gemini-3-pro", project: "p", request },
    key: "authorization",
  };
}

function converse(method: string): Sample {
  const messages = [{ role: "user", content: [{ text: "hi" }] }];
  return {
    path: `/model/${encodeURIComponent("us.anthropic.claude-opus-4-6-v1:0")}${method}`,
    body: { messages },
    key: "authorization",
  };
}

const post = ({ baseUrl }: Emulator, { path, body }: Sample, headers = {}) =>
  fetch(`${baseUrl}${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
    redirect: "manual",
  });

const credential = (header: string, key: string) =>
  header === "authorization" ? `Bearer ${key}` : key;

/** What arrives, and whether the connection held. */
async function received(response: Response): Promise<{ bytes: Buffer; broke: boolean }> {
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of response.body ?? []) pieces.push(piece);
    return { bytes: Buffer.concat(pieces), broke: false };
  } catch {
    return { bytes: Buffer.concat(pieces), broke: true };
  }
}

describe("the emulated apis", () => {
  it("are all tried here", () => {
    expect(Object.keys(SAMPLES).sort()).toEqual([...EMULATED_APIS].sort());
  });

  it("no other is known", async () => {
    await expect(createEmulator("carrier-pigeon")).rejects.toThrow("carrier-pigeon");
  });
});

describe("what an emulated server may be told", () => {
  const { streamed } = SAMPLES["anthropic-messages"]!;
  const twice = { ...streamed, body: { ...streamed.body, messages: [hi, hi] } };

  it("is to let pass what only older models and other servers refuse", async () => {
    expect((await post(await start("anthropic-messages"), twice)).status).toBe(400);
    const server = await start("anthropic-messages", { tolerant: true });
    expect((await post(server, twice)).status).toBe(200);
    expect(server.violations).toMatchObject([{ rule: "roles.alternate", level: "compat" }]);
  });

  it("is what tokens cost, and to whom requests are told", async () => {
    const told: string[] = [];
    const server = await start("anthropic-messages", {
      prices: { fresh: 0, output: 1e6 },
      answers: [{ text: "abcd", usage: { prompt: 7, completion: 3, cached: 2 } }],
      onRequest: ({ path }) => told.push(path),
    });
    await (await post(server, streamed)).text();
    expect(server.bill).toMatchObject({ fresh: 5, read: 2, output: 3 });
    expect(server.bill.cost).toBeCloseTo(3, 5);
    expect(told).toEqual(["/v1/messages"]);
  });
});

describe.each(EMULATED_APIS)("an emulated server of %s", (api) => {
  const { streamed, whole } = SAMPLES[api]!;
  const answered = async (fault: EmulatorFault) =>
    post(await start(api, { answers: [fault] }), streamed);

  it("says the same in a stream and in a document", async () => {
    const server = await start(api, { answers: [{ text: "Hello there." }] });
    for (const sample of [streamed, whole]) {
      const { bytes } = await received(await post(server, sample));
      expect(bytes.toString()).toContain("Hello there.");
    }
    expect(server.violations).toEqual([]);
    const [first, second] = server.requests;
    expect(first?.bill).toEqual(second?.bill);
    expect(server.bill.cost).toBeCloseTo(2 * first!.bill!.cost, 9);
  });

  it("streams in pieces and pauses as the script wants", async () => {
    const server = await start(api, { answers: [{ text: "abcdef", chunkChars: 2, pauseMs: 1 }] });
    const { bytes } = await received(await post(server, streamed));
    expect(bytes.toString().match(/"(ab|cd|ef)"/g)).toEqual(['"ab"', '"cd"', '"ef"']);
  });

  it("tells in its own shape of limits, overload and failures", async () => {
    const limited = await answered({ fault: "rate-limit", retryAfterMs: 2000 });
    expect(limited.status).toBe(429);
    const told = `${await limited.text()} ${limited.headers.get("retry-after")}`;
    expect(told).toContain("2");
    expect((await answered({ fault: "overloaded" })).status).toBeGreaterThanOrEqual(503);
    const failed = await answered({ fault: "status", status: 500, headers: { "x-a": "b" } });
    expect([failed.status, failed.headers.get("x-a")]).toEqual([500, "b"]);
    expect(await failed.json()).toBeTypeOf("object");
    const large = await answered({ fault: "overflow", window: 100 });
    expect([large.status, await large.text()]).toEqual([400, expect.stringMatching(/\b10[01]\b/)]);
  });

  it("answers as proxies do: a page, a redirect, nothing", async () => {
    const page = await answered({ fault: "html" });
    expect([page.status, page.headers.get("content-type")]).toEqual([502, "text/html"]);
    const redirect = await answered({ fault: "redirect" });
    expect([redirect.status, redirect.headers.get("location")]).toEqual([
      307,
      expect.stringContaining("invalid"),
    ]);
    const empty = await answered({ fault: "empty" });
    expect([empty.status, await empty.text()]).toEqual([200, ""]);
  });

  it("breaks a reply that has begun in every way there is", async () => {
    const server = await start(api, { answers: [{ text: "begun" }] });
    const all = (await received(await post(server, streamed))).bytes;
    const begun = async (fault: EmulatorFault) => received(await answered(fault));
    const text = "begun";
    expect((await begun({ fault: "cut", text })).broke).toBe(true);
    const unfinished = await begun({ fault: "unfinished", text });
    expect(unfinished).toMatchObject({ broke: false });
    expect(unfinished.bytes.toString()).toContain("begun");
    expect(unfinished.bytes.length).toBeLessThan(all.length);
    const truncated = await begun({ fault: "truncated", text });
    expect(truncated.bytes.length).toBeGreaterThan(unfinished.bytes.length);
    expect(truncated.bytes.length).toBeLessThan(all.length);
    const malformed = await begun({ fault: "malformed", text });
    expect(malformed.bytes.length).toBeGreaterThan(unfinished.bytes.length);
    const error = await begun({ fault: "error", text, message: "no more" });
    expect(error.bytes.toString()).toContain("no more");
  });

  it("falls silent, before and within a reply", async () => {
    const server = await start(api, {
      answers: [{ fault: "hang" }, { fault: "hang", text: "begun" }],
    });
    const silent = post(server, streamed);
    await expect.poll(() => server.requests.length).toBe(1);
    const stalled = await post(server, streamed);
    const reader = stalled.body!.getReader();
    expect(Buffer.from((await reader.read()).value!).toString()).toContain("begun");
    await Promise.all([server.close(), expect(silent).rejects.toThrow()]);
  });

  it("sends little that unpacks to much", async () => {
    const response = await answered({ fault: "bomb", bytes: 8 * 2 ** 20 });
    expect(Number(response.headers.get("content-length"))).toBeLessThan(20_000);
    expect((await received(response)).bytes.length).toBe(8 * 2 ** 20);
  });

  it("breaks a document, too", async () => {
    const server = await start(api, { answers: [{ fault: "cut" }, { fault: "unfinished" }] });
    expect((await received(await post(server, whole))).broke).toBe(true);
    const { bytes } = await received(await post(server, whole));
    expect(() => JSON.parse(bytes.toString())).toThrow();
  });

  it("lets only known keys in, when there are any", async () => {
    const server = await start(api, { keys: ["right"] });
    const { key } = streamed;
    expect((await post(server, streamed, { [key]: credential(key, "wrong") })).status).toBeOneOf([
      400, 401, 403,
    ]);
    expect((await post(server, streamed, { [key]: credential(key, "right") })).status).toBe(200);
  });

  it("refuses what is no JSON, and knows its own paths only", async () => {
    const server = await start(api);
    const { path } = streamed;
    const broken = await fetch(`${server.baseUrl}${path}`, { method: "POST", body: "no json" });
    expect(broken.status).toBeOneOf([400, 422]);
    expect(server.violations).toMatchObject([{ rule: "body" }]);
    for (const path of ["/elsewhere", "/%zz"])
      expect((await post(server, { ...streamed, path })).status).toBe(404);
  });

  it("answers anything when it does not check", async () => {
    const server = await start(api, { check: false });
    expect((await post(server, { ...streamed, body: {} })).status).toBe(200);
    expect(server.violations).toEqual([]);
  });

  it("refuses a prompt above its window", async () => {
    const server = await start(api, { contextWindow: 1 });
    const refused = await post(server, streamed);
    expect(refused.status).toBe(400);
    expect(server.requests[0]?.bill).toBeNull();
  });
});
