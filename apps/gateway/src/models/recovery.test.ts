import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createEmulator, type Emulator, type EmulatorFault } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { clew } from "../testing/command.ts";
import { startTestGateway, type TestGateway } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";
import { startPluginGateway, writePlugin } from "../testing/plugins.ts";

const WIRES = [
  "anthropic-messages",
  "bedrock-converse-stream",
  "google-generative-ai",
  "mistral-conversations",
  "openai-chatgpt-responses",
  "openai-completions",
  "openai-responses",
];
/** Models that think, and sign or carry it. */
const MODELS: Readonly<Record<string, string>> = {
  "anthropic-messages": "claude-opus-4-6",
  "bedrock-converse-stream": "us.anthropic.claude-opus-4-6-v1:0",
  "google-generative-ai": "gemini-3-pro-preview",
  "openai-responses": "gpt-5.5",
  "openai-chatgpt-responses": "gpt-5.5",
};

type Answers = NonNullable<NonNullable<Parameters<typeof createEmulator>[1]>["answers"]>;

async function serve(api: string, answers: Answers, more: object = {}) {
  const server = await createEmulator(api, { answers, tolerant: true, ...more });
  onTestFinished(() => server.close());
  return server;
}

const provider = (api: string, { baseUrl }: { baseUrl: string }, id: string) => ({
  ...{ baseUrl, api, apiKey: "key-for-tests" },
  models: [{ id, contextWindow: 100_000, maxTokens: 4096, reasoning: true }],
});

/** A model of `api`, and one of Chat Completions behind it. */
const chained = (
  api: string,
  { first, second, id }: { first: Emulator; second: Emulator; id: string },
) => ({
  agents: { defaults: { model: { primary: `lab/${id}`, fallbacks: ["spare/m"] } } },
  models: {
    providers: {
      lab: provider(api, first, id),
      spare: provider("openai-completions", second, "m"),
    },
  },
});

const contextOf = async ({ get }: TestGateway) =>
  (await (await get("/api/sessions/main/context")).json()) as {
    model: object;
    turn: { recoveries?: object[] };
    call: { remedies?: string[] };
  };

/** An engine that writes down what it is told of the runtime. */
const noting = (notes: string) => `
import { appendFileSync } from "node:fs";
export default { register: (api) => api.registerContextEngine("noting", () => ({
  info: { id: "noting", name: "Noting" },
  ingest: async () => ({ ingested: true }),
  assemble: async ({ messages, runtimeSettings }) => {
    appendFileSync(${JSON.stringify(notes)}, JSON.stringify(runtimeSettings) + "\\n");
    return { messages, estimatedTokens: 0 };
  },
  compact: async () => ({ ok: true, compacted: false, reason: "nothing to do" }),
})) };
`;

/** Carriers that hold nothing but text: there is nothing in them that a provider could refuse. */
const WITHOUT_PROOFS = new Set(["openai-completions", "mistral-conversations"]);

/** Failures of the third call, and what is done: a remedy, another model, or nothing. */
const FAILURES: readonly (readonly [EmulatorFault, string, (api: string) => string])[] = [
  [
    { fault: "refusal", message: "Invalid `signature` in `thinking` block" },
    "signature",
    (api) =>
      api === "openai-completions"
        ? "without-reasoning"
        : WITHOUT_PROOFS.has(api)
          ? "fallback"
          : "without-proofs",
  ],
  [
    { fault: "refusal", message: "The encrypted content gAAAA could not be verified." },
    "encrypted_content",
    (api) => (WITHOUT_PROOFS.has(api) ? "fallback" : "without-proofs"),
  ],
  [
    { fault: "refusal", message: "`tool_use` ids were found without `tool_result` blocks: x" },
    "pairing",
    () => "calls-as-text",
  ],
  [
    { fault: "refusal", message: "cache_control: not supported for this model" },
    "cache_rejected",
    () => "without-cache",
  ],
  [{ fault: "refusal", message: "flagged for our usage policies" }, "refused", () => "nothing"],
  [{ fault: "refusal", message: "something else is odd" }, "invalid_request", () => "nothing"],
  [{ fault: "refusal", status: 401, message: "no" }, "auth", () => "fallback"],
  [{ fault: "refusal", status: 402, message: "pay" }, "billing", () => "fallback"],
  [{ fault: "refusal", status: 404, message: "no such model" }, "not_found", () => "fallback"],
  [{ fault: "rate-limit", retryAfterMs: 120_000 }, "rate_limited", () => "fallback"],
  [{ fault: "html", status: 200 }, "invalid_response", () => "fallback"],
];

describe.each(WIRES)("a gateway whose model speaks %s", (api) => {
  it.each(FAILURES)("does what helps after %o", async (fault, kind, expected) => {
    const id = MODELS[api] ?? "m";
    const first = await serve(api, [
      { thinking: "Look.", toolCalls: [{ name: "look", arguments: {} }] },
      { thinking: "Hm.", text: "one" },
      fault,
      { text: "two" },
    ]);
    const second = await serve("openai-completions", [{ text: "from the second" }]);
    const gateway = await startTestGateway(chained(api, { first, second, id }));
    expect((await gateway.say("hi")).text).toBe("one");
    const { text, events } = await gateway.say("more");
    const { model, turn, call } = await contextOf(gateway);
    const done = events.at(-1)!;
    switch (expected(api)) {
      case "nothing":
        expect(done).toMatchObject({ outcome: "failed", error: { kind } });
        break;
      case "fallback":
        expect(text).toBe("from the second");
        expect(model).toMatchObject({ resolved: "spare/m", fallback: kind });
        expect(turn.recoveries?.at(-1)).toMatchObject({ kind, action: "fallback", to: "spare/m" });
        expect(done).toMatchObject({ outcome: "completed", model: { fallback: kind } });
        break;
      default:
        expect(text).toBe("two");
        expect(turn.recoveries).toMatchObject([{ kind, action: "remedy", remedy: expected(api) }]);
        expect(call.remedies).toEqual([expected(api)]);
        // And the next turn does not meet the refusal again.
        expect((await gateway.say("again")).text).toBe("two");
        expect((await contextOf(gateway)).turn).not.toHaveProperty("recoveries");
    }
    expect(second.requests).toHaveLength(expected(api) === "fallback" ? 1 : 0);
  });

  it("says half an answer once, whatever happens then", async () => {
    const id = MODELS[api] ?? "m";
    const first = await serve(api, [{ fault: "cut", text: "Half an" }, { text: "never" }]);
    const second = await serve("openai-completions", [{ text: "never" }]);
    const gateway = await startTestGateway(chained(api, { first, second, id }));
    const { text, events } = await gateway.say("hi");
    expect(text).toBe("Half an");
    expect(events.at(-1)).toMatchObject({ outcome: "failed", error: { kind: "network" } });
    expect([first.requests.length, second.requests.length]).toEqual([1, 0]);
  });
});

describe("a model that failed", () => {
  const chain = async () => {
    const first = await serve("openai-completions", [
      { fault: "refusal", status: 404, message: "no such model" },
      { text: "I am back" },
    ]);
    const second = await serve("openai-completions", [{ text: "from the second" }]);
    const config = {
      agents: { defaults: { model: { primary: "lab/m", fallbacks: ["spare/m", "none/m"] } } },
      models: {
        providers: {
          lab: provider("openai-completions", first, "m"),
          spare: provider("openai-completions", second, "m"),
        },
      },
    };
    return { first, second, gateway: await startTestGateway(config), config };
  };

  it("is told of once by a chat, whose log says why", async () => {
    const { config } = await chain();
    const home = await temporaryHome();
    await writeFile(join(home, "clew.json"), JSON.stringify(config));
    const { output, errors } = await clew(home, ["chat", "hi"]);
    expect(output).toContain("from the second");
    expect(errors.match(/spare\/m answers instead/g)).toHaveLength(1);
    const log = await readFile(join(home, "logs", "gateway.log"), "utf8");
    expect(log).toContain("model lab/m failed");
  });

  it("is left alone for a while, which everybody is told, and asked again when told to", async () => {
    const { first, second, gateway, config } = await chain();
    const notices = (turn: Awaited<ReturnType<TestGateway["say"]>>) =>
      turn.events.flatMap(({ type, text }) => (type === "notice" ? [text] : []));
    expect(notices(await gateway.say("hi"))).toEqual([
      "lab/m is not there; spare/m answers instead.",
    ]);
    const later = await gateway.say("more");
    expect(later.text).toBe("from the second");
    expect(notices(later)).toEqual([
      expect.stringMatching(
        /^spare\/m answers in place of lab\/m, which is not there; left alone until .* UTC\.$/,
      ),
    ]);
    expect(later.events.at(-1)).toMatchObject({
      model: { requested: "lab/m", resolved: "spare/m", fallback: "not_found" },
    });
    expect([first.requests.length, second.requests.length]).toEqual([1, 2]);
    const status = (await gateway.gateway.command("main", {
      kind: "command",
      name: "status",
      args: "",
    })) as { text: string };
    expect(status.text).toMatch(
      /^Model: spare\/m.*in place of lab\/m, which is not there and is left alone until .*; then lab\/m/,
    );
    const { home } = gateway;
    expect((await clew(home, ["models", "retry", "lab/m"])).output).toBe(
      "lab/m is asked again from the next turn on.",
    );
    expect((await gateway.say("and now?")).text).toBe("I am back");
    await writeFile(join(home, "clew.json"), JSON.stringify(config));
    expect((await clew(home, ["models", "retry", "lab/m"])).code).toBe(1);
  });

  it("is named by /status where a session chose it, and not the one of the settings", async () => {
    const missing = { fault: "refusal", status: 404, message: "no such model" } as const;
    const lab = await serve("openai-completions", [missing, { text: "from the other" }]);
    const house = provider("openai-completions", lab, "m");
    const gateway = await startTestGateway({
      agents: { defaults: { model: "lab/m" } },
      models: { providers: { lab: { ...house, models: [...house.models, { id: "typo" }] } } },
    });
    const command = (name: string, args = "") =>
      gateway.gateway.command("main", { kind: "command", name, args });
    await command("model", "lab/typo");
    expect((await gateway.say("hi")).text).toBe("from the other");
    expect(await command("status")).toMatchObject({
      text: expect.stringMatching(
        /^Model: lab\/m,.*; in place of lab\/typo, which is not there .*"clew models retry lab\/typo"/,
      ),
    });
  });

  it("is told of to an engine: mode, reason, and the model that was asked for beside the one that answers", async () => {
    const { gateway: unused, config } = await chain();
    await unused.stop();
    const home = await temporaryHome();
    const notes = join(home, "notes.jsonl");
    const plugin = writePlugin(join(home, "sources/noting"), { id: "noting", code: noting(notes) });
    const plugins = { load: { paths: [plugin] }, slots: { contextEngine: "noting" } };
    const gateway = await startPluginGateway({ ...config, plugins }, home);
    for (const text of ["hi", "more"]) await gateway.say(text);
    const told = (await readFile(notes, "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    const other = { requested: "lab/m", resolved: "spare/m", provider: "spare" };
    const fallen = {
      ...{ runtime: { mode: "fallback" }, model: other },
      diagnostics: { fallbackReason: "provider_unavailable" },
    };
    expect(told).toMatchObject([
      { runtime: { mode: "normal" }, model: { requested: "lab/m", resolved: "lab/m" } },
      fallen,
      fallen,
    ]);
  });

  it("is asked all the same where nobody else is there, and its pause is told", async () => {
    const busy = { fault: "rate-limit", retryAfterMs: 3_600_000 } as const;
    const lab = await serve("openai-completions", [busy, { text: "at last" }]);
    const config = {
      agents: { defaults: { model: "lab/m" } },
      models: { providers: { lab: provider("openai-completions", lab, "m") } },
    };
    const gateway = await startTestGateway(config);
    await writeFile(join(gateway.home, "clew.json"), JSON.stringify(config));
    expect((await gateway.say("hi")).events.at(-1)).toMatchObject({
      error: { kind: "rate_limited" },
    });
    const told = /wants a pause, until .* UTC; asked all the same, as no other is there/;
    const status = () =>
      gateway.gateway.command("main", { kind: "command", name: "status", args: "" });
    expect(await status()).toMatchObject({ text: expect.stringMatching(told) });
    const listed = (word: string) => clew(gateway.home, ["models", word]);
    expect((await listed("status")).output).toMatch(told);
    expect((await listed("list")).output).toMatch(told);
    expect((await gateway.say("and now?")).text).toBe("at last");
    expect(await status()).toMatchObject({ text: expect.not.stringMatching(told) });
  });

  it("is listed by commands, with fallbacks that cannot be used", async () => {
    const { gateway, config } = await chain();
    await gateway.say("hi");
    const { home } = gateway;
    await gateway.stop();
    await writeFile(`${home}/clew.json`, JSON.stringify(config));
    const doctor = (await clew(home, ["doctor"])).output;
    expect(doctor).toMatch(/warning +model: lab\/m is not there; left alone until .* UTC/);
    expect(doctor).toMatch(
      /warning +model: the fallback none\/m is passed over: .*unknown provider/,
    );
    const { output } = await clew(home, ["models", "status"]);
    expect(output).toMatch(/main +spare\/m +ready/);
    expect(output).toMatch(/main +lab\/m +is not there; left alone until/);
    const mistyped = await clew(home, ["models", "retry", "lba/m"]);
    expect(mistyped.code).not.toBe(0);
    expect(mistyped.errors).toContain('No agent asks a model "lba/m". Did you mean "lab/m"?');
    const unknown = await clew(home, ["models", "retry", "nosuch"]);
    expect(unknown.errors).toContain('No agent asks a model "nosuch". "clew models status" lists');
    const ready = await clew(home, ["models", "retry", "spare/m"]);
    expect(ready.output).toContain("spare/m is not left alone");
  });
});
