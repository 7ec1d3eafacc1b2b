import { afterEach, describe, expect, it } from "vitest";
import { createAnthropicEmulator } from "../emulators.ts";
import type { Emulator } from "../server/options.ts";

const BOUND = "claude-opus-5-5";
const FREE = "claude-opus-4-6";
const servers: Emulator[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

type Options = Parameters<typeof createAnthropicEmulator>[0];
type Message = { role: string; content: unknown };

async function start(options: Options = {}): Promise<Emulator> {
  const server = await createAnthropicEmulator(options);
  servers.push(server);
  return server;
}

interface Answer {
  status: number;
  content: { type: string; thinking?: string; signature?: string; id?: string }[];
  error?: { message: string; rule: string };
  id: string;
  diagnostics?: { cache_miss_reason: { cache_missed_input_tokens: number } | null };
  input_transformations?: { path: string; reason: string }[];
  usage: Record<string, unknown>;
}

async function send(
  { baseUrl }: Emulator,
  change: object,
  { key = "one", headers = {} }: { key?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const response = await fetch(`${baseUrl}/messages`, {
    method: "POST",
    headers: { "x-api-key": key, ...headers },
    body: JSON.stringify({ model: BOUND, max_tokens: 9000, ...change }),
  });
  return { status: response.status, ...((await response.json()) as Omit<Answer, "status">) };
}

const user = (text: string): Message => ({ role: "user", content: text });
const THINKS = { thinking: "Let me see.", text: "So it is." };

/** Two turns, each with thinking. */
async function conversation(server: Emulator, change: object = {}, key = "one") {
  const messages: Message[] = [];
  for (const words of ["one", "two"]) {
    messages.push(user(words));
    const { content } = await send(server, { messages, ...change }, { key });
    messages.push({ role: "assistant", content });
  }
  return [...messages, user("three")];
}

describe("thinking that comes back to a Messages server", () => {
  it("is read when nothing changed, however the request writes what was said", async () => {
    const server = await start({ answers: [THINKS] });
    const messages = await conversation(server);
    const other = messages.map(({ role, content }) => ({
      role,
      content: typeof content === "string" ? [{ type: "text", text: content }] : content,
    }));
    for (const given of [messages, other])
      expect(await send(server, { messages: given })).toMatchObject({ status: 200 });
    expect(server.violations).toEqual([]);
    expect(server.requests.at(-1)?.changes).toEqual([]);
  });

  it("may lead its tool call through a loop, streamed or not", async () => {
    const call = { thinking: "Read it.", toolCalls: [{ name: "read", arguments: { path: "a" } }] };
    const server = await start({ answers: [call, THINKS] });
    const first = await send(server, { messages: [user("go")] });
    const answered = {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: first.content[1]?.id, content: "it" }],
    };
    const messages = [user("go"), { role: "assistant", content: first.content }, answered];
    const second = await send(server, { messages });
    expect(second).toMatchObject({ status: 200 });
    messages.push({ role: "assistant", content: second.content }, user("and?"));
    expect(await send(server, { messages })).toMatchObject({ status: 200 });
  });

  it.each([
    ["an earlier message", (messages: Message[]) => [user("other"), ...messages.slice(1)], {}],
    ["the system prompt", (messages: Message[]) => messages, { system: "It is Tuesday." }],
    [
      "the tools",
      (messages: Message[]) => messages,
      { tools: [{ name: "read", input_schema: { type: "object" } }] },
    ],
  ])("is refused by a model that binds it after a change of %s", async (_, edit, change) => {
    const server = await start({ answers: [THINKS] });
    const messages = edit(await conversation(server));
    const { status, error } = await send(server, { messages, ...change });
    expect([status, error?.rule]).toEqual([400, "signature.prefix"]);
    expect(error?.message).toContain("bound to a different conversation");
  });

  it("is taken by a model that binds nothing, whatever changed before it", async () => {
    const server = await start({ answers: [THINKS] });
    const [, ...rest] = await conversation(server, { model: FREE });
    const messages = [user("other"), ...rest];
    expect(await send(server, { messages, model: FREE })).toMatchObject({ status: 200 });
  });

  it("is dropped instead where the request asks for that, and the reply tells which", async () => {
    const server = await start({ answers: [THINKS] });
    const messages = [user("other"), ...(await conversation(server)).slice(1)];
    const block_binding = { prefix_mismatch_behavior: "drop_block" };
    const answer = await send(
      server,
      { messages, thinking: { type: "adaptive", block_binding } },
      { headers: { "anthropic-beta": "thinking-binding-controls-2026-08-01" } },
    );
    expect(answer.input_transformations).toEqual(
      [1, 3].map((index) => ({
        type: "thinking_dropped",
        path: `messages.${index}.content.0`,
        reason: "prefix_binding_mismatch",
      })),
    );
    expect(server.requests.at(-1)?.changes).toHaveLength(2);
  });

  it("may be left out from the front on, not in the middle", async () => {
    const server = await start({ answers: [THINKS] });
    const messages = await conversation(server);
    const three = await send(server, { messages });
    messages.push({ role: "assistant", content: three.content }, user("four"));
    const without = (...places: number[]) =>
      messages.map((message, index) =>
        places.includes(index)
          ? { ...message, content: (message.content as object[]).slice(1) }
          : message,
      );
    expect(await send(server, { messages: without(1) })).toMatchObject({ status: 200 });
    expect(await send(server, { messages: without(1, 3) })).toMatchObject({ status: 200 });
    const { error } = await send(server, { messages: without(3) });
    expect(error?.rule).toBe("signature.chain");
  });

  it("must keep its words", async () => {
    const server = await start({ answers: [THINKS] });
    const messages = await conversation(server);
    const edited = (at: number) =>
      messages.map((message, index) =>
        index === at
          ? {
              ...message,
              content: (message.content as object[]).map((block) =>
                "thinking" in block ? { ...block, thinking: "Other words." } : block,
              ),
            }
          : message,
      );
    expect((await send(server, { messages: edited(3) })).error?.rule).toBe("signature.modified");
    expect((await send(server, { messages: edited(1) })).error?.rule).toBe("signature.foreign");
  });

  it("is refused or dropped when another model said it, by what the model is", async () => {
    const server = await start({ answers: [THINKS] });
    const free = await conversation(server, { model: FREE });
    const bound = await conversation(server);
    expect((await send(server, { messages: bound, model: FREE })).error?.rule).toBe(
      "signature.foreign",
    );
    const { input_transformations } = await send(server, { messages: free });
    expect(input_transformations?.map(({ reason }) => reason)).toEqual([
      "model_binding_mismatch",
      "model_binding_mismatch",
    ]);
    const dated = `${FREE}-20260101`;
    expect(await send(server, { messages: free, model: dated })).toMatchObject({ status: 200 });
  });

  it("is dropped for another account, and refused when nobody minted it", async () => {
    const server = await start({ answers: [THINKS] });
    const messages = await conversation(server);
    const { input_transformations } = await send(server, { messages }, { key: "two" });
    expect(input_transformations?.[0]?.reason).toBe("organization_binding_mismatch");
    const block = { type: "thinking", thinking: "hm", signature: "bm90IG91cnM=" };
    const forged = [
      user("one"),
      { role: "assistant", content: [block, { type: "text", text: "a" }] },
    ];
    const { error } = await send(server, { messages: [...forged, user("two")] });
    expect(error?.rule).toBe("signature.foreign");
  });

  it("outlives the server that signed it", async () => {
    const messages = await conversation(await start({ answers: [THINKS] }));
    expect(await send(await start(), { messages })).toMatchObject({ status: 200 });
  });

  it("may be redacted", async () => {
    const blocks = [
      { type: "thinking", text: "secret", redacted: true },
      { type: "text", text: "So." },
    ] as const;
    const server = await start({ answers: [{ blocks }] });
    const messages = await conversation(server);
    expect((messages[1]!.content as { type: string }[])[0]!.type).toBe("redacted_thinking");
    expect(await send(server, { messages })).toMatchObject({ status: 200 });
  });
});

describe("the prompt cache of a Messages server", () => {
  const LONG = "word ".repeat(4000);
  const marked = (text: string, ttl?: string) => ({
    type: "text",
    text,
    cache_control: { type: "ephemeral", ...(ttl !== undefined && { ttl }) },
  });
  const clock = () => {
    let time = 0;
    const pass = (ms: number) => {
      time += ms;
    };
    return { now: () => time, pass };
  };

  it("writes what is marked, reads it while it is kept, and prices both", async () => {
    const { now, pass } = clock();
    const server = await start({ now });
    const change = { system: [marked(LONG)], messages: [user("hi")] };
    const first = await send(server, change);
    const written = first.usage.cache_creation_input_tokens as number;
    expect(written).toBeGreaterThan(4000);
    pass(299_000);
    const second = await send(server, change);
    expect(second.usage).toMatchObject({
      cache_read_input_tokens: written,
      cache_creation_input_tokens: 0,
      input_tokens: first.usage.input_tokens,
    });
    pass(300_000);
    expect((await send(server, change)).usage.cache_read_input_tokens).toBe(0);
    const [one, two] = server.requests.map(({ bill }) => bill!);
    expect(one!.cost / two!.cost).toBeGreaterThan(10);
    expect(server.bill.read).toBe(written);
  });

  it("keeps nothing of a prompt that it had no room for", async () => {
    const server = await start({ answers: [{ fault: "overloaded" }, { text: "ok" }] });
    const change = { system: [marked(LONG)], messages: [user("hi")] };
    await send(server, change);
    expect((await send(server, change)).usage.cache_read_input_tokens).toBe(0);
    expect((await send(server, change)).usage.cache_read_input_tokens).toBeGreaterThan(4000);
  });

  it("keeps for an hour what asks for it, and tells it apart", async () => {
    const { now, pass } = clock();
    const server = await start({ now });
    const change = { system: [marked(LONG, "1h")], messages: [user("hi")] };
    const { usage } = await send(server, change);
    expect(usage.cache_creation).toMatchObject({ ephemeral_5m_input_tokens: 0 });
    pass(3_000_000);
    expect((await send(server, change)).usage.cache_read_input_tokens).toBeGreaterThan(4000);
  });

  it("finds a marked prefix again when the mark moved on, for the same key and model only", async () => {
    const server = await start();
    const turn = (count: number) => ({
      messages: Array.from({ length: count }, (_, index) => ({
        role: index % 2 === 0 ? "user" : "assistant",
        content: [
          index === count - 1
            ? marked(`${index} ${LONG}`)
            : { type: "text", text: `${index} ${LONG}` },
        ],
      })),
    });
    const { usage } = await send(server, turn(3));
    const grown = await send(server, turn(5));
    expect(grown.usage.cache_read_input_tokens).toBe(usage.cache_creation_input_tokens);
    expect((await send(server, turn(5), { key: "two" })).usage.cache_read_input_tokens).toBe(0);
    const other = await send(server, { ...turn(5), model: FREE });
    expect(other.usage.cache_read_input_tokens).toBe(0);
  });

  it("does not keep a short prompt, unless it is told to", async () => {
    const change = { messages: [{ role: "user", content: [marked("hi")] }] };
    expect((await send(await start(), change)).usage.cache_creation_input_tokens).toBe(0);
    const server = await start({ cacheMinimumTokens: 0 });
    expect((await send(server, change)).usage.cache_creation_input_tokens).toBeGreaterThan(0);
  });
});

describe("the diagnosis of a cache miss", () => {
  it("names what differs from the request before, in the order of the prompt", async () => {
    const server = await start();
    const system = "Be brief.";
    const request = { system, messages: [user("one"), user("two")] };
    const { id } = await send(server, request);
    const missOf = async (change: object) =>
      (await send(server, { ...request, diagnostics: { previous_message_id: id }, ...change }))
        .diagnostics?.cache_miss_reason;
    expect(await missOf({})).toBeNull();
    expect(await missOf({ messages: [...request.messages, user("three")] })).toBeNull();
    expect(await missOf({ model: "claude-fable-5-2", system: "" })).toMatchObject({
      type: "model_changed",
    });
    expect(await missOf({ system: "" })).toMatchObject({ type: "system_changed" });
    const other = [user("one"), user("2")];
    const miss = await missOf({ messages: other });
    expect(miss).toMatchObject({ type: "messages_changed" });
    expect(miss!.cache_missed_input_tokens).toBeGreaterThan(0);
    expect(await missOf({ diagnostics: { previous_message_id: "msg_x" } })).toEqual({
      type: "previous_message_not_found",
    });
    expect((await send(server, request)).diagnostics).toBeUndefined();
  });
});

describe("the window of a Messages server", () => {
  it("holds the prompt, and with the reply where that is asked for", async () => {
    const messages = [user("word ".repeat(4000))];
    const small = await start({ contextWindow: 2000 });
    expect((await send(small, { messages })).error?.message).toMatch(
      /^prompt is too long: 5\d{3} tokens > 2000 maximum$/,
    );
    const tight = await start({ contextWindow: 10_000, countMaxTokens: true });
    expect((await send(tight, { messages })).error?.message).toContain("exceed context limit");
    expect(await send(await start({ contextWindow: 10_000 }), { messages })).toMatchObject({
      status: 200,
    });
  });
});

describe("the addresses of a Messages server", () => {
  it("are those of the api, of gateways before it, and of Vertex, which names the model", async () => {
    const server = await start({ answers: [{ text: "Hello." }] });
    const post = (path: string, change: object) =>
      fetch(`${server.url}${path}`, {
        method: "POST",
        body: JSON.stringify({ max_tokens: 9, messages: [user("hi")], ...change }),
      });
    for (const path of ["/v1/messages", "/anthropic/v1/messages", "/v1/a/gw/anthropic/v1/messages"])
      expect((await post(path, { model: FREE })).status).toBe(200);
    const vertex = `/v1/projects/p/locations/l/publishers/anthropic/models/${BOUND}`;
    const streamed = await post(`${vertex}:streamRawPredict`, {
      anthropic_version: "vertex-2023-10-16",
    });
    expect(await streamed.text()).toContain(`"model":"${BOUND}"`);
    expect(streamed.headers.get("content-type")).toContain("text/event-stream");
    expect((await post("/v1/complete", {})).status).toBe(404);
  });
});
