import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { textOf } from "@clew/plugin-sdk/transcript";
import { describe, expect, it, vi } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { whilePreparing, writeNotary } from "../testing/notary.ts";
import { obedientModel, run } from "../testing/obedient-model.ts";
import { startPluginGateway } from "../testing/plugins.ts";

async function family(subagents: Record<string, unknown> = {}, info?: string) {
  const home = await temporaryHome();
  const { server, config } = await obedientModel(subagents);
  const { notes, plugins } = writeNotary(home, info === undefined ? {} : { info });
  const start = () => startPluginGateway({ ...config, plugins }, home);
  return { home, server, start, notes, ...(await start()) };
}

type Family = Awaited<ReturnType<typeof family>>;

/** However busy the machine is. */
const soon = <Result>(check: () => Result) => vi.waitFor(check, { timeout: 120_000 });

const keyIn = (text: string) => /agent:\w+:subagent:[\w-]+/.exec(text)?.[0] ?? "";

async function saidIn({ gateway }: Pick<Family, "gateway">, key = "main"): Promise<AgentMessage[]> {
  const { branch = [] } = (await gateway.session(key)) ?? {};
  return branch.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
}

const textsIn = async (gateway: Pick<Family, "gateway">, key?: string) =>
  (await saidIn(gateway, key)).map((message) => textOf(message));

describe("a session that starts another one", () => {
  it("is given its reply when it waits, and the engine is told of begin and end once", async () => {
    const { say, gateway, notes } = await family();
    const { reply } = await say(run("sessions_spawn", { task: "count to three", wait: true }));
    expect(textOf(reply!)).toContain("heard: count to three");
    const key = keyIn(textOf(reply!));
    expect(notes()).toMatchObject([
      {
        prepared: key,
        params: {
          parentSessionKey: "agent:main:main",
          childSessionKey: key,
          contextMode: "isolated",
          ttlMs: 600_000,
        },
      },
      { ended: key, reason: "completed" },
    ]);
    expect(notes()[0]!.params).not.toHaveProperty("childSessionFile");
    expect(await textsIn({ gateway }, key)).toEqual([
      expect.stringContaining("count to three"),
      "heard: count to three",
    ]);
  });

  it("is told by a message when it does not wait, once", async () => {
    const { say, gateway } = await family();
    const { reply } = await say(run("sessions_spawn", { task: "look around", label: "scout" }));
    const key = keyIn(textOf(reply!));
    await soon(async () => expect(await textsIn({ gateway })).toHaveLength(6));
    const told = (await saidIn({ gateway }))[4]!;
    expect(told).toMatchObject({
      role: "user",
      provenance: { kind: "inter_session", sourceSessionKey: key, sourceTool: "sessions_spawn" },
    });
    expect(textOf(told)).toMatch(/^\[Inter-session message\] .*isUser=false\n/);
    expect(textOf(told)).toContain('The session "scout"');
    expect(textOf(told)).toContain("It has completed. Its last reply:\n\nheard: look around");
    await say("and now?");
    expect(await textsIn({ gateway })).toHaveLength(8);
  });

  it("is told of many that end at once in as few turns as it takes", async () => {
    const { say, gateway } = await family({ maxChildrenPerAgent: 6, maxConcurrent: 6 });
    const lines = [1, 2, 3, 4, 5, 6].map((n) => run("sessions_spawn", { task: `part ${n}` }));
    await say(lines.join("\n"));
    await soon(async () => {
      const told = (await textsIn({ gateway })).filter((text) => text.includes("isUser=false"));
      for (const n of [1, 2, 3, 4, 5, 6])
        expect(told.filter((text) => text.includes(`heard: part ${n}`))).toHaveLength(1);
    });
  });

  it("is refused more than it may have, deep and wide", async () => {
    const { say } = await family({ maxSpawnDepth: 2, maxChildrenPerAgent: 2 });
    const wide = await say(
      Array.from({ length: 3 }, (_, n) => run("sessions_spawn", { task: `HANG\n${n}` })).join("\n"),
    );
    expect(textOf(wide.reply!)).toContain("as many as may at once");
    const deep = await say(
      run("sessions_spawn", {
        wait: true,
        task: run("sessions_spawn", {
          wait: true,
          task: run("sessions_spawn", { wait: true, task: "too deep" }),
        }),
      }),
      { session: "deep" },
    );
    expect(textOf(deep.reply!)).toContain('There is no tool "sessions_spawn"');
  });

  it.each([
    [{ task: " " }, "The task is blank"],
    [{ task: "x", agentId: "nobody" }, 'There is no agent "nobody"; there is: main.'],
    [{ task: "x", timeoutSeconds: 10_000 }, "A child session may run 600 seconds at most"],
    [{ task: "x", engine: "none" }, 'There is no context engine "none"'],
    [{ task: "x", model: "nobody/none" }, "nobody"],
  ])("is refused %j, and nothing has begun", async (ask, reason) => {
    const { say, notes, gateway } = await family();
    const { reply } = await say(run("sessions_spawn", ask));
    expect(textOf(reply!)).toContain(reason);
    expect(notes()).toEqual([]);
    expect(await gateway.sessions()).toHaveLength(1);
  });

  it("that is stopped stops them and theirs, and is told with the next message", async () => {
    const { say, gateway, notes, server } = await family();
    const task = run("sessions_spawn", { task: "HANG", wait: true });
    const turn = say(run("sessions_spawn", { task, wait: true }));
    await soon(() => expect(server.requests).toHaveLength(3));
    expect(gateway.cancel("main")).toBe(true);
    expect((await turn).outcome).toBe("aborted");
    await soon(() => expect(notes()).toHaveLength(4));
    const [outer, inner] = notes();
    // Those below end first.
    expect(notes().slice(2)).toMatchObject([
      { ended: inner!.prepared, reason: "completed" },
      { ended: outer!.prepared, reason: "completed" },
    ]);
    await say("go on");
    const texts = await textsIn({ gateway });
    expect(texts.at(-3)).toContain("It was cancelled. It gave no reply.");
    expect(texts.slice(-2)).toEqual(["go on", "heard: go on"]);
  });

  it("may be stopped while only they run", async () => {
    const { say, gateway, notes } = await family();
    await say(run("sessions_spawn", { task: "HANG" }));
    expect(gateway.cancel("main")).toBe(true);
    await soon(() => expect(gateway.cancel("main")).toBe(false));
    expect(notes()).toHaveLength(2);
  });

  it("outlives one whose time is over", async () => {
    const { say, notes } = await family();
    const { reply } = await say(
      run("sessions_spawn", { task: "HANG", wait: true, timeoutSeconds: 1 }),
    );
    expect(textOf(reply!)).toContain("It was ended, because its time was over.");
    expect(notes().at(-1)).toMatchObject({ reason: "completed" });
  });

  it("is told that one failed", async () => {
    const { say } = await family();
    const { reply } = await say(run("sessions_spawn", { task: "FAIL", wait: true }));
    expect(textOf(reply!)).toContain("It has failed (");
  });

  it("keeps nothing of one that is to be deleted", async () => {
    const { say, gateway, notes, home } = await family();
    const { reply } = await say(
      run("sessions_spawn", { task: "hush", wait: true, cleanup: "delete" }),
    );
    expect(textOf(reply!)).toContain("heard: hush");
    expect(notes().at(-1)).toMatchObject({ reason: "deleted" });
    expect((await gateway.sessions()).map(({ key }) => key)).toEqual(["agent:main:main"]);
    const left = readdirSync(join(home, "agents/main"), { recursive: true, encoding: "utf8" });
    const mainFiles = left.filter((name) => name.endsWith(".jsonl"));
    expect(new Set(mainFiles.map((name) => name.split("/").at(-1)))).toHaveLength(1);
  });

  it("that begins anew has no children: they are released, and it is told of none", async () => {
    const { say, gateway, notes } = await family();
    await say(run("sessions_spawn", { task: "HANG" }));
    await gateway.command("main", { kind: "command", name: "new", args: "" });
    expect(notes().at(-1)).toMatchObject({ reason: "released" });
    await say("hello");
    expect(await textsIn({ gateway })).toEqual(["hello", "heard: hello"]);
  });

  it("has its children released when the gateway stops, and hears of it afterwards", async () => {
    const { say, stop, notes, start } = await family();
    await say(run("sessions_spawn", { task: "HANG" }));
    await stop();
    expect(notes().at(-1)).toMatchObject({ reason: "released" });
    const again = await start();
    await again.say("hello");
    const texts = await textsIn(again);
    expect(texts.at(-3)).toContain("It was cancelled (the program that ran it stopped).");
    expect(texts.slice(-2)).toEqual(["hello", "heard: hello"]);
  });

  it("has no child where the engine cannot prepare, and the sentence says so", async () => {
    const { say, gateway } = await family();
    whilePreparing(() => Promise.reject(new Error("no more children")));
    const { reply } = await say(run("sessions_spawn", { task: "x", wait: true }));
    expect(textOf(reply!)).toMatch(
      /^result: Context engine subagent preparation failed: no more children, at index\.js:\d+$/,
    );
    expect(await gateway.sessions()).toHaveLength(1);
  });

  it("has no fork where its engine needs what the host lacks, and nothing has begun", async () => {
    const requirements = JSON.stringify({
      "subagent-spawn": {
        requiredCapabilities: ["thread-bootstrap-projection"],
        unsupportedMessage: "Use another host.",
      },
    });
    const { say, gateway, notes } = await family({}, `{ hostRequirements: ${requirements} }`);
    const fork = await say(run("sessions_spawn", { task: "x", contextMode: "fork" }));
    expect(textOf(fork.reply!)).toBe(
      'result: Context engine "notary" cannot run operation "subagent-spawn" on Clew embedded runner. Missing host capabilities: thread-bootstrap-projection. Required capabilities: thread-bootstrap-projection. Host capabilities: bootstrap, assemble-before-prompt, after-turn, maintain, compact, runtime-llm-complete. Use another host.',
    );
    expect(notes()).toEqual([]);
    expect(await gateway.sessions()).toHaveLength(1);
    const isolated = await say(run("sessions_spawn", { task: "x", wait: true }));
    expect(textOf(isolated.reply!)).toContain("heard: x");
  });
});
