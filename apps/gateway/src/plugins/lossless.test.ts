// The engine that comes with Clew, as a person meets it.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createOpenAIEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { statusLineOf } from "../cli/chat/status-line.ts";
import { clew as runIn } from "../testing/command.ts";
import { emulatedModel } from "../testing/gateway.ts";
import { homeWithOwnPort, temporaryHome } from "../testing/home.ts";
import { startPluginGateway, startServedGateway } from "../testing/plugins.ts";
import { number } from "../text/number.ts";
import { bundledPlugins } from "./find/bundled.ts";

interface ItemSeen {
  role?: string;
  reason: string;
  engineReason?: string;
}

describe("a gateway whose slot names the lossless engine", () => {
  it("needs no install, keeps all that is said, finds it after a restart, and says why each item is shown", async () => {
    const secret = "The lighthouse key hangs behind the blue barometer.";
    const wanted = { id: "c1", name: "lcm_grep", arguments: { pattern: "barometer" } };
    const server = await createOpenAIEmulator({
      answers: ({ body }) => {
        const { messages } = body as { messages: { role: string; content: unknown }[] };
        const newest = messages.at(-1)!;
        if (newest.role === "tool") return { text: `It says: ${JSON.stringify(newest.content)}` };
        const isAsked = JSON.stringify(newest).includes("Where is the key?");
        return isAsked ? { toolCalls: [wanted] } : { text: "noted" };
      },
    });
    onTestFinished(() => server.close());
    const home = await temporaryHome();
    const config = {
      ...emulatedModel(server.baseUrl, { contextWindow: 24_000 }),
      plugins: { slots: { contextEngine: "lossless" } },
    };

    const first = await startPluginGateway(config, home);
    const command = async (name: string, args = "") =>
      (await first.gateway.command("main", { kind: "command", name, args })).text;
    await first.say(secret);
    for (let turn = 0; turn < 40; turn++)
      await first.say(`Log entry ${turn}. ${`Wind ${turn} from the west, tide low. `.repeat(120)}`);
    expect(readdirSync(join(home, "agents/main/clew-lossless"))).toContain("lossless.db");
    const told = await command("lossless", "status");
    expect(told).toMatch(/^82 messages of 1 conversation, \d+\.\d MB in .*lossless\.db/);
    expect(told).toContain("This session: 82 messages of 1 conversation.");
    expect(await command("lcm", "doctor")).toMatch(/^82 messages looked at, all can be read/);
    expect(await command("engine")).toMatch(/^Store: 82 messages/m);
    await first.stop();

    const second = await startServedGateway(config, home);
    const answer = (await second.say("Where is the key?")).text;
    expect(answer).toContain("blue barometer");
    const { tools, messages } = server.requests.at(-1)!.body as {
      tools: { function: { name: string } }[];
      messages: { content: unknown }[];
    };
    const names = tools.map((tool) => tool.function.name);
    expect(names).toEqual(expect.arrayContaining(["lcm_grep", "lcm_describe", "lcm_expand_query"]));
    expect(names.filter((name) => name.startsWith("session_"))).toEqual([]);
    expect(messages.slice(1, -3).filter(({ content }) => content === secret)).toEqual([]);

    const { messages: items } = await second.get<{ messages: ItemSeen[] }>(
      "/api/sessions/main/context",
    );
    expect(items[0]).toMatchObject({ role: "compactionSummary", reason: "made by the engine" });
    expect(items[0]!.engineReason).toMatch(/^stands for \d+ earlier messages, all of them kept$/);
    expect(items[1]).toMatchObject({
      reason: "history",
      engineReason: "came after what the record stands for",
    });
    expect((await second.say("/context")).text).toMatch(
      /^Engine "lossless": 1 item, .* tokens: stands for \d+ earlier messages, all of them kept\.$/m,
    );
    expect(server.violations).toEqual([]);
  });
});

it("is asked to compact by /compact, after which all tell one size, and nobody tells the host's story of it", async () => {
  const server = await createOpenAIEmulator({ answers: () => ({ text: "noted" }) });
  onTestFinished(() => server.close());
  const config = {
    ...emulatedModel(server.baseUrl, { contextWindow: 24_000 }),
    plugins: { slots: { contextEngine: "lossless" } },
  };
  const { gateway, say } = await startServedGateway(config, await temporaryHome());
  for (let turn = 0; turn < 40; turn++)
    await say(`Log entry ${turn}. ${`Wind ${turn} from the west, tide low. `.repeat(120)}`);

  const status = (await say("/status")).text;
  const [, said = "", percent = ""] = /Context: about ([\d,]+) of [\d,]+ tokens \((\d+) %\)/.exec(
    status,
  )!;
  expect(Number(percent)).toBeLessThan(100);
  const counted = Number(/the provider counted ([\d,]+)/.exec(status)![1]!.replaceAll(",", ""));
  // The last request and its short reply.
  expect(Number(said.replaceAll(",", "")) - counted).toBeLessThan(100);
  expect(status).toContain("it knows when the next is due");

  const asked = server.requests.length;
  expect(await gateway.compact("main", { kind: "preview", focus: undefined })).toMatchObject({
    ok: true,
    text: expect.stringMatching(/^Engine "lossless" compacts for itself: /),
    data: { kind: "engine", engine: "lossless" },
  });
  expect((await say("/compact")).text).toMatch(
    /^Engine "lossless" compacted: [\d,]+ → [\d,]+ tokens.*; the history stays as it is\.$/,
  );
  // What the last request took says nothing of the next one any more.
  const facts = await gateway.status("main");
  const { data } = await gateway.command("main", { kind: "command", name: "context", args: "" });
  expect(facts.context.tokens).toBe((data as { tokens: number }).tokens);
  expect((await say("/status")).text).toContain(
    `Context: about ${number(facts.context.tokens)} of`,
  );
  expect(statusLineOf(facts, null).context!.tokens).toBe(facts.context.messages);
  expect(facts.context.tokens).toBeLessThan(Number(said.replaceAll(",", "")));
  expect((await say("/compact undo")).text).toBe(
    'Nothing was undone: there is no compaction to undo; what engine "lossless" compacts cannot be undone: the session keeps all that was said, and the model goes on being shown what the engine chooses of it ("/context" says what).',
  );
  expect(server.requests.length).toBe(asked);
});

describe("what is said to one agent", () => {
  it.each([
    ["its own database", {}, false],
    ["a database that both name", { databasePath: "shared.db" }, true],
  ])(
    "is found by it from other sessions where asked for, and by another agent only in %s",
    async (_, given, isShared) => {
      const home = await temporaryHome();
      const config = "databasePath" in given ? { databasePath: join(home, "shared.db") } : {};
      const started = await startPluginGateway(
        {
          agents: { list: [{ id: "main", default: true }, { id: "second" }] },
          plugins: { slots: { contextEngine: "lossless" }, entries: { lossless: { config } } },
        },
        home,
      );
      const grep = async (session: string, more: object = {}) => {
        const args = JSON.stringify({ pattern: "barometer", ...more });
        await started.say(`call lcm_grep ${args}`, { session });
        const { branch } = (await started.gateway.session(session))!;
        const result = branch.findLast(
          (entry) => entry.type === "message" && entry.message.role === "toolResult",
        );
        return JSON.stringify(result).includes("behind the blue one");
      };
      await started.say("The key hangs behind the blue one, the barometer.", { session: "a" });
      expect(await grep("a")).toBe(true);
      expect(await grep("b")).toBe(false);
      expect(await grep("b", { allConversations: true })).toBe(true);
      expect(await grep("agent:second:main")).toBe(false);
      expect(await grep("agent:second:main", { allConversations: true })).toBe(isShared);
    },
  );
});

describe("a session that the engine does not answer in", () => {
  it.each([
    ["because it is ignored", "lossless", { ignoreSessionPatterns: ["agent:main:quiet"] }],
    ["because the slot names another engine", "legacy", {}],
  ])("%s keeps the host's own search", async (_, contextEngine, config) => {
    const entries = { lossless: { enabled: true, config } };
    const { say, gateway } = await startPluginGateway(
      { plugins: { slots: { contextEngine }, entries } },
      await temporaryHome(),
    );
    const results = async (args: string) => {
      await say(args, { session: "quiet" });
      const { branch } = (await gateway.session("quiet"))!;
      return JSON.stringify(
        branch.findLast((entry) => entry.type === "message" && entry.message.role === "toolResult"),
      );
    };
    await say("The key hangs behind the barometer.", { session: "quiet" });
    expect(await results('call session_search {"query":"barometer"}')).toContain("key hangs");
    const asked = await results('call lcm_grep {"pattern":"barometer"}');
    expect(asked).not.toContain('"toolName":"lcm_grep"');
  });
});

describe("what comes with Clew", () => {
  it("is listed, switched on by one word, checked by the kit, and never removed", async () => {
    const home = await homeWithOwnPort();
    const clew = (...args: string[]) => runIn(home, args);
    expect((await clew("plugins", "list")).output).toMatch(/^lossless +\S+ +off +bundled: /m);
    expect((await clew("plugins", "enable", "lossless")).output).toContain(
      'plugins.slots.contextEngine: unset -> "lossless"',
    );
    expect((await clew("plugins", "list")).output).toMatch(/^lossless +\S+ +on +bundled: /m);
    const checked = await clew("engine", "check", "--case", "contract", "--case", "compact");
    expect(checked.output).toMatch(/^Lossless \(lossless\): .*, 0 failed/m);
    expect((await clew("doctor")).output).toMatch(
      /ok +engine store: nothing is kept yet: there is no database .*lossless\.db/,
    );
    expect(await clew("plugins", "uninstall", "lossless")).toMatchObject({ code: 1 });
    expect((await clew("plugins", "disable", "lossless")).code).toBe(0);
    expect((await clew("chat", "/engine")).output).toContain("Engine: legacy");
  });

  it("is no part of a home that does not ask for it", async () => {
    const { gateway, plugins } = await startServedGateway({}, await temporaryHome());
    expect(plugins.records()).toEqual([]);
    expect(gateway.host.engineIds()).toEqual(["legacy"]);
  });

  it("gives way to a plugin of the same name that a person linked", async () => {
    const home = await temporaryHome();
    const folder = join(home, "own");
    mkdirSync(folder);
    for (const [name, text] of Object.entries({
      "openclaw.plugin.json": '{ "id": "lossless", "configSchema": { "type": "object" } }',
      "index.js": 'export default { id: "lossless", register() {} };',
      "package.json": '{ "type": "module" }',
    }))
      writeFileSync(join(folder, name), text);
    const plugins = { load: { paths: [folder] } };
    const started = await startServedGateway({ plugins }, home);
    expect(started.plugins.records().map(({ folder: where }) => where)).toEqual([folder]);
    expect(bundledPlugins()).not.toContain(folder);
  });
});
