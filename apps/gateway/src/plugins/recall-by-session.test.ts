// Engines that answer a question about the past by a session of its own.
import { textOf } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { readChildren } from "../subagents/child-files.ts";
import { temporaryHome } from "../testing/home.ts";
import { obedientModel, run } from "../testing/obedient-model.ts";
import { collectLog, startPluginGateway } from "../testing/plugins.ts";
import { writeReef } from "../testing/reef.ts";

const SECRET = "The key hangs behind the blue barometer.";

async function reef(entry: Record<string, unknown> = {}) {
  const home = await temporaryHome();
  const { server, config } = await obedientModel();
  const plugins = writeReef(home, entry);
  const started = await startPluginGateway({ ...config, plugins }, home);
  await started.say(SECRET);
  for (const text of ["Wind from the west.", "Tide is low."]) await started.say(text);
  const left = async () => ({
    sessions: (await started.gateway.sessions()).map(({ key }) => key),
    records: await readChildren({ home, log: collectLog() }),
  });
  return { server, left, ...started };
}

/** With the lossless engine, which has a session look where it is asked to be thorough. */
async function lossless(subagents: Record<string, unknown> = {}) {
  const home = await temporaryHome();
  const { server, config } = await obedientModel(subagents);
  const plugins = { slots: { contextEngine: "lossless" } };
  const started = await startPluginGateway({ ...config, plugins }, home);
  await started.say(SECRET);
  const command = async (args: string) =>
    (await started.gateway.command("main", { kind: "command", name: "lossless", args })).text;
  const left = async () => ({
    sessions: (await started.gateway.sessions()).map(({ key }) => key),
    records: await readChildren({ home, log: collectLog() }),
  });
  const question = `Where is the key?\n${run("lcm_expand", { query: "barometer" })}`;
  return { server, command, left, question, ...started };
}

const NOTHING_LEFT = { sessions: ["agent:main:main"], records: [] };

describe("an engine plugin that recalls as lossless-claw does", () => {
  it("answers its tool by a session that it lends the record, and leaves nothing behind", async () => {
    const { say, server, left } = await reef();
    const { reply, report } = await say(run("reef_expand_query", { query: "barometer" }));
    expect(textOf(reply!)).toContain(SECRET);
    expect(report.refusals).toBeUndefined();
    expect(await left()).toEqual(NOTHING_LEFT);
    const child = server.requests.at(-2)!.body as {
      messages: { content: unknown }[];
      tools: { function: { name: string } }[];
    };
    expect(JSON.stringify(child.messages[0])).toContain("You answer from the record.");
    expect(child.tools.map((tool) => tool.function.name)).toContain("reef_expand");
    expect(server.violations).toEqual([]);
  });

  it("answers its command from a queue, outside any request", async () => {
    const { gateway, left } = await reef();
    const { text } = await gateway.command("main", {
      ...{ kind: "command", name: "reef", args: "barometer" },
    });
    expect(text).toContain(SECRET);
    expect(await left()).toEqual(NOTHING_LEFT);
  });

  it.each([
    [true, SECRET],
    [false, "reef_expand"],
  ])(
    "has its session's tools asked for like any others, where somebody can be: %s",
    async (isThere, told) => {
      const { gateway, say, left } = await reef({ tools: { allow: ["reef_expand_query"] } });
      const seen: string[] = [];
      gateway.approvals.attach({
        canAnswer: isThere,
        asked({ id, name, sessionKey }) {
          seen.push(`${name} in ${sessionKey.replace(/[^:]+$/, "…")}`);
          gateway.approvals.answer(id, "once", "http");
        },
        over() {},
      });
      const { reply } = await say(run("reef_expand_query", { query: "barometer" }));
      expect(textOf(reply!)).toContain(told);
      expect(textOf(reply!).includes(SECRET)).toBe(isThere);
      expect(seen).toEqual(isThere ? ["reef_expand in agent:main:subagent:…"] : []);
      expect(await left()).toEqual(NOTHING_LEFT);
    },
  );

  it("does without the model that it may not have, and the report says so", async () => {
    const { say } = await reef({ config: { expansionModel: "emulated/emulated" } });
    const { reply, report } = await say(run("reef_expand_query", { query: "barometer" }));
    expect(textOf(reply!)).toContain(SECRET);
    expect(report.refusals).toEqual([
      {
        plugin: "reef",
        asked: "subagent.run",
        reason:
          "provider/model override is not authorized for this plugin subagent run: plugins.entries.reef.subagent.allowModelOverride is not true.",
      },
    ]);
  });
});

describe("the lossless engine", () => {
  it("answers by a session that looks through the record, and stores nothing of it", async () => {
    const { say, question, command, left, server } = await lossless();
    const asked = { prompt: question, thorough: true };
    const { reply, report } = await say(run("lcm_expand_query", asked));
    expect(textOf(reply!)).toContain(SECRET);
    expect(report.refusals).toBeUndefined();
    const child = server.requests.at(-2)!.body as { tools: { function: { name: string } }[] };
    const tools = child.tools.map((tool) => tool.function.name);
    expect(tools.filter((name) => name.startsWith("lcm_"))).toEqual(["lcm_expand"]);
    expect(await left()).toEqual(NOTHING_LEFT);
    expect(await command("status")).toMatch(/^\d+ messages of 1 conversation,/);
    expect(server.violations).toEqual([]);
  });

  it("answers a person's question the same way, outside any turn", async () => {
    const { question, command, left } = await lossless();
    expect(await command(`ask ${question}`)).toContain(SECRET);
    expect(await command("ask")).toBe("Say what to look for: /lossless ask QUESTION");
    expect(await left()).toEqual(NOTHING_LEFT);
  });

  it("does with one request where sessions start no others, and both say so", async () => {
    const { say, left } = await lossless({ enabled: false });
    const asked = { prompt: "Where is the key, by the barometer?", thorough: true };
    const { reply, report } = await say(run("lcm_expand_query", asked));
    expect(textOf(reply!)).toContain("No session could look through the record (Sessions start");
    expect(report.refusals).toMatchObject([{ plugin: "lossless", asked: "subagent.run" }]);
    expect(await left()).toEqual(NOTHING_LEFT);
  });
});
