// Speaks to sessions of a gateway by the four model APIs.
import { createEmulator, type EmulatorAnswer, type ReceivedRequest } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { DOOR_APIS } from "../config/door.ts";
import { TestClient } from "../door/testing/client.ts";
import type { Said } from "../door/testing/conversation.ts";
import { startReplies } from "../door/testing/http-world.ts";
import { startUpstream } from "../door/testing/upstream.ts";
import type { DoorApi } from "../door/wires/door-wire.ts";
import { ask, person, request, results } from "../testing/door-client.ts";
import { startTestGateway, type TestGateway } from "../testing/gateway.ts";
import { obey, run } from "../testing/obedient-model.ts";
import { startTestDoor } from "../testing/test-door.ts";

/** A gateway whose model is an emulated server, and a client of each wire. */
async function startSessions(
  answers: EmulatorAnswer[] | ((request: ReceivedRequest) => EmulatorAnswer) = obey,
  {
    api = "openai-completions",
    door = {},
    agents = {},
    limits = {},
  }: {
    api?: string;
    door?: Record<string, unknown>;
    agents?: Record<string, unknown>;
    limits?: Record<string, unknown>;
  } = {},
) {
  const server = await createEmulator(api, { answers });
  onTestFinished(() => server.close());
  const gateway = await startTestGateway({
    agents: { defaults: { model: "emulated/emulated" }, ...agents },
    models: {
      providers: {
        emulated: {
          ...{ baseUrl: server.baseUrl, api, apiKey: "key" },
          models: [{ id: "emulated", contextWindow: 100_000, reasoning: true }],
        },
      },
    },
    door,
    gateway: { limits },
  });
  return { ...gateway, server, heard: (at: number) => JSON.stringify(server.requests[at]?.body) };
}

async function spoken({ gateway }: Pick<TestGateway, "gateway">, session: string) {
  const messages = await gateway.messages(session, 100);
  return messages?.map(({ role }) => role);
}

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const url = `data:image/png;base64,${PNG}`;
const ASKED = "What is this?";
const IMAGES: Record<DoorApi, Record<string, unknown>> = {
  "openai-completions": {
    messages: [
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url } },
          { type: "text", text: ASKED },
        ],
      },
    ],
  },
  "openai-responses": {
    input: [
      {
        role: "user",
        content: [
          { type: "input_image", image_url: url, detail: "auto" },
          { type: "input_text", text: ASKED },
        ],
      },
    ],
  },
  "anthropic-messages": {
    messages: [
      {
        role: "user",
        content: [
          { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
          { type: "text", text: ASKED },
        ],
      },
    ],
  },
  "google-generative-ai": {
    contents: [
      {
        role: "user",
        parts: [{ inlineData: { mimeType: "image/png", data: PNG } }, { text: ASKED }],
      },
    ],
  },
};

describe.each(DOOR_APIS)("a session by %s", (api) => {
  it.each([false, true])("knows what was said before (streaming: %s)", async (streaming) => {
    const gateway = await startSessions();
    const session = "work";
    const first = await ask(gateway, api, [person("one")], { session, streaming });
    expect(first).toMatchObject({ text: "heard: one", stopReason: "stop", error: null });
    expect(first.usage!.totalTokens).toBeGreaterThan(0);
    expect(first.answer.headers.get("x-clew-session")).toBe("work");
    const head = ["Speak like a clerk."];
    const second = await ask(gateway, api, [person("two")], { session, streaming, head });
    expect(second).toMatchObject({ text: "heard: two", stopReason: "stop" });
    expect(second.id).not.toBe(first.id);
    for (const words of ["one", "heard: one", "two", "Speak like a clerk."])
      expect(gateway.heard(1)).toContain(words);
    expect(gateway.heard(0)).not.toContain("clerk");
    expect(await spoken(gateway, "work")).toEqual(["user", "assistant", "user", "assistant"]);
  });

  it("takes a history that is sent again for what it has already", async () => {
    const gateway = await startSessions();
    const session = "work";
    await ask(gateway, api, [person("one")], { session });
    const again: Said[] = [
      person("one"),
      { uid: null, by: "model", text: "heard: one", calls: [] },
      person("two"),
    ];
    expect((await ask(gateway, api, again, { session })).text).toBe("heard: two");
    expect(await spoken(gateway, "work")).toHaveLength(4);
  });

  it.each([false, true])(
    "hands a call of the client's tool out, and goes on in the same turn with its result (streaming: %s)",
    async (streaming) => {
      const gateway = await startSessions();
      const sent = { session: "work", streaming, tools: ["look"] };
      const said = person(run("look", { path: "a" }));
      const called = await ask(gateway, api, [said], sent);
      expect(called).toMatchObject({ stopReason: "toolUse", error: null });
      expect(called.calls).toMatchObject([{ name: "look", arguments: { path: "a" } }]);
      expect((await gateway.gateway.session("work"))!.busy).toBe(true);
      const [call] = called.calls;
      const given = results({ id: call!.id, name: "look", text: "a view" });
      const answered = await ask(gateway, api, [given], sent);
      expect(answered).toMatchObject({ text: "result: a view", stopReason: "stop" });
      expect(answered.id).not.toBe(called.id);
      expect(await spoken(gateway, "work")).toEqual([
        ...["user", "assistant", "toolResult", "assistant"],
      ]);
    },
  );

  it("shows the model an image", async () => {
    const gateway = await startSessions();
    const more = IMAGES[api];
    const seen = await ask(gateway, api, [], { session: "work", more });
    expect(seen).toMatchObject({ text: `heard: ${ASKED}`, error: null });
    expect(gateway.heard(0)).toContain("data:image/png;base64,");
  });

  it.each([false, true])("tells what the model thinks (streaming: %s)", async (streaming) => {
    const gateway = await startSessions([{ thinking: "Hm, so.", text: "Yes." }], {
      api: "anthropic-messages",
    });
    const told = await ask(gateway, api, [person("so?")], { session: "work", streaming });
    expect(told).toMatchObject({ thinking: "Hm, so.", text: "Yes.", error: null });
  });

  it("fails in the words of its wire", async () => {
    const gateway = await startSessions();
    for (const streaming of [false, true]) {
      const failed = await ask(gateway, api, [person("FAIL")], { session: "work", streaming });
      expect(failed.answer.status).toBe(400);
      expect(failed.error).toMatchObject({ kind: "invalid_request" });
    }
    const empty = await ask(gateway, api, [{ uid: null, by: "model", text: "x", calls: [] }], {
      session: "work",
    });
    expect(empty.answer.status).toBe(400);
    const odd = await ask(gateway, api, [person("x")], { session: "agent:" });
    expect(odd.answer.status).toBe(400);
  });
});

describe("calls of a client's tools", () => {
  const both = `${run("look", { at: 1 })}\n${run("look", { at: 2 })}`;

  it("may be several at once, and one without a result fails", async () => {
    const gateway = await startSessions();
    const sent = { session: "work", tools: ["look"] };
    const { calls } = await ask(gateway, "openai-completions", [person(both)], sent);
    expect(calls).toHaveLength(2);
    const given = results({ id: calls[1]!.id, name: "look", text: "second" });
    await ask(gateway, "openai-completions", [given, person("And?")], sent);
    const messages = (await gateway.gateway.messages("work", 10))!;
    expect(messages.filter(({ role }) => role === "toolResult")).toMatchObject([
      { isError: true, content: [{ text: "The client gave no result of this call." }] },
      { isError: false, content: [{ text: "second" }, {}, { text: "And?" }] },
    ]);
  });

  it("are found by name where a client of Google's gives no ids", async () => {
    const gateway = await startSessions();
    const sent = { session: "work", tools: ["look"] };
    const api = "google-generative-ai";
    await ask(gateway, api, [person(run("look", {}))], sent);
    const contents = [
      {
        role: "user",
        parts: [{ functionResponse: { name: "look", response: { output: "seen" } } }],
      },
    ];
    const answered = await ask(gateway, api, [], { ...sent, more: { contents } });
    expect(answered.text).toBe("result: seen");
  });

  it("are given up when the client says something else", async () => {
    const gateway = await startSessions();
    const sent = { session: "work", tools: ["look"] };
    const { calls } = await ask(gateway, "anthropic-messages", [person(run("look", {}))], sent);
    const went = await ask(gateway, "anthropic-messages", [person("never mind")], sent);
    expect(went.text).toBe("heard: never mind");
    const late = results({ id: calls[0]!.id, name: "look", text: "a view" });
    const told = await ask(gateway, "anthropic-messages", [late], sent);
    expect(told.text).toBe("heard: a view");
    expect(await spoken(gateway, "work")).toEqual([
      ...["user", "assistant", "toolResult", "assistant"],
      ...["user", "assistant", "user", "assistant"],
    ]);
  });

  it("are waited for no longer than the settings say", async () => {
    const gateway = await startSessions(obey, { door: { session: { toolWaitSeconds: 1 } } });
    const sent = { session: "work", tools: ["look"] };
    await ask(gateway, "openai-responses", [person(run("look", {}))], sent);
    await expect.poll(async () => (await gateway.gateway.session("work"))!.busy).toBe(false);
    expect(await spoken(gateway, "work")).toEqual([
      ...["user", "assistant", "toolResult", "assistant"],
    ]);
  });

  it("stand beside those of the agent's tools, which clients are not shown", async () => {
    const gateway = await startSessions(obey, { door: { session: { agentTools: true } } });
    const sent = { session: "work", tools: ["look"], streaming: true };
    const said = person(`${run("list_files", { path: "." })}\n${run("look", {})}`);
    const { calls } = await ask(gateway, "openai-completions", [said], sent);
    expect(calls.map(({ name }) => name)).toEqual(["look"]);
    const { tools } = gateway.server.requests[0]!.body as { tools: { function: object }[] };
    expect(tools.length).toBeGreaterThan(2);
    const given = results({ id: calls[0]!.id, name: "look", text: "a view" });
    const answered = await ask(gateway, "openai-completions", [given], sent);
    expect(answered.text).toBe("result: a view");
  });
});

describe("a client of a session", () => {
  it("is offered its own tools alone", async () => {
    const gateway = await startSessions();
    await ask(gateway, "openai-completions", [person("hi")], { session: "a", tools: ["look"] });
    await ask(gateway, "openai-completions", [person("hi")], { session: "b" });
    expect(gateway.server.requests[0]!.body).toMatchObject({
      tools: [{ function: { name: "look" } }],
    });
    expect(gateway.server.requests[1]!.body).not.toHaveProperty("tools");
  });

  it("ends its turn by leaving", async () => {
    const gateway = await startSessions();
    const client = new AbortController();
    const left = request(gateway, "openai-completions", [person("HANG")], {
      ...{ session: "work", signal: client.signal },
    });
    await expect.poll(() => gateway.server.requests.length).toBe(1);
    client.abort();
    await expect(left).rejects.toThrow();
    await expect.poll(async () => (await gateway.gateway.session("work"))!.busy).toBe(false);
    expect(
      (await ask(gateway, "openai-completions", [person("hi")], { session: "work" })).text,
    ).toBe("heard: hi");
  });

  it("speaks in the session of the settings, and to the agent it names", async () => {
    const gateway = await startSessions(obey, {
      door: { mode: "session", session: { name: "desk" } },
      agents: { list: [{ id: "main" }, { id: "clerk" }] },
    });
    await ask(gateway, "openai-completions", [person("one")]);
    await ask(gateway, "anthropic-messages", [person("two")], { model: "clew/clerk" });
    expect(await spoken(gateway, "desk")).toHaveLength(2);
    expect(await spoken(gateway, "agent:clerk:desk")).toHaveLength(2);
  });

  it("is told that there is no such agent, by model or session", async () => {
    const gateway = await startSessions();
    const model = "clew/nobody";
    for (const sent of [{ model }, { model, session: "work" }, { session: "agent:nobody:work" }]) {
      const { answer, body } = await ask(gateway, "openai-completions", [person("hi")], sent);
      expect(answer.status).toBe(404);
      expect(body).toContain('There is no agent \\"nobody\\" here');
    }
    expect(gateway.server.requests).toHaveLength(0);
  });

  it("is told when to come again, where too much waits", async () => {
    const gateway = await startSessions(obey, { limits: { waitingMessages: 1 } });
    const sent = { session: "work" };
    const left = new AbortController();
    const asked = [0, 1, 2].map(() =>
      request(gateway, "openai-completions", [person("HANG")], { ...sent, signal: left.signal }),
    );
    const full = await Promise.race(
      asked.map(async (each) => {
        const answer = await each;
        return answer.status === 429 ? answer : new Promise<never>(() => {});
      }),
    );
    expect(Number(full.headers.get("retry-after"))).toBeGreaterThan(0);
    left.abort();
    await Promise.allSettled(asked);
  });

  it.each([true, false])(
    "is told when its model server wants to be asked again, and of a wrong address, streamed: %s",
    async (streaming) => {
      let count = 0;
      const upstream = await startUpstream((_heard, response) => {
        if (count++ === 0) response.writeHead(307, { location: "/elsewhere" }).end();
        else response.writeHead(429, { "retry-after": "1000" }).end("{}");
      });
      onTestFinished(upstream.close);
      const settings = { agents: { defaults: { model: "chat/model" } } };
      const gateway = await startTestDoor(upstream, { settings });
      const sent = { session: "work", streaming };
      const redirected = await ask(gateway, "openai-completions", [person("one")], sent);
      expect(redirected.answer.status).toBe(502);
      expect(redirected.body).toContain("sent the request on");
      const limited = await ask(gateway, "openai-completions", [person("two")], sent);
      expect(limited.answer.status).toBe(429);
      expect(limited.answer.headers.get("retry-after")).toBe("1000");
    },
  );

  it.each(DOOR_APIS.flatMap((api) => [true, false].map((streaming) => [api, streaming] as const)))(
    "is told by %s that a cost cap is reached by the status, streamed: %s",
    async (api, streaming) => {
      const upstream = await startReplies();
      onTestFinished(upstream.close);
      const caps = { dayDollars: 0.000001 };
      const settings = {
        agents: { defaults: { model: "chat/model" } },
        gateway: { costCaps: caps },
      };
      const gateway = await startTestDoor(upstream, { settings });
      const client = new TestClient("openai-completions");
      client.say("Begin.");
      const reply = { text: "Begun.", thinking: "", calls: [] };
      await upstream.play(gateway.url, client.ask(), { reply, fault: undefined });
      await gateway.gateway.door.settled();
      const { answer } = await ask(gateway, api, [person("And now?")], {
        ...{ session: "work", streaming },
      });
      expect(answer.status).toBe(402);
    },
  );

  it("is told of no files where its model is offered none", async () => {
    const gateway = await startSessions(obey, { door: { recallTools: true } });
    await ask(gateway, "openai-completions", [person("one")], { session: "work" });
    expect(gateway.heard(0)).toContain("session_read");
    expect(gateway.heard(0)).not.toContain("Your tools can read the files");
  });

  it("is told what is said to its session while it runs a tool", async () => {
    const gateway = await startSessions();
    const sent = { session: "work", tools: ["look"] };
    const { calls } = await ask(gateway, "openai-completions", [person(run("look", {}))], sent);
    const said = gateway.gateway.send({ key: "work", content: "Mind b.", whenBusy: "steer" });
    const listed = async () => (await gateway.gateway.waiting.list("work")).length;
    await expect.poll(listed).toBe(1);
    const given = results({ id: calls[0]!.id, name: "look", text: "seen" });
    await ask(gateway, "openai-completions", [given], sent);
    await said;
    expect(gateway.heard(1)).toContain("Mind b.");
  });

  it.each(["__proto__", "constructor"])("may call its model %s", async (model) => {
    const gateway = await startSessions();
    const { text } = await ask(gateway, "openai-completions", [person("hi")], { model });
    expect(text).toBe("heard: hi");
  });

  it("is told that its request is nested too deeply", async () => {
    const gateway = await startSessions();
    const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    const body = `{"model":"emulated","messages":[{"role":"user","content":${deep}}]}`;
    const headers = { "content-type": "application/json" };
    const answer = await gateway.get("/v1/chat/completions", { method: "POST", headers, body });
    expect(answer.status).toBe(400);
  });

  it("asks of its model what it may", async () => {
    const gateway = await startSessions();
    await ask(gateway, "anthropic-messages", [person("hi")], {
      ...{ session: "work", tools: ["look"] },
      more: { max_tokens: 77, tool_choice: { type: "any" }, temperature: 0.25 },
    });
    expect(gateway.server.requests[0]!.body).toMatchObject({ tool_choice: "required" });
    expect(JSON.stringify(gateway.server.requests[0]!.body)).toContain(":77");
  });
});

describe("what clients ask beside", () => {
  it("is which models there are: agents, too", async () => {
    const gateway = await startSessions();
    const listed = (await (await gateway.get("/v1/models")).json()) as { data: { id: string }[] };
    expect(listed.data.map(({ id }) => id)).toEqual(["emulated", "clew"]);
    const one = await (await gateway.get("/v1/models/clew")).json();
    expect(one).toMatchObject({ id: "clew", object: "model" });
    expect((await gateway.get("/v1/models/gone")).status).toBe(404);
    const google = { headers: { "x-goog-api-key": "key" } };
    const named = await (await gateway.get("/v1beta/models/clew", google)).json();
    expect(named).toMatchObject({ name: "models/clew" });
  });

  it("is asked by Google's newest clients without the beta", async () => {
    const gateway = await startSessions();
    const headers = {
      ...{ "content-type": "application/json", "x-clew-session": "work" },
      "x-goog-api-key": "key",
    };
    const body = JSON.stringify({ contents: [{ role: "user", parts: [{ text: "hi" }] }] });
    const answer = await gateway.get("/v1/models/clew:generateContent", {
      ...{ method: "POST", headers, body },
    });
    expect(await answer.json()).toMatchObject({
      candidates: [{ content: { role: "model", parts: [{ text: "heard: hi" }] } }],
    });
    const listed = await (await gateway.get("/v1/models", { headers })).json();
    expect(listed).toMatchObject({ models: [{ name: "models/clew" }] });
  });

  it("is how many tokens a session's next request has", async () => {
    const gateway = await startSessions();
    const body = { model: "clew", messages: [{ role: "user", content: "How many words?" }] };
    const headers = { "x-clew-session": "work", "content-type": "application/json" };
    const count = async () => {
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      const answer = await gateway.get("/v1/messages/count_tokens", init);
      return ((await answer.json()) as { input_tokens: number }).input_tokens;
    };
    const before = await count();
    expect(before).toBeGreaterThan(3);
    await ask(gateway, "anthropic-messages", [person("word ".repeat(500))], { session: "work" });
    expect(await count()).toBeGreaterThan(before + 400);
    const contents = [{ role: "user", parts: [{ text: "How many words?" }] }];
    const google = await gateway.get("/v1beta/models/clew:countTokens", {
      ...{ method: "POST", headers },
      body: JSON.stringify({ contents }),
    });
    expect(((await google.json()) as { totalTokens: number }).totalTokens).toBeGreaterThan(400);
  });
});

describe("a conversation of Responses", () => {
  const door = { mode: "session" };

  it.each([
    { conversation: 5 },
    { conversation: [] },
    { conversation: { id: 5 } },
    { previous_response_id: 5 },
    { previous_response_id: {} },
  ])("named by what is no name is refused: %j", async (more) => {
    const gateway = await startSessions(obey, { door });
    const { answer, body } = await ask(gateway, "openai-responses", [person("one")], { more });
    expect(answer.status).toBe(400);
    expect(body).toContain(Object.keys(more)[0]);
    expect(gateway.server.requests).toHaveLength(0);
  });

  it.each([true, false])("begins with its first request, stored: %s", async (store) => {
    const gateway = await startSessions(obey, { door });
    const more = { store };
    const first = await ask(gateway, "openai-responses", [person("one")], { more });
    const other = await ask(gateway, "openai-responses", [person("other")], { more });
    const after = { more: { ...more, previous_response_id: first.id } };
    const second = await ask(gateway, "openai-responses", [person("two")], after);
    expect(second.text).toBe("heard: two");
    expect(gateway.heard(2)).toContain("heard: one");
    expect(gateway.heard(2)).not.toContain("other");
    expect(JSON.parse(second.body)).toMatchObject({ previous_response_id: first.id, store });
    const again = await ask(gateway, "openai-responses", [person("two")], after);
    expect(again.answer.status).toBe(400);
    expect(JSON.parse(again.body)).toMatchObject({
      error: { param: "previous_response_id", code: "previous_response_not_newest" },
    });
    expect(other.answer.headers.get("x-clew-session")).toMatch(/^door-/);
  });

  it("is not begun by a model whose server keeps none, and that is said", async () => {
    const gateway = await startSessions();
    const more = { previous_response_id: "resp_unknown" };
    const asked = await ask(gateway, "openai-responses", [person("hi")], { more });
    expect(asked.answer.status).toBe(400);
    expect(asked.body).toContain("previous_response_not_found");
    expect(gateway.server.requests).toHaveLength(0);
  });

  it("is refused where nobody knows the reply before", async () => {
    const gateway = await startSessions(obey, { door });
    const first = await ask(gateway, "openai-responses", [person("one")], { session: "work" });
    const id = first.id!;
    const made = JSON.parse(Buffer.from(id.slice("resp_clew".length), "base64url").toString());
    const altered = `resp_clew${Buffer.from(JSON.stringify([made[0], "none", 0])).toString("base64url")}`;
    for (const previous_response_id of ["resp_0123", altered, id.replace("clew", "clewx")]) {
      const refused = await ask(gateway, "openai-responses", [person("two")], {
        more: { previous_response_id },
      });
      expect(refused.answer.status).toBe(400);
      expect(JSON.parse(refused.body)).toMatchObject({
        error: { type: "invalid_request_error", code: "previous_response_not_found" },
      });
    }
  });

  it("of one name is not gone on with by a reply of another, and that is said", async () => {
    const gateway = await startSessions(obey, { door });
    const first = await ask(gateway, "openai-responses", [person("one")], { session: "work" });
    const more = { previous_response_id: first.id, conversation: "play" };
    const refused = await ask(gateway, "openai-responses", [person("two")], { more });
    expect(refused.answer.status).toBe(400);
    expect(JSON.parse(refused.body).error).toMatchObject({
      ...{ param: "previous_response_id", code: "previous_response_of_another_session" },
      message: expect.stringMatching(/is in session "work", and the request names session "play"/),
    });
  });

  it("is the session of that name", async () => {
    const gateway = await startSessions();
    const named = { more: { conversation: { id: "work" } } };
    await ask(gateway, "openai-responses", [person("one")], named);
    const next = { more: { conversation: "work" } };
    await ask(gateway, "openai-responses", [person("two")], next);
    expect(await spoken(gateway, "work")).toHaveLength(4);
  });

  it("goes on with results by the id of the reply that called", async () => {
    const gateway = await startSessions(obey, { door });
    const sent = { tools: ["look"], more: { store: true } };
    const called = await ask(gateway, "openai-responses", [person(run("look", {}))], sent);
    const given = results({ id: called.calls[0]!.id, name: "look", text: "a view" });
    const more = { store: true, previous_response_id: called.id };
    const answered = await ask(gateway, "openai-responses", [given], { ...sent, more });
    expect(answered.text).toBe("result: a view");
  });
});
