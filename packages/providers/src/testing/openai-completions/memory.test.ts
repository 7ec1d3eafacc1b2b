import { afterEach, describe, expect, it } from "vitest";
import { createOpenAIEmulator } from "../emulators.ts";
import type { Emulator } from "../server/options.ts";

const servers: Emulator[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

type Flavor = NonNullable<Parameters<typeof createOpenAIEmulator>[0]>["flavor"];

interface Message {
  role: string;
  content: unknown;
  reasoning_content?: string;
  reasoning?: string;
  reasoning_details?: { type: string; signature?: string; data?: string }[];
  tool_calls?: { id: string; extra_content?: object }[];
}

const hi: Message = { role: "user", content: "hi" };

async function talkWith(flavor: Exclude<Flavor, undefined>, model: string) {
  const answers = [
    { thinking: "Let me see.", toolCalls: [{ name: "read", arguments: {} }] },
    { text: "Done." },
  ];
  const server = await createOpenAIEmulator({ answers, flavor });
  servers.push(server);
  const send = async (messages: object[], asked = model) => {
    const response = await fetch(`${server.baseUrl}/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: asked, messages }),
    });
    const body = (await response.json()) as {
      choices?: { message: Message }[];
      error?: { param: string };
    };
    return { message: body.choices?.[0]?.message, rule: body.error?.param };
  };
  const said = (await send([hi])).message!;
  /** The next request, with the reply changed. */
  const next = async (change: (message: Message) => object, asked?: string) => {
    const result = { role: "tool", tool_call_id: said.tool_calls![0]!.id, content: "it" };
    return (await send([hi, change(structuredClone(said)), result], asked)).rule;
  };
  return { said, next };
}

describe("reasoning that comes back to a Chat server", () => {
  it("may be of any reply that used the call's id", async () => {
    const call = { id: "call_1", name: "read", arguments: {} };
    const answers = ["First.", "Second."].map((thinking) => ({ thinking, toolCalls: [call] }));
    const server = await createOpenAIEmulator({ answers, flavor: "kimi" });
    servers.push(server);
    const messages: object[] = [hi];
    for (let turn = 0; turn < 3; turn++) {
      const response = await fetch(`${server.baseUrl}/chat/completions`, {
        method: "POST",
        body: JSON.stringify({ model: "m", messages }),
      });
      expect(response.status).toBe(200);
      const { message } = ((await response.json()) as { choices: { message: Message }[] })
        .choices[0]!;
      const result = { role: "tool", tool_call_id: message.tool_calls?.[0]?.id, content: "it" };
      messages.push(message, result, hi);
    }
  });

  it("must be the words of before where a server wants it with its calls", async () => {
    for (const flavor of ["deepseek", "kimi"] as const) {
      const { said, next } = await talkWith(flavor, "m");
      expect(said.reasoning_content).toBe("Let me see.");
      expect(await next((message) => message)).toBeUndefined();
      expect(await next((message) => ({ ...message, reasoning_content: "" }))).toBe(
        "reasoning.changed",
      );
    }
  });

  it("has another name at other servers", async () => {
    const { said } = await talkWith("vllm", "m");
    expect([said.reasoning, said.reasoning_content]).toEqual(["Let me see.", undefined]);
  });

  it("must bring its details to a Gemini behind a router", async () => {
    const { said, next } = await talkWith("openrouter", "google/gemini-3-pro");
    expect(said.reasoning_details?.map(({ type }) => type)).toEqual([
      "reasoning.text",
      "reasoning.encrypted",
    ]);
    expect(await next((message) => message)).toBeUndefined();
    expect(await next(({ reasoning_details: _gone, ...message }) => message)).toBe(
      "reasoning_details.required",
    );
    const forged = [{ type: "reasoning.encrypted", data: "bm90IG91cnM=" }];
    expect(await next((message) => ({ ...message, reasoning_details: forged }))).toBe(
      "reasoning_details.corrupt",
    );
  });

  it("need not bring a Claude behind a router the details of a Gemini", async () => {
    const { said, next } = await talkWith("openrouter", "google/gemini-3-pro");
    const { reasoning_details: _gone, ...bare } = said;
    expect(await next(() => bare, "anthropic/claude-opus-4.6")).toBeUndefined();
  });

  it("may be left out, not changed, for a Claude behind a router", async () => {
    const { said, next } = await talkWith("openrouter", "anthropic/claude-opus-4.6");
    expect(said.reasoning_details?.[0]?.signature).toBeTypeOf("string");
    expect(await next((message) => message)).toBeUndefined();
    expect(await next(({ reasoning_details: _gone, ...message }) => message)).toBeUndefined();
    const other = (message: Message) =>
      message.reasoning_details!.map((detail) => ({ ...detail, text: "Other words." }));
    expect(await next((message) => ({ ...message, reasoning_details: other(message) }))).toBe(
      "reasoning_details.signature",
    );
  });

  it("is a signature on the call at Google's own Chat address", async () => {
    const { said, next } = await talkWith("gemini", "gemini-3-pro");
    expect(said.tool_calls?.[0]?.extra_content).toBeDefined();
    expect(await next((message) => message)).toBeUndefined();
    const calls = (message: Message, extra_content?: object) =>
      message.tool_calls!.map((call) => ({ ...call, extra_content }));
    expect(await next((message) => ({ ...message, tool_calls: calls(message) }))).toBe(
      "gemini.signature_required",
    );
    const forged = { google: { thought_signature: "bm90IG91cnM=" } };
    expect(await next((message) => ({ ...message, tool_calls: calls(message, forged) }))).toBe(
      "signature.corrupt",
    );
  });
});
