// Asks models through the door that speak another wire than their client.
import { createEmulator, type EmulatorAnswer, type ReceivedRequest } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { DOOR_APIS } from "../config/door.ts";
import type { Said } from "../door/testing/conversation.ts";
import type { DoorApi } from "../door/wires/door-wire.ts";
import { ask, person, results } from "../testing/door-client.ts";
import { startTestGateway } from "../testing/gateway.ts";

const MODELS: Record<DoorApi, string> = {
  "openai-completions": "gpt-test",
  "openai-responses": "gpt-test",
  "anthropic-messages": "claude-test",
  "google-generative-ai": "gemini-3-pro-preview",
};

/** Clients of `client` that ask for "theirs" get a model that speaks `upstream`. */
async function startAcross(
  { client, upstream }: { client: DoorApi; upstream: DoorApi },
  answers: EmulatorAnswer[] | ((request: ReceivedRequest) => EmulatorAnswer),
) {
  const server = await createEmulator(upstream, { answers });
  onTestFinished(() => server.close());
  const id = MODELS[upstream];
  const gateway = await startTestGateway({
    models: {
      providers: {
        far: {
          ...{ baseUrl: server.baseUrl, api: upstream, apiKey: "key" },
          models: [{ id, contextWindow: 100_000, maxTokens: 2000, reasoning: true }],
        },
      },
    },
    door: { upstreams: { [client]: { models: { theirs: `far/${id}` } } } },
  });
  return { ...gateway, server };
}

const pairs = DOOR_APIS.flatMap((client) =>
  DOOR_APIS.filter((upstream) => upstream !== client).map((upstream) => ({ client, upstream })),
);

describe.each(DOOR_APIS)("a client of %s in a new home, without a key", (client) => {
  it.each([false, true])(
    "reaches the agent's model, the offline one too, by the name clew (streaming: %s)",
    async (streaming) => {
      const gateway = await startTestGateway({
        agents: { list: [{ id: "main" }, { id: "second" }] },
      });
      const sent = { model: "clew", tools: [], head: [], streaming };
      const cat = person("My cat is called Minka. What is my cat called?");
      const answered = await ask(gateway, client, [cat], sent);
      expect(answered).toMatchObject({ stopReason: "stop", error: null });
      expect(answered.text).toContain("Minka");
      const second = await ask(gateway, client, [cat], { ...sent, model: "clew/second" });
      expect(second).toMatchObject({ text: answered.text, error: null });
      const nobody = await ask(gateway, client, [cat], { ...sent, model: "clew/nobody" });
      expect(nobody.error).not.toBeNull();
    },
  );
});

describe.each(pairs)("a client of $client before a model of $upstream", ({ client, upstream }) => {
  it("is answered as by its own, streamed and whole, with calls and their results", async () => {
    const gateway = await startAcross({ client, upstream }, [
      { text: "Let me look.", toolCalls: [{ name: "look", arguments: { path: "a" } }] },
      { text: "It is a view." },
    ]);
    const sent = { model: "theirs", tools: ["look"], head: ["Be brief."] };
    const called = await ask(gateway, client, [person("What is a?")], sent);
    expect(called).toMatchObject({ text: "Let me look.", stopReason: "toolUse", error: null });
    const [call] = called.calls;
    expect(call).toMatchObject({ name: "look", arguments: { path: "a" } });
    expect(called.usage!.totalTokens).toBeGreaterThan(0);
    const history: Said[] = [
      person("What is a?"),
      {
        ...{ uid: null, by: "model", text: "Let me look." },
        calls: [{ id: call!.id, name: "look", args: call!.arguments }],
      },
      results({ id: call!.id, name: "look", text: "a view" }),
    ];
    const answered = await ask(gateway, client, history, { ...sent, streaming: true });
    expect(answered).toMatchObject({ text: "It is a view.", stopReason: "stop", error: null });
    expect(gateway.server.violations).toEqual([]);
    const body = JSON.stringify(gateway.server.requests[1]!.body);
    for (const words of ["Be brief.", "What is a?", "Let me look.", "a view"])
      expect(body).toContain(words);
  });

  it("is told in its own words what went wrong", async () => {
    const gateway = await startAcross({ client, upstream }, () => ({
      fault: "refusal",
      message: "Not today.",
      status: 400,
    }));
    for (const streaming of [false, true]) {
      const sent = { model: "theirs", streaming };
      const refused = await ask(gateway, client, [person("Hi")], sent);
      expect(refused.answer.status).toBe(400);
      expect(refused.error).not.toBeNull();
      expect(refused.body).toContain("far");
    }
  });
});

describe("a key that a model of another wire knows and does not let in", () => {
  it.each(DOOR_APIS)("is refused to a client of %s as one that may not", async (client) => {
    const upstream = client === "openai-completions" ? "anthropic-messages" : "openai-completions";
    for (const status of [401, 403]) {
      const message = "No entry.";
      const said = { fault: "refusal", message, status } as const;
      const gateway = await startAcross({ client, upstream }, () => said);
      const refused = await ask(gateway, client, [person("Hi")], { model: "theirs" });
      expect(refused.answer.status).toBe(status);
    }
  });
});

describe("a prompt that is too long for a model of another wire", () => {
  it.each([
    ["anthropic-messages", "prompt is too long: 5000 tokens > 4000 maximum"],
    ["openai-responses", "context_length_exceeded"],
    ["google-generative-ai", "The input token count (5000) exceeds"],
  ] as const)("is refused as %s does it", async (client, words) => {
    const wires = { client, upstream: "openai-completions" } as const;
    const gateway = await startAcross(wires, () => ({
      fault: "overflow",
      window: 4000,
      observedTokens: 5000,
    }));
    const refused = await ask(gateway, client, [person("Hi")], { model: "theirs" });
    expect(refused.answer.status).toBe(400);
    expect(refused.body).toContain(words);
  });
});

describe("a reply that came by another wire", () => {
  it("goes back to its model with what the client's wire has no room for", async () => {
    const wires = { client: "anthropic-messages", upstream: "google-generative-ai" } as const;
    const gateway = await startAcross(wires, [
      { thinking: "Hm.", toolCalls: [{ name: "look", arguments: {} }] },
      { text: "Done." },
    ]);
    const sent = { model: "theirs", tools: ["look"], streaming: true };
    const called = await ask(gateway, wires.client, [person("Look.")], sent);
    expect(called.thinking).toBe("Hm.");
    const [call] = called.calls;
    const history: Said[] = [
      person("Look."),
      {
        ...{ uid: null, by: "model", text: "" },
        calls: [{ id: call!.id, name: "look", args: {} }],
      },
      results({ id: call!.id, name: "look", text: "a view" }),
    ];
    await ask(gateway, wires.client, history, sent);
    expect(gateway.server.violations).toEqual([]);
    expect(JSON.stringify(gateway.server.requests[1]!.body)).toMatch(
      /"thoughtSignature":"(?!c2tpcF)/,
    );
  });

  it("is counted by estimate where nobody could be asked", async () => {
    const wires = { client: "anthropic-messages", upstream: "openai-completions" } as const;
    const gateway = await startAcross(wires, [{ text: "Hi" }]);
    const init = {
      ...{ method: "POST", headers: { "content-type": "application/json" } },
      body: JSON.stringify({
        model: "theirs",
        messages: [{ role: "user", content: "How many?" }],
      }),
    };
    const counted = await gateway.get("/v1/messages/count_tokens", init);
    expect(((await counted.json()) as { input_tokens: number }).input_tokens).toBeGreaterThan(3);
    expect(gateway.server.requests).toEqual([]);
  });
});
