import { afterEach, describe, expect, it } from "vitest";
import { createBedrockEmulator } from "../emulators.ts";
import type { Emulator } from "../server/options.ts";

const servers: Emulator[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

interface Message {
  role: string;
  content: object[];
}

interface Answer {
  status: number;
  message?: string;
  output?: { message: Message };
  usage?: Record<string, number>;
}

async function start(options: Parameters<typeof createBedrockEmulator>[0] = {}) {
  const server = await createBedrockEmulator(options);
  servers.push(server);
  return server;
}

async function send({ baseUrl }: Emulator, model: string, body: object): Promise<Answer> {
  const response = await fetch(`${baseUrl}/model/${model}/converse`, {
    method: "POST",
    headers: { authorization: "Bearer one" },
    body: JSON.stringify(body),
  });
  return { status: response.status, ...((await response.json()) as Omit<Answer, "status">) };
}

const BOUND = "us.anthropic.claude-opus-5-5-v1:0";
const FREE = "us.anthropic.claude-opus-4-6-v1:0";
const NOVA = "amazon.nova-pro-v1:0";
const user = (text: string): Message => ({ role: "user", content: [{ text }] });
const THINKS = { thinking: "Let me see.", text: "So it is." };

async function conversation(server: Emulator, model: string): Promise<Message[]> {
  const { output } = await send(server, model, { messages: [user("one")] });
  return [user("one"), output!.message, user("two")];
}

describe("reasoning that comes back to a Converse server", () => {
  it("is read where nothing changed, and refused by a bound model where something did", async () => {
    const server = await start({ answers: [THINKS] });
    for (const model of [BOUND, FREE, NOVA]) {
      const messages = await conversation(server, model);
      expect((await send(server, model, { messages })).status).toBe(200);
      const changed = { messages, system: [{ text: "It is Tuesday." }] };
      expect((await send(server, model, changed)).status).toBe(model === BOUND ? 400 : 200);
    }
    expect(server.violations).toMatchObject([{ rule: "signature.prefix" }]);
  });

  it("is refused when another model said it, or nobody", async () => {
    const server = await start({ answers: [THINKS] });
    const messages = await conversation(server, BOUND);
    const { message } = await send(server, FREE, { messages });
    expect(message).toMatch(
      /^The model returned the following errors: messages\.1\.content\.0: Inv/,
    );
  });

  it("is unsigned where the model signs nothing", async () => {
    const server = await start({ answers: [THINKS] });
    const [, said] = await conversation(server, NOVA);
    expect(said?.content[0]).toEqual({
      reasoningContent: { reasoningText: { text: "Let me see." } },
    });
  });

  it("may be redacted", async () => {
    const blocks = [
      { type: "thinking", text: "secret", redacted: true },
      { type: "text", text: "So." },
    ] as const;
    const server = await start({ answers: [{ blocks }] });
    const messages = await conversation(server, BOUND);
    expect(messages[1]?.content[0]).toMatchObject({
      reasoningContent: { redactedContent: expect.any(String) as string },
    });
    expect((await send(server, BOUND, { messages })).status).toBe(200);
  });
});

describe("the prompt cache of a Converse server", () => {
  it("keeps what stands before a mark", async () => {
    const server = await start();
    const system = [{ text: "word ".repeat(4000) }, { cachePoint: { type: "default" } }];
    const ask = () => send(server, FREE, { system, messages: [user("hi")] });
    const { usage } = await ask();
    expect(usage?.cacheWriteInputTokens).toBeGreaterThan(4000);
    expect((await ask()).usage).toMatchObject({
      cacheReadInputTokens: usage?.cacheWriteInputTokens,
      inputTokens: usage?.inputTokens,
    });
  });
});
