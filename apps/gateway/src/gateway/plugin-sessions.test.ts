import { textOf } from "@clew/plugin-sdk/transcript";
import { describe, expect, it, vi } from "vitest";
import { type DiverCall, dive, diver, toldDuringRegister, writeDiver } from "../testing/diver.ts";
import { temporaryHome } from "../testing/home.ts";
import { writeNotary } from "../testing/notary.ts";
import { obedientModel } from "../testing/obedient-model.ts";
import { startPluginGateway, startServedGateway } from "../testing/plugins.ts";

const KEY = "agent:main:subagent:one";

async function waters(
  entry: Record<string, unknown> = {},
  { subagents = {}, others = [] as string[] } = {},
) {
  const home = await temporaryHome();
  const { server, config } = await obedientModel(subagents);
  const { notes, plugins } = writeNotary(home);
  for (const id of ["diver", ...others]) writeDiver(home, id);
  const settings = { ...config, plugins: { ...plugins, entries: { diver: entry } } };
  const start = () => startPluginGateway(settings, home);
  const started = await start();
  const inTurn = async (calls: readonly DiverCall[], id?: string) => {
    const { reply, report } = await started.say(dive(calls, id));
    const answers = JSON.parse(textOf(reply!).replace(/^result: /, "")) as {
      [key: string]: unknown;
      refused?: string;
    }[];
    return { answers, report };
  };
  return { home, server, settings, start, notes, inTurn, ...started };
}

/** However busy the machine is. */
const soon = <Result>(check: () => Result) => vi.waitFor(check, { timeout: 120_000 });

const run = (message: string, more: object = {}): DiverCall => [
  "run",
  { sessionKey: KEY, message, idempotencyKey: "r1", deliver: false, ...more },
];
const wait = (more: object = {}): DiverCall => ["waitForRun", { runId: "r1", ...more }];
const read = (sessionKey = KEY): DiverCall => ["getSessionMessages", { sessionKey, limit: 80 }];
const remove = (sessionKey = KEY): DiverCall => ["deleteSession", { sessionKey }];

describe("a plugin's own session", () => {
  const asked = [run("look around"), wait({ timeoutMs: 20_000 }), read(), remove()];
  const answered = [
    { runId: "r1", sessionKey: KEY },
    { status: "ok" },
    {
      messages: [
        { role: "user", content: "look around" },
        { role: "assistant", content: [{ type: "text", text: "heard: look around" }] },
      ],
    },
    null,
  ];

  it("runs, is waited for, read and deleted by its tool in a turn, and no engine is asked", async () => {
    const { inTurn, gateway, notes } = await waters();
    const { answers, report } = await inTurn(asked);
    expect(answers).toMatchObject(answered);
    expect(report.refusals).toBeUndefined();
    expect(notes()).toEqual([]);
    expect((await gateway.sessions()).map(({ key }) => key)).toEqual(["agent:main:main"]);
  });

  it("does the same in its command", async () => {
    const { gateway } = await waters();
    const args = JSON.stringify(asked);
    const { text } = await gateway.command("main", { kind: "command", name: "diver", args });
    expect(JSON.parse(text)).toMatchObject(answered);
  });

  it("does the same outside any request, and belongs to nobody's session", async () => {
    const { gateway } = await waters();
    await diver().run({ sessionKey: KEY, message: "look around", idempotencyKey: "r1" });
    expect(await diver().waitForRun({ runId: "r1" })).toEqual({ status: "ok" });
    expect(await gateway.sessions()).toMatchObject([
      { key: KEY, depth: 0, child: { parent: "plugin:diver", state: "completed" } },
    ]);
    expect(await diver().getSessionMessages({ sessionKey: KEY })).toMatchObject(answered[2]!);
    await diver().deleteSession({ sessionKey: KEY });
    expect(await gateway.sessions()).toEqual([]);
  });

  it("is told that the message comes from a plugin, and people are shown what it says", async () => {
    const { server, inTurn, gateway } = await waters();
    await inTurn([run("look around"), wait()]);
    const { messages } = server.requests[1]!.body as { messages: { content: unknown }[] };
    expect(JSON.stringify(messages.at(-1)!.content)).toContain(
      "sourceSession=agent:main:main sourceTool=plugin:diver isUser=false",
    );
    expect(await gateway.messages(KEY, 1)).toMatchObject([{ role: "assistant" }]);
    expect(JSON.stringify(await gateway.messages(KEY, 10))).not.toContain("Inter-session");
  });

  it("has the words that follow the system prompt, and no tools where it wants none", async () => {
    const { server, inTurn } = await waters();
    await inTurn([run("x", { extraSystemPrompt: "Speak of whales.", disableTools: true }), wait()]);
    const [outer, inner] = server.requests.map(
      ({ body }) => body as { tools?: unknown; messages: unknown[] },
    );
    expect(outer).toHaveProperty("tools");
    expect(inner).not.toHaveProperty("tools");
    expect(JSON.stringify(inner!.messages[0])).toContain("Speak of whales.");
    expect(JSON.stringify(outer!.messages[0])).not.toContain("Speak of whales.");
  });

  it("goes on with a second run, and starts none for a key that began one", async () => {
    const { server, inTurn } = await waters();
    const again = run("and below", { idempotencyKey: "r2" });
    const { answers } = await inTurn([run("one"), wait(), run("one"), again]);
    expect(answers).toMatchObject([
      { runId: "r1" },
      { status: "ok" },
      { runId: "r1" },
      { runId: "r2", sessionKey: KEY },
    ]);
    expect(await diver().waitForRun({ runId: "r2" })).toEqual({ status: "ok" });
    const { messages } = await diver().getSessionMessages({ sessionKey: KEY });
    expect(messages).toHaveLength(4);
    expect(server.requests).toHaveLength(4);
  });

  it("that does not end keeps nobody waiting, and deleting it ends it", async () => {
    const { inTurn, gateway } = await waters();
    const { answers } = await inTurn([
      run("HANG"),
      wait({ timeoutMs: 20 }),
      run("more", { idempotencyKey: "r2" }),
      remove(),
      remove(),
      wait(),
      read(),
    ]);
    expect(answers).toEqual([
      { runId: "r1", sessionKey: KEY },
      { status: "timeout" },
      {
        refused: `A run of plugin "diver" in session "${KEY}" is not over; wait for r1 first.`,
      },
      null,
      null,
      { status: "error", error: "The run was cancelled." },
      {
        refused: `Plugin "diver" reaches only sessions that it started and did not delete, and "${KEY}" is none of them.`,
      },
    ]);
    expect(await gateway.sessions()).toHaveLength(1);
  });

  it("ends with the turn that started it, when that is stopped", async () => {
    const { say, gateway, server } = await waters();
    const turn = say(dive([run("HANG"), wait()]));
    await soon(() => expect(server.requests).toHaveLength(2));
    gateway.cancel("main");
    expect((await turn).outcome).toBe("aborted");
    await soon(async () =>
      expect(await diver().waitForRun({ runId: "r1", timeoutMs: 0 })).toEqual({
        status: "error",
        error: "The run was cancelled.",
      }),
    );
  });

  it("tells who asked for it of its reply, where it is to be delivered", async () => {
    const { inTurn, gateway } = await waters();
    await inTurn([run("dig", { deliver: true })]);
    await soon(async () =>
      expect(JSON.stringify(await gateway.messages("main", 10))).toContain("heard: dig"),
    );
  });

  it("fails with the reason of its turn", async () => {
    const { inTurn } = await waters();
    const { answers } = await inTurn([run("FAIL"), wait()]);
    expect(answers[1]).toMatchObject({ status: "error", error: expect.stringMatching(/./) });
  });
});

describe("a plugin that calls out of scope", () => {
  it("is refused with one sentence, which the turn's report tells", async () => {
    const { inTurn, log } = await waters();
    const { answers, report } = await inTurn([read("main"), remove("agent:main:main")]);
    const reason = `Plugin "diver" reaches only sessions that it started and did not delete, and "agent:main:main" is none of them.`;
    expect(answers).toEqual([{ refused: reason }, { refused: reason }]);
    expect(report.refusals).toEqual([
      { plugin: "diver", asked: "subagent.getSessionMessages", reason },
      { plugin: "diver", asked: "subagent.deleteSession", reason },
    ]);
    expect(log.lines).toContain(
      `warn [plugins] diver: subagent.getSessionMessages was refused: ${reason}`,
    );
  });

  it("reaches no session of another plugin, or of a model", async () => {
    const { inTurn, say, gateway } = await waters({}, { others: ["other"] });
    await inTurn([run("mine"), wait()]);
    await say(`RUN sessions_spawn ${JSON.stringify({ task: "count", wait: true })}`);
    const keys = (await gateway.sessions()).map(({ key }) => key).filter((key) => key !== KEY);
    const models = keys.find((key) => key.includes("subagent"))!;
    const { answers } = await inTurn(
      [read(), remove(), run("in yours", { idempotencyKey: "r9" }), wait(), read(models)],
      "other",
    );
    expect(answers).toEqual([
      ...Array.from({ length: 3 }, () => ({ refused: expect.stringContaining("is none of them") })),
      { refused: 'Plugin "other" has begun no run "r1".' },
      { refused: expect.stringContaining("is none of them") },
    ]);
    const taken = await inTurn([run("x", { sessionKey: models, idempotencyKey: "r8" })]);
    expect(taken.answers).toEqual([{ refused: expect.stringContaining("is none of them") }]);
  });

  it.each([
    [{ sessionKey: "main" }, 'may run only in sessions of its own, whose keys are "agent:<agent>'],
    [{ sessionKey: "agent:main:subagent:../x" }, "with an id of up to 200 letters, digits"],
    [{ sessionKey: `agent:main:subagent:${"x".repeat(201)}` }, "with an id of up to 200 letters"],
    [
      { sessionKey: "agent:main:subagent:x.20260101-080000" },
      "may run only in sessions of its own",
    ],
    [{ sessionKey: "agent:nobody:subagent:x" }, 'There is no agent "nobody"; there is: main.'],
    [{ sessionKey: "" }, "sessionKey: it is blank"],
    [{ message: " " }, "message: it is blank"],
    [{ cwd: "/etc" }, "a session of a plugin works in its agent's workspace"],
    [{ deliver: "yes" }, "deliver: "],
  ])("is refused a run with %o", async (more, reason) => {
    const { inTurn, gateway } = await waters();
    const { answers } = await inTurn([run("x", more)]);
    expect(answers).toEqual([{ refused: expect.stringContaining(reason) }]);
    expect(await gateway.sessions()).toHaveLength(1);
  });

  it("is refused while it registers, also where a gateway runs already", async () => {
    const { gateway } = await waters();
    for (const isAgain of [false, true]) {
      if (isAgain) await gateway.reloadPlugins();
      expect(await toldDuringRegister()).toBe(
        "Plugin subagent dispatch requires a gateway request scope (method: agent). No scope set and no fallback context available.",
      );
    }
  });

  it("may say no more than a person", async () => {
    await waters();
    const message = "x".repeat(2_000_000);
    await expect(diver().run({ sessionKey: KEY, message })).rejects.toThrow(
      "The message has 2 MiB of text",
    );
  });

  it("may use dots in its ids, and a run without an id of its own gets one", async () => {
    const { gateway } = await waters();
    const sessionKey = "agent:main:subagent:rec0.71.json";
    for (const idempotencyKey of ["", " "]) {
      const { runId } = await diver().run({ sessionKey, message: "look", idempotencyKey });
      expect(runId).toMatch(/^[0-9a-f-]{36}$/);
      expect(await diver().waitForRun({ runId })).toEqual({ status: "ok" });
    }
    expect(await gateway.sessions()).toMatchObject([{ key: sessionKey }]);
    await diver().deleteSession({ sessionKey });
    expect(await gateway.sessions()).toEqual([]);
  });

  it("has nothing to deliver to outside a request", async () => {
    await waters();
    await expect(diver().run({ sessionKey: KEY, message: "x", deliver: true })).rejects.toThrow(
      "runs for no session to which the reply could be said",
    );
  });

  it("is refused where sessions start no others", async () => {
    const { inTurn } = await waters({}, { subagents: { enabled: false } });
    expect((await inTurn([run("x")])).answers).toEqual([
      {
        refused: "Sessions start no others here: agents.defaults.subagents.enabled is false.",
      },
    ]);
  });

  it("goes no deeper than sessions may, and no wider", async () => {
    const { inTurn } = await waters(
      {},
      { subagents: { maxSpawnDepth: 1, maxChildrenPerAgent: 1 } },
    );
    const below = dive([run("deeper", { sessionKey: `${KEY}-2`, idempotencyKey: "r2" })]);
    const { answers } = await inTurn([run(below), wait(), read()]);
    expect(JSON.stringify(answers[2])).toContain("Sessions at this depth start no others");
    const wide = await inTurn([
      run("HANG", { idempotencyKey: "w1" }),
      run("x", { sessionKey: `${KEY}-3`, idempotencyKey: "w2" }),
      remove(),
    ]);
    expect(wide.answers[1]).toEqual({ refused: expect.stringContaining("as many as may at once") });
  });
});

describe("the model of a plugin's session", () => {
  it.each([
    [{}, { model: "emulated/emulated" }, "subagent.allowModelOverride is not true"],
    [
      { subagent: { allowModelOverride: true, allowedModels: ["other/one"] } },
      { provider: "emulated", model: "emulated" },
      'model override "emulated/emulated" is not allowlisted for plugin "diver"',
    ],
    [{ subagent: { allowModelOverride: true } }, { provider: "emulated" }, "names no model"],
    [{ subagent: { allowModelOverride: true } }, { model: "nobody/none" }, "nobody"],
  ])("is its agent's where %o and it asks for %o", async (entry, asked, reason) => {
    const { inTurn } = await waters(entry);
    const { answers } = await inTurn([run("x", asked)]);
    expect(answers).toEqual([{ refused: expect.stringContaining(reason) }]);
  });

  it("may be another one where the operator lets it", async () => {
    const { inTurn, server } = await waters({
      subagent: { allowModelOverride: true, allowedModels: ["emulated/emulated"] },
    });
    const { answers } = await inTurn([run("x", { model: "emulated/emulated" }), wait()]);
    expect(answers[1]).toEqual({ status: "ok" });
    expect(server.requests[1]!.body).toMatchObject({ model: "emulated" });
  });
});

describe("plugins that are loaded again", () => {
  it("leave no run behind that nobody waits for", async () => {
    const { gateway, server } = await waters();
    const before = diver();
    await before.run({ sessionKey: KEY, message: "HANG", idempotencyKey: "r1" });
    await soon(() => expect(server.requests).toHaveLength(1));
    await gateway.reloadPlugins();
    const gone = "the plugin that started it was loaded again or stopped";
    expect(await diver().waitForRun({ runId: "r1" })).toEqual({ status: "error", error: gone });
    await expect(before.run({ sessionKey: KEY, message: "x" })).rejects.toThrow(
      'Plugin "diver" was loaded again or stopped, and what it was before begins nothing.',
    );
    await diver().deleteSession({ sessionKey: KEY });
    expect(await gateway.sessions()).toEqual([]);
  });

  it("keep those of a turn that runs, until it is over", async () => {
    const { gateway, say, server } = await waters();
    // Long enough for a machine that stands still meanwhile.
    const turn = say(dive([run("HANG"), wait({ timeoutMs: 2000 })]));
    await soon(() => expect(server.requests).toHaveLength(2));
    await gateway.reloadPlugins();
    expect(await diver().waitForRun({ runId: "r1", timeoutMs: 0 })).toEqual({ status: "timeout" });
    expect((await turn).outcome).toBe("completed");
    expect(await diver().waitForRun({ runId: "r1" })).toMatchObject({ status: "error" });
  });
});

it("messages of a session are to be had over HTTP as people see them", async () => {
  const home = await temporaryHome();
  const { config } = await obedientModel();
  writeDiver(home);
  const { get, say } = await startServedGateway(config, home);
  await say("hello");
  expect(await get("/api/sessions/main/messages?limit=1")).toMatchObject({
    messages: [{ role: "assistant", content: [{ type: "text", text: "heard: hello" }] }],
  });
  expect(await get("/api/sessions/nobody/messages")).toMatchObject({
    error: { code: "SESSION_NOT_FOUND" },
  });
});
