// What becomes of sessions whose children misbehave, and what the reports of their turns say.
import { textOf } from "@clew/plugin-sdk/transcript";
import { describe, expect, it, vi } from "vitest";
import { type Child, childKey } from "../subagents/child.ts";
import { createChildFiles, readChildren } from "../subagents/child-files.ts";
import { temporaryHome } from "../testing/home.ts";
import { writeNotary } from "../testing/notary.ts";
import { obedientModel, run } from "../testing/obedient-model.ts";
import { collectLog, startPluginGateway } from "../testing/plugins.ts";

async function family(subagents: Record<string, unknown> = {}, defaults: object = {}) {
  const home = await temporaryHome();
  const { server, config } = await obedientModel(subagents);
  const { notes, plugins } = writeNotary(home);
  const agents = { defaults: { ...config.agents.defaults, ...defaults } };
  const start = () => startPluginGateway({ ...config, agents, plugins }, home);
  return { home, server, start, notes };
}

/** However busy the machine is. */
const soon = <Result>(check: () => Result) => vi.waitFor(check, { timeout: 120_000 });

const keyIn = (text: string) => /agent:\w+:subagent:[\w-]+/.exec(text)?.[0] ?? "";

const waiting = (ask: object) => run("sessions_spawn", { ...ask, wait: true });

describe("a child", () => {
  it.each([
    ["never ends", { task: "HANG", timeoutSeconds: 1 }, "It was ended, because its time was over"],
    ["dies", { task: "FAIL" }, "It has failed ("],
    ["is refused", { task: "x", agentId: "nobody" }, 'There is no agent "nobody"'],
  ])("that %s is an error in its parent's report, which says why", async (_how, ask, why) => {
    const { start } = await family();
    const { say } = await start();
    const { report } = await say(waiting(ask));
    const note = expect.stringContaining(why);
    expect(report.toolCalls).toMatchObject([{ name: "sessions_spawn", isError: true, note }]);
  });

  it("that ends well is none", async () => {
    const { start } = await family();
    const { say } = await start();
    const { report } = await say(waiting({ task: "x" }));
    expect(report.toolCalls).toMatchObject([{ isError: false }]);
    expect(report.toolCalls[0]).not.toHaveProperty("note");
  });

  it("that is ended knows in its own report who ended it", async () => {
    const { start, server } = await family();
    const { say, gateway } = await start();
    const late = await say(waiting({ task: "HANG", timeoutSeconds: 1 }));
    const { turn } = (await gateway.context(keyIn(textOf(late.reply!))))!;
    expect(turn.reason).toBe(
      "The time of this session was over (1 second); what had arrived is kept.",
    );

    const asked = server.requests.length;
    const cancelled = say(waiting({ task: waiting({ task: "HANG" }) }), { session: "deep" });
    const running = async () => (await gateway.sessions()).filter(({ busy }) => busy);
    await soon(async () => expect(await running()).toHaveLength(3));
    await soon(async () => expect(server.requests).toHaveLength(asked + 3));
    const keys = (await running()).flatMap(({ key, child }) => (child === null ? [] : [key]));
    gateway.cancel("deep");
    await cancelled;
    await soon(async () => expect(await running()).toEqual([]));
    for (const key of keys)
      expect((await gateway.context(key))!.turn.reason).toBe(
        "Whoever started this session ended it, or a person did; what had arrived is kept.",
      );
  });

  it("that floods its parent is cut, and the rest stays where it can be read", async () => {
    const { start, server } = await family();
    const { say } = await start();
    await say(waiting({ task: "flood ".repeat(20_000) }));
    const result = JSON.stringify((server.requests.at(-1)!.body!.messages as object[]).at(-1));
    expect(result.length).toBeLessThan(20_000);
    expect(result).toMatch(/\d+ more characters: sessions_history with sessionKey/);
  });

  it("is not flooded either: what waits for it is bounded, and so are words nobody asked for", async () => {
    const { start } = await family();
    const { say, gateway } = await start();
    const first = await say(run("sessions_spawn", { task: "HANG" }));
    const key = keyIn(textOf(first.reply!));
    const message = { sessionKey: key, message: "and?", timeoutSeconds: 0 };
    const { report } = await say(
      Array.from({ length: 12 }, () => run("sessions_send", message)).join("\n"),
    );
    const refused = report.toolCalls.filter(({ isError }) => isError);
    expect(refused.length).toBeGreaterThanOrEqual(4);
    for (const { note } of refused) expect(note).toMatch(/^\d+ messages wait in session agent:/);
    gateway.cancel("main");
  });

  it("that asks for more than there may be is told which setting says so", async () => {
    const { start } = await family({ maxChildrenPerAgent: 1, maxConcurrent: 2 });
    const { say, gateway } = await start();
    const two = [1, 2].map((n) => run("sessions_spawn", { task: `HANG\n${n}` })).join("\n");
    const wide = await say(two);
    const full = expect.stringContaining("agents.defaults.subagents.maxChildrenPerAgent");
    expect(wide.report.toolCalls).toMatchObject([{ isError: false }, { note: full }]);
    await say(run("sessions_spawn", { task: "HANG" }), { session: "second" });
    const third = await say(run("sessions_spawn", { task: "HANG" }), { session: "third" });
    const all = expect.stringContaining("agents.defaults.subagents.maxConcurrent");
    expect(third.report.toolCalls).toMatchObject([{ note: all }]);
    for (const session of ["main", "second"]) gateway.cancel(session);
  });

  it("has its share of its parent's model calls, and whoever goes on with it afterwards has all", async () => {
    const { start } = await family({ maxChildrenPerAgent: 5 }, { maxModelCalls: 9 });
    const { say } = await start();
    const task = run("sessions_list", {});
    const { report } = await say(waiting({ task }));
    const note = expect.stringContaining("asked for tools 1 times without answering");
    expect(report.toolCalls).toMatchObject([{ isError: true, note }]);
    const key = keyIn(report.toolCalls[0]!.note!);
    const later = await say(task, { session: key });
    expect([later.outcome, later.report.modelCalls.length]).toEqual(["completed", 2]);
  });
});

describe("a record of a child", () => {
  const lost = (home: string, more: Partial<Child> = {}): Child => ({
    ...{ v: 1, key: childKey("main", "0a"), agentId: "main", label: null, task: "x" },
    parent: { key: "agent:main:gone", agentId: "main", sessionId: home },
    ...{ contextMode: "isolated", lightContext: false, model: null, engine: null, depth: 1 },
    ...{ cleanup: "keep", boundMs: 1000, maxModelCalls: 1, startedAt: 1, state: "running" },
    ...{ preparedBy: "notary", end: null, reply: null, isAnnounced: false, plugin: null },
    ...more,
  });
  const recordsIn = (home: string) => readChildren({ home, log: collectLog() });

  it("whose parent is gone is ended, its engine told once, and nobody is made to hear of it", async () => {
    const { home, start, notes } = await family();
    await createChildFiles({ home, log: collectLog() }).write(lost(home));
    for (const _start of [1, 2]) {
      const { gateway, stop } = await start();
      await soon(async () => expect((await recordsIn(home))[0]!.state).toBe("ended"));
      expect(await gateway.sessions()).toEqual([]);
      await stop();
    }
    expect(notes()).toMatchObject([{ ended: childKey("main", "0a"), reason: "swept" }]);
  });

  it("that was prepared by an engine which is not there any more is ended all the same", async () => {
    const { home, start, notes } = await family();
    const files = createChildFiles({ home, log: collectLog() });
    await files.write(lost(home, { preparedBy: "uninstalled" }));
    const { log } = await start();
    await soon(async () => expect((await recordsIn(home))[0]!.state).toBe("ended"));
    expect(notes()).toEqual([]);
    expect(log.lines.join("\n")).toContain("uninstalled");
  });
});
