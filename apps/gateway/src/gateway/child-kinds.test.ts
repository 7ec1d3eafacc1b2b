import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { textOf } from "@clew/plugin-sdk/transcript";
import type { Emulator } from "@clew/providers/testing";
import { describe, expect, it } from "vitest";
import { clew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";
import { type Note, whilePreparing, writeNotary } from "../testing/notary.ts";
import { obedientModel, run } from "../testing/obedient-model.ts";
import { startPluginGateway } from "../testing/plugins.ts";

async function family(more: Record<string, unknown> = {}) {
  const home = await temporaryHome();
  const { server, config } = await obedientModel();
  const { notes, plugins } = writeNotary(home);
  const started = await startPluginGateway({ ...config, plugins, ...more }, home);
  return { home, server, notes, ...started };
}

const keyIn = (text: string) => /agent:\w+:subagent:[\w-]+/.exec(text)?.[0] ?? "";

/** The last request whose newest message is somebody's, with these words. */
function requestWith({ requests }: Emulator, words: string) {
  const bodies = requests.map(({ body }) => body as { messages: { role: string }[] });
  return bodies.findLast(({ messages }) => {
    const newest = messages.at(-1)!;
    return newest.role === "user" && JSON.stringify(newest).includes(words);
  })!;
}

describe("a fork", () => {
  it("begins with the history of its parent, whose file it only reads", async () => {
    const { say, gateway, server, notes } = await family();
    await say("The key hangs behind the blue barometer.");
    const { file } = (await gateway.store.find("main"))!;
    const before = readFileSync(file, "utf8");
    const { reply } = await say(
      run("sessions_spawn", { task: "where is it?", contextMode: "fork", wait: true }),
    );
    expect(textOf(reply!)).toContain("heard: where is it?");
    const { messages } = requestWith(server, "where is it?");
    expect(JSON.stringify(messages)).toContain("blue barometer");
    // The call that started it has a result of its own in its history.
    expect(JSON.stringify(messages.at(-2))).toContain("This session is the fork");
    expect(readFileSync(file, "utf8").startsWith(before)).toBe(true);
    expect(readFileSync(file, "utf8")).not.toContain("This session is the fork");
    const [{ params }] = notes() as [Note];
    const child = (await gateway.store.find(keyIn(textOf(reply!))))!;
    expect(params).toMatchObject({ contextMode: "fork", childSessionFile: child.file });
    expect(params).toMatchObject({ childSessionId: child.sessionId, parentSessionFile: file });
    expect(server.violations).toEqual([]);
  });

  it("is of its parent's agent", async () => {
    const { say } = await family({});
    const ask = { task: "x", contextMode: "fork", agentId: "second" };
    const { reply } = await say(run("sessions_spawn", ask));
    expect(textOf(reply!)).toContain('There is no agent "second"');
  });
});

describe("a child", () => {
  it("is asked of the model that its parent names, and its agent's answers where that cannot", async () => {
    const { say, gateway } = await family(await twoModels());
    const named = { task: "who are you?", model: "emulated/small", wait: true };
    expect(textOf((await say(run("sessions_spawn", named))).reply!)).toContain("heard: who");
    const children = (await gateway.sessions()).filter(({ key }) => key.includes(":subagent:"));
    const status = await gateway.command(children[0]!.key, {
      kind: "command",
      name: "status",
      args: "",
    });
    expect(status.text).toContain("Model: emulated/small");
  });

  it("may have an engine of its own", async () => {
    const { say, gateway } = await family();
    const ask = { task: "x", engine: "legacy", wait: true };
    const { reply } = await say(run("sessions_spawn", ask));
    const key = keyIn(textOf(reply!));
    expect(await gateway.engine(key)).toMatchObject({ engineId: "legacy" });
    expect(await gateway.engine("main")).toMatchObject({ engineId: "notary" });
  });
});

async function twoModels() {
  const { config } = await obedientModel();
  const { providers } = config.models as { providers: { emulated: { models: object[] } } };
  const [model] = providers.emulated.models;
  const models = [model, { ...model, id: "small" }];
  return { ...config, models: { providers: { emulated: { ...providers.emulated, models } } } };
}

/** What becomes of one, and what its engine is told. */
const FAILURES = {
  nothing: { task: "x", told: ["prepared", "ended completed"] },
  "the engine": { task: "x", told: ["prepared"] },
  "its parent, while the engine prepares": { task: "x", told: ["prepared", "rolled back"] },
  "its model": { task: "FAIL", told: ["prepared", "ended completed"] },
  "its time": { task: "HANG", timeoutSeconds: 1, told: ["prepared", "ended completed"] },
  "nothing, and it is to be deleted": {
    ...{ task: "x", cleanup: "delete" },
    told: ["prepared", "ended deleted"],
  },
} as const;

const MATRIX = (["isolated", "fork"] as const).flatMap((contextMode) =>
  [false, true].flatMap((lightContext) =>
    Object.keys(FAILURES).map((failure) => ({ contextMode, lightContext, failure })),
  ),
);

describe("what an engine is told of a child", () => {
  it.each(MATRIX)(
    "that is $contextMode, light: $lightContext, where $failure ends it",
    async ({ contextMode, lightContext, failure }) => {
      const { told, ...ask } = FAILURES[failure as keyof typeof FAILURES];
      const { say, gateway, notes } = await family();
      if (failure === "the engine") whilePreparing(() => Promise.reject(new Error("no")));
      if (failure.includes("while the engine prepares"))
        whilePreparing(() => gateway.cancel("main"));
      await say("hello");
      await say(run("sessions_spawn", { ...ask, contextMode, lightContext, wait: true }));
      await gateway.close();
      const isAsked = contextMode === "fork" || !lightContext;
      expect(notes().map(inWords)).toEqual(isAsked ? told : []);
    },
  );
});

function inWords({ prepared, rolledBack, reason }: Note): string {
  if (prepared !== undefined) return "prepared";
  return rolledBack === undefined ? `ended ${reason}` : "rolled back";
}

describe("agents of one gateway", () => {
  it("may each have an engine, a window and a compaction of their own", async () => {
    const home = await temporaryHome();
    const { config } = await obedientModel();
    const { plugins } = writeNotary(home);
    const own = { engine: "lossless", contextTokens: 24_000, compaction: { enabled: false } };
    const list = [
      { id: "main", default: true },
      { id: "second", ...own },
    ];
    const agents = { ...config.agents, list };
    const { say, gateway } = await startPluginGateway({ ...config, agents, plugins }, home);
    const first = await say("hello");
    const second = await say("hello", { session: "agent:second:main" });
    expect([first, second].map(({ report }) => report.engine.ran)).toEqual(["notary", "lossless"]);
    const status = async (session: string) =>
      (await gateway.command(session, { kind: "command", name: "status", args: "" })).text;
    expect(await status("main")).toContain("window 100,000 tokens");
    expect(await status("agent:second:main")).toContain("window 24,000 tokens");
    const spawned = await say(run("sessions_spawn", { task: "x", agentId: "second", wait: true }));
    const key = keyIn(textOf(spawned.reply!));
    expect(key).toMatch(/^agent:second:subagent:/);
    expect(await gateway.engine(key)).toMatchObject({ engineId: "lossless" });
  });

  it("are told whose setting names their engine", async () => {
    const home = await temporaryHome();
    const { config } = await obedientModel();
    const { plugins } = writeNotary(home);
    const list = [{ id: "main" }, { id: "second", engine: "legacy" }];
    const agents = { ...config.agents, list };
    const { say, gateway } = await startPluginGateway({ ...config, agents, plugins }, home);
    const ask = async (session: string, name: string) =>
      (await gateway.command(session, { kind: "command", name, args: "" })).text;
    const spawned = await say(run("sessions_spawn", { task: "x", engine: "legacy", wait: true }));
    const ofAgent = 'agents.list (agent "second")';
    const ofParent = "the session that started this one";
    for (const [session, place, engine] of [
      ["main", "plugins.slots.contextEngine", "notary"],
      ["agent:second:main", ofAgent, "legacy"],
      [keyIn(textOf(spawned.reply!)), ofParent, "legacy"],
    ] as const) {
      expect(await ask(session, "engine")).toContain(`\nChosen by: ${place} = ${engine}\n`);
      expect(await ask(session, "status")).toContain(`\nEngine: ${engine}, chosen by ${place}\n`);
    }
    expect(await gateway.engine("agent:second:main")).toMatchObject({ chosenBy: "agent" });
  });

  it("have the default engine where nobody names one", async () => {
    const { gateway } = await startPluginGateway({}, await temporaryHome());
    const ask = async (name: string) =>
      (await gateway.command("main", { kind: "command", name, args: "" })).text;
    expect(await ask("engine")).toContain(
      "\nChosen by: default, plugins.slots.contextEngine is not set\n",
    );
    expect(await ask("status")).toContain("\nEngine: legacy, the default\n");
  });

  it.each([
    ["lossless", "legacy"],
    ["legacy", "lossless"],
    ["notary", "lossless"],
  ])(
    "are offered the tools of an engine where it answers: %s in the slot, %s of an agent",
    async (slot, engine) => {
      const home = await temporaryHome();
      const { config, server } = await obedientModel();
      writeNotary(home);
      const agents = { ...config.agents, list: [{ id: "main" }, { id: "second", engine }] };
      const plugins = { slots: { contextEngine: slot } };
      const { say } = await startPluginGateway({ ...config, agents, plugins }, home);
      const offered = async (session: string) => {
        await say("hello", { session });
        const { tools } = server.requests.at(-1)!.body as {
          tools: { function: { name: string } }[];
        };
        return tools.map((tool) => tool.function.name);
      };
      for (const [session, answers] of [
        ["main", slot],
        ["agent:second:main", engine],
      ] as const) {
        const names = await offered(session);
        const isLossless = answers === "lossless";
        expect(names.includes("lcm_grep"), `lcm_grep in ${session}`).toBe(isLossless);
        expect(names.includes("session_search"), `session_search in ${session}`).toBe(!isLossless);
      }
      const refused = await say(run("lcm_grep", { pattern: "hello" }), {
        session: engine === "legacy" ? "agent:second:main" : "main",
      });
      expect(textOf(refused.reply!)).toMatch(/There is no tool "?lcm_grep/);
    },
  );

  it("are told of by the doctor and the list of plugins, where an engine is theirs alone", async () => {
    const home = await temporaryHome();
    const list = [{ id: "main" }, { id: "second", engine: "lossless" }];
    const text = (plugins: object) => JSON.stringify({ agents: { list }, plugins });
    await writeFile(join(home, "clew.json"), text({}));
    expect((await clew(home, ["plugins", "list"])).output).toMatch(/^lossless +\S+ +on /m);
    const told = async () => (await clew(home, ["doctor"])).output;
    expect(await told()).toMatch(/^ok +engine of agent second: lossless of plugin "lossless"/m);
    await writeFile(join(home, "clew.json"), text({ entries: { lossless: { enabled: false } } }));
    expect(await told()).toContain(
      'engine of agent second: "lossless" is configured, but plugin "lossless" is disabled; "legacy" answers; clew plugins enable brings it back, or "engine": "legacy" for agent "second" in agents.list makes it the choice',
    );
  });

  it("are refused an engine that nobody brings", async () => {
    const home = await temporaryHome();
    const agents = { list: [{ id: "main", engine: "losless" }] };
    await expect(startPluginGateway({ agents }, home)).rejects.toThrow(
      'There is no context engine "losless" (agents.list, agent "main"); known: legacy, lossless. Did you mean "lossless"? Choose one of them there.',
    );
  });
});
