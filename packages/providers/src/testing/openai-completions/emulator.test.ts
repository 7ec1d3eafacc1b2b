import { afterEach, describe, expect, it } from "vitest";
import { createOpenAIEmulator } from "../emulators.ts";
import type { Emulator, EmulatorOptions } from "../server/options.ts";

const servers: Emulator[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function start(options: EmulatorOptions<never> = {}): Promise<Emulator> {
  const server = await createOpenAIEmulator(options);
  servers.push(server);
  return server;
}

const GOOD = { model: "m", messages: [{ role: "user", content: "hi" }], stream: true };
const post = ({ baseUrl }: Emulator, body: unknown, path = "/chat/completions") =>
  fetch(`${baseUrl}${path}`, {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

describe("the emulated server", () => {
  it("streams the answers in their order, the last again and again, and keeps the requests", async () => {
    const server = await start({ answers: [{ text: "one" }, { text: "two" }] });
    const bodies = [await post(server, GOOD), await post(server, GOOD), await post(server, GOOD)];
    const texts = await Promise.all(bodies.map((response) => response.text()));
    expect(texts.map((text) => /one|two/.exec(text)?.[0])).toEqual(["one", "two", "two"]);
    expect(texts[0]?.endsWith("data: [DONE]\n\n")).toBe(true);
    expect(server.requests).toMatchObject([
      { path: "/v1/chat/completions", body: GOOD, violations: [] },
      {},
      {},
    ]);
  });

  it("answers by the request, and in one document when no stream is asked for", async () => {
    const server = await start({
      answers: ({ body }, index) => ({ text: `${String(body?.model)} ${index}` }),
    });
    const response = await post(server, { ...GOOD, stream: false });
    expect(await response.json()).toMatchObject({
      object: "chat.completion",
      choices: [{ message: { role: "assistant", content: "m 0" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 },
    });
  });

  it("gives tool calls ids that differ between replies", async () => {
    const server = await start({ answers: [{ toolCalls: [{ name: "read", arguments: {} }] }] });
    const ids = [await post(server, GOOD), await post(server, GOOD)].map(
      async (response) => /call_emulated_\w+/.exec(await response.text())?.[0],
    );
    const [first, second] = await Promise.all(ids);
    expect(first).toBeDefined();
    expect(first).not.toBe(second);
  });

  it("refuses a request that breaks a rule, by the rule's name, without using up an answer for it", async () => {
    const server = await start({ answers: (_request, index) => ({ text: `answer ${index}` }) });
    const response = await post(server, { ...GOOD, tools: [] });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { type: "invalid_request_error", param: "tools.empty" },
    });
    expect(server.violations).toMatchObject([{ rule: "tools.empty", level: "reject" }]);
    expect(await (await post(server, "no json")).json()).toMatchObject({
      error: { param: "body" },
    });
    expect(await (await post(server, GOOD)).text()).toContain("answer 0");
  });

  it("answers anything when it does not check", async () => {
    const server = await start({ check: false });
    expect((await post(server, "no json")).status).toBe(200);
    expect(server.violations).toEqual([]);
  });

  it("lists models, knows no other path, and closes with requests open", async () => {
    const server = await start({ models: ["a", "b"], answers: [{ fault: "hang" }] });
    expect(await (await fetch(`${server.baseUrl}/models`)).json()).toMatchObject({
      data: [{ id: "a" }, { id: "b" }],
    });
    expect((await post(server, GOOD, "/responses")).status).toBe(404);
    const open = post(server, GOOD);
    await expect.poll(() => server.requests.length).toBe(1);
    await Promise.all([server.close(), expect(open).rejects.toThrow()]);
  });

  it("streams piece by piece when a pause is asked for", async () => {
    const server = await start({ answers: [{ text: "abcdef", chunkChars: 2, pauseMs: 1 }] });
    const text = await (await post(server, GOOD)).text();
    expect([...text.matchAll(/"content":"(\w+)"/g)].map(([, piece]) => piece)).toEqual([
      "ab",
      "cd",
      "ef",
    ]);
  });
});
