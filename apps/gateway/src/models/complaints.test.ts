// What users of other hosts file about refused and expensive sessions, each tried here.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentMessage, AssistantMessage, ToolCallBlock } from "@clew/plugin-sdk/core";
import { createEmulator, type JsonObject } from "@clew/providers/testing";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import {
  type Asked,
  createLab,
  createSession,
  type EmulatedModel,
  type EmulatedSession,
} from "../testing/emulated-session.ts";
import { startTestGateway, type TestGateway } from "../testing/gateway.ts";
import { countCall, noFigures, proofsOf } from "../testing/replay-figures.ts";

const OPUS: EmulatedModel = ["anthropic", "anthropic-messages", "claude-opus-4-6"];
const BOUND: EmulatedModel = ["anthropic", "anthropic-messages", "claude-opus-5-5"];
const BEDROCK: EmulatedModel = [
  ...(["amazon-bedrock", "bedrock-converse-stream"] as const),
  "us.anthropic.claude-opus-5-5-v1:0",
];
const GEMINI: EmulatedModel = ["google", "google-generative-ai", "gemini-3-pro-preview"];
const GPT: EmulatedModel = ["openai", "openai-responses", "gpt-5.6"];
const CODEX: EmulatedModel = ["openai", "openai-chatgpt-responses", "gpt-5.6-codex"];
const MISTRAL: EmulatedModel = ["mistral", "mistral-conversations", "magistral-medium-latest"];
const MINIMAX: EmulatedModel = ["minimax", "anthropic-messages", "MiniMax-M3", "minimax"];
const chat = (provider: string, id: string, flavor = provider): EmulatedModel => [
  ...([provider, "openai-completions", id, flavor] as const),
];
const EVERY = [
  ...[OPUS, BOUND, BEDROCK, GEMINI, GPT, CODEX, MISTRAL, MINIMAX],
  chat("deepseek", "deepseek-reasoner"),
  chat("openrouter", "google/gemini-3-pro-preview"),
  chat("vllm", "qwen3"),
];
const wires = EVERY.map((model) => [`${model[0]} over ${model[1]}`, model] as const);

const lab = createLab();
afterAll(() => lab.close());

const LOOK = { thinking: "I look.", toolCalls: [{ name: "read", arguments: { path: "a" } }] };
const callsIn = ({ reply }: Asked): ToolCallBlock[] =>
  reply.content.filter((block) => block.type === "toolCall");

/** Neither refused, nor was anything left out of it by the provider. */
function expectTaken({ request, error }: Asked): JsonObject {
  expect(error).toBeNull();
  expect(request!.violations.filter(({ rule }) => rule !== "assistant.both")).toEqual([]);
  expect(request!.changes).toEqual([]);
  return request!.body!;
}

/** A turn with one step of tools. */
async function turn(session: EmulatedSession, model: EmulatedModel): Promise<Asked> {
  session.say("Read a.");
  const asked = await session.ask(model, LOOK);
  expectTaken(asked);
  for (const call of callsIn(asked)) session.answer(call);
  const done = await session.ask(model, { thinking: "So.", text: "One line." });
  expectTaken(done);
  return done;
}

const store = (session: EmulatedSession, ...messages: object[]) =>
  session.stored.push(...(messages as AgentMessage[]));
const asking = (...ids: unknown[]) => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "toolCall", id, name: "read", arguments: { path: "a" } })),
  stopReason: "toolUse",
});
const result = (toolCallId: unknown, text: string) => ({
  ...{ role: "toolResult", toolCallId, toolName: "read", isError: false },
  content: [{ type: "text", text }],
});
const said = (text: string) => ({ role: "user", content: text });

async function gatewayWith(answers: object[], home?: string, [provider, api, id] = OPUS) {
  const server = await createEmulator(api, { answers: answers as never, cacheMinimumTokens: 16 });
  onTestFinished(() => server.close());
  const models = [{ id, profile: { cache: { how: "marks", marks: 4, minTokens: 16 } } }];
  const gateway = await startTestGateway(
    {
      agents: { defaults: { model: `${provider}/${id}` } },
      models: { providers: { [provider]: { api, baseUrl: server.baseUrl, apiKey: "k", models } } },
    },
    home,
  );
  return { server, gateway };
}

const recoveriesOf = async ({ get }: TestGateway) =>
  ((await (await get("/api/sessions/main/context")).json()) as { turn: { recoveries?: object[] } })
    .turn.recoveries ?? [];

describe("1. a tool result without its call, a call without its result", () => {
  it.each(wires)("is never sent to %s, wherever a history was cut", async (_name, model) => {
    const whole = [
      said("q"),
      asking("call_1", "call_2"),
      ...[result("call_1", "one"), result("call_2", "two")],
      said("and?"),
      asking("call_3"),
    ];
    for (let cut = 0; cut < whole.length; cut++) {
      const session = createSession(lab);
      store(session, ...whole.slice(cut), ...whole.slice(0, cut));
      session.say("Go on.");
      expectTaken(await session.ask(model, { text: "Fine." }));
    }
  });
});

describe("2. ids that were joined, emptied or repeated when a session was handed over", () => {
  it.each(wires)("reach %s in its form, each result with its call", async (_name, model) => {
    const ids = [
      "call_1|fc_1",
      "",
      "functions.read:0",
      "x".repeat(90),
      "a b",
      "a_b",
      "call_1|fc_1",
    ];
    const session = createSession(lab);
    for (const [at, id] of ids.entries())
      store(session, said("q"), asking(id), result(id, `result ${at}.`));
    session.say("Go on.");
    const text = JSON.stringify(expectTaken(await session.ask(model, { text: "Fine." })));
    for (const at of ids.keys())
      if (ids[at] !== "") expect(text.split(`result ${at}.`)).toHaveLength(2);
  });
});

describe("3. a signature of another model", () => {
  it.each(wires)(
    "is not sent to %s, and its own is, also after a switch back",
    async (_n, model) => {
      const session = createSession(lab);
      const foreign: string[] = [];
      for (const other of [OPUS, GPT, GEMINI, BEDROCK].filter((each) => each !== model))
        foreign.push(...proofsOf((await turn(session, other)).reply));
      await turn(session, model);
      await turn(session, GPT === model ? OPUS : GPT);
      session.say("Go on.");
      const { text } = (await session.ask(model, { text: "Fine." })).request!;
      expect(foreign.length).toBeGreaterThan(0);
      for (const proof of foreign) expect(text).not.toContain(proof);
    },
  );
});

/** A session file in which the signature of the first thought is what `change` makes of it. */
async function damagedHome(change: (signature: string) => string | undefined): Promise<string> {
  const { gateway } = await gatewayWith([{ thinking: "Hm.", text: "One." }]);
  await gateway.say("hi");
  await gateway.stop();
  const names = await readdir(gateway.home, { recursive: true });
  const file = join(gateway.home, names.find((name) => /sessions.*\.jsonl$/.test(name))!);
  const lines = (await readFile(file, "utf8")).split("\n").map((line) => {
    if (!line.includes("thinkingSignature")) return line;
    const entry = JSON.parse(line) as { message: AssistantMessage };
    for (const block of entry.message.content)
      if (block.type === "thinking") {
        const changed = change(block.thinkingSignature!);
        if (changed === undefined) delete block.thinkingSignature;
        else block.thinkingSignature = changed;
      }
    return JSON.stringify(entry);
  });
  await writeFile(file, lines.join("\n"));
  return gateway.home;
}

describe("4. a signature that was stored cut, or not at all", () => {
  it("is left out where it is missing, and the turn goes on where it is cut", async () => {
    for (const [change, remedies] of [
      [() => undefined, []],
      [(signature: string) => signature.slice(0, -8), [{ kind: "signature", action: "remedy" }]],
    ] as const) {
      const home = await damagedHome(change);
      const { gateway } = await gatewayWith([{ text: "Two." }], home);
      expect((await gateway.say("more")).text).toBe("Two.");
      expect(await recoveriesOf(gateway)).toMatchObject(remedies);
    }
  });
});

describe("5. a session that is refused for ever, for one signature", () => {
  it("is sent again once without it, and later turns know", async () => {
    const home = await damagedHome((signature) => `AAAA${signature.slice(4)}`);
    const { gateway, server } = await gatewayWith([{ text: "Two." }, { text: "Three." }], home);
    expect((await gateway.say("more")).text).toBe("Two.");
    expect(server.requests).toHaveLength(2);
    expect((await gateway.say("and?")).text).toBe("Three.");
    expect(server.requests).toHaveLength(3);
    expect(await recoveriesOf(gateway)).toEqual([]);
  });
});

describe("6. thinking that is bound to what came before it", () => {
  it.each([BOUND, BEDROCK])(
    "outlives late results, words in between and aborts: %s",
    async (...of) => {
      const session = createSession(lab);
      const model = of as unknown as EmulatedModel;
      session.say("Read a.");
      const [late] = callsIn(await session.ask(model, LOOK));
      session.say("Never mind.");
      expectTaken(await session.ask(model, { thinking: "Well.", text: "As you like." }));
      session.answer(late!, "late");
      session.say("And now?");
      expectTaken(
        await session
          .ask(model, { fault: "hang", text: "Half" }, { aborts: true })
          .then((asked) => ({ ...asked, error: null })),
      );
      session.say("Go on.");
      expect(JSON.stringify(expectTaken(await session.ask(model, LOOK)))).toContain("Late result");
    },
  );

  it("is left out by the provider, and that is told, when the tools change", async () => {
    const session = createSession(lab);
    await turn(session, BOUND);
    session.say("Go on.");
    const asked = await session.ask(BOUND, { text: "Fine." }, { call: { tools: [] } });
    expect(asked.error).toBeNull();
    expect(asked.request!.changes.length).toBeGreaterThan(0);
  });

  it("costs one call and no session where the provider refuses it instead", async () => {
    const { gateway } = await gatewayWith([{ thinking: "Hm.", text: "One." }], undefined, BEDROCK);
    await gateway.say("hi");
    const { home } = gateway;
    await gateway.stop();
    await writeFile(join(home, "AGENTS.md"), "Be brief, from now on.");
    const again = await gatewayWith([{ text: "Two." }], home, BEDROCK);
    expect((await again.gateway.say("more")).text).toBe("Two.");
  });
});

describe("7. Gemini 3 without its thought signatures", () => {
  it("gets its own back, and a stand-in for a call that another model made in the same turn", async () => {
    const session = createSession(lab);
    await turn(session, GEMINI);
    session.say("Read b.");
    for (const call of callsIn(await session.ask(OPUS, LOOK))) session.answer(call);
    const body = expectTaken(await session.ask(GEMINI, { text: "Fine." }));
    expect(JSON.stringify(body)).toContain("skip_thought_signature_validator");
  });
});

describe("8. OpenRouter's reasoning_details", () => {
  it("go back as they came, with the reply they belong to", async () => {
    const session = createSession(lab);
    const model = chat("openrouter", "google/gemini-3-pro-preview");
    await turn(session, model);
    session.say("Go on.");
    const body = expectTaken(await session.ask(model, { text: "Fine." }));
    const details = (body.messages as JsonObject[]).filter((each) => "reasoning_details" in each);
    expect(details.length).toBeGreaterThan(0);
  });
});

describe("9. reasoning_content that must come back", () => {
  it.each([
    ["deepseek", "deepseek-reasoner", "deepseek"],
    ["moonshot", "kimi-k2-thinking", "kimi"],
  ])("does at %s, though no setting says that %s thinks", async (provider, id, flavor) => {
    const session = createSession(lab);
    await turn(session, chat(provider, id, flavor));
    session.say("Go on.");
    const body = expectTaken(await session.ask(chat(provider, id, flavor), { text: "Fine." }));
    const sent = (body.messages as JsonObject[]).flatMap((each) => each.reasoning_content ?? []);
    expect(sent).toEqual(["I look.", "So."]);
  });
});

describe("10. vLLM's reasoning, under its new name", () => {
  it("is read and sent as `reasoning`", async () => {
    const session = createSession(lab);
    const model = chat("vllm", "qwen3");
    session.say("Read a.");
    for (const call of callsIn(await session.ask(model, LOOK))) session.answer(call);
    const body = expectTaken(await session.ask(model, { text: "Fine." }));
    expect((body.messages as JsonObject[]).map((each) => each.reasoning)).toContain("I look.");
  });
});

describe("11. a reasoning item that nothing follows", () => {
  it.each([[GPT], [CODEX]])("of an aborted reply is not sent again: %s", async (model) => {
    const session = createSession(lab);
    await turn(session, model);
    session.say("Go on.");
    const [last] = session.stored.flatMap((message) =>
      message.role === "assistant" ? message.content.filter(({ type }) => type === "thinking") : [],
    );
    const lone = {
      type: "thinking",
      thinking: "Cut.",
      thinkingSignature: JSON.stringify({
        ...{ type: "reasoning", id: "rs_lone", summary: [] },
      }),
    };
    expect(last).toBeDefined();
    store(session, { role: "assistant", content: [lone], stopReason: "aborted" });
    session.say("Again.");
    expect(JSON.stringify(expectTaken(await session.ask(model, { text: "Fine." })))).not.toContain(
      "rs_lone",
    );
  });
});

describe("12. encrypted thoughts after another account was signed in to", () => {
  it.each([[GPT], [CODEX]])("stay with the one that can read them: %s", async (model) => {
    const session = createSession(lab);
    session.say("Think.");
    const first = await session.ask(model, { thinking: "Hm.", text: "One." }, { apiKey: "one" });
    const own = JSON.parse(
      first.reply.content.find((block) => block.type === "thinking")!.thinkingSignature!,
    ) as { encrypted_content: string };
    session.say("Again.");
    const second = await session.ask(model, { text: "Two." }, { apiKey: "two" });
    expectTaken(second);
    expect(second.request!.text).not.toContain(own.encrypted_content);
    session.say("And?");
    const back = await session.ask(model, { text: "Three." }, { apiKey: "one" });
    expectTaken(back);
    expect(back.request!.text).toContain(own.encrypted_content);
  });
});

describe("13. Mistral's order of roles", () => {
  it("holds where a person speaks right behind the results of tools", async () => {
    const strict = createLab({ tolerant: false });
    onTestFinished(() => strict.close());
    const session = createSession(strict);
    session.say("Read a.");
    for (const call of callsIn(await session.ask(MISTRAL, { toolCalls: LOOK.toolCalls })))
      session.answer(call);
    session.say("Rather b.");
    const { request, error } = await session.ask(MISTRAL, { text: "Fine." });
    expect([error, request!.violations]).toEqual([null, []]);
  });
});

describe("14. Bedrock's marks for the cache", () => {
  it("stand behind no reasoning, and are all for the same time", async () => {
    const session = createSession(lab);
    const call = { cache: { retention: "long" as const, stableMessages: 2 } };
    await turn(session, BEDROCK);
    session.say("Go on.");
    const body = expectTaken(await session.ask(BEDROCK, LOOK, { call }));
    const blocks = (body.messages as { content: JsonObject[] }[]).flatMap(({ content }) =>
      content.map((block, at) => [content[at - 1], block] as const),
    );
    const marks = blocks.filter(([, block]) => "cachePoint" in block);
    expect(marks.length).toBeGreaterThan(0);
    for (const [before] of marks) expect(before).not.toHaveProperty("reasoningContent");
    const times = JSON.stringify(body).match(/"ttl":"[^"]+"/g) ?? [];
    expect(new Set(times).size).toBeLessThanOrEqual(1);
  });
});

describe("15. prompts that are paid for again", () => {
  // Of a model of which nobody says that it thinks, thoughts go back while its tools run only.
  const steady = wires.filter(([name]) => !name.startsWith("vllm"));

  it.each(steady)("are none of a session with thinking over %s", async (_name, model) => {
    const session = createSession(lab);
    const figures = noFigures();
    const last = new Map();
    for (let at = 0; at < 6; at++) {
      session.say("Read it.");
      for (const answer of [LOOK, { thinking: `So ${at}.`, text: "One line." }]) {
        const stored = [...session.stored];
        const asked = await session.ask(model, answer);
        countCall(figures, last, { model, stored, asked });
        for (const call of callsIn(asked)) session.answer(call);
      }
    }
    expect(figures.changed).toEqual([]);
    expect(figures.found).toBe(figures.known);
  });

  it.each([[OPUS], [BEDROCK]])("are none of a step with many calls at once: %s", async (model) => {
    const session = createSession(lab);
    const calls = Array.from({ length: 14 }, (_, at) => ({
      name: "read",
      arguments: { path: `${at}` },
    }));
    await turn(session, model);
    session.say("Read all.");
    const before = await session.ask(model, { toolCalls: calls });
    for (const call of callsIn(before)) session.answer(call);
    const { bill } = (await session.ask(model, { text: "Done." })).request!;
    const { fresh, read, written } = before.request!.bill!;
    expect(bill!.read).toBe(fresh + read + written);
  });

  it("are explained", async () => {
    const { gateway } = await gatewayWith([{ text: "Fine." }]);
    await gateway.say("The tide was high and the harbour full of boats. ".repeat(40));
    await gateway.gateway.command("main", { kind: "command", name: "reset", args: "" });
    const { events } = await gateway.say("What was it?");
    expect(events.at(-1)).toMatchObject({
      cache: { broke: { code: "messages-changed" }, told: { reason: "messages_changed" } },
    });
  });
});
