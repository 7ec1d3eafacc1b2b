import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TurnEvent } from "@clew/engine-core";
import { describe, expect, it } from "vitest";
import type { Approval } from "../../approvals/approval.ts";
import { startChild } from "../../testing/child.ts";
import { isAlive } from "../../testing/codex/alive.ts";
import { PROGRAMS } from "../../testing/codex/programs.ts";
import { describeSaid } from "../../testing/codex/stored.ts";
import { codexWorld } from "../../testing/codex/world.ts";
import { clew } from "../../testing/command.ts";
import { scriptedSettings } from "../../testing/mcp.ts";

const SOON = { timeout: 60_000 };

function isRunningKnown(home: string): boolean {
  const folder = join(home, "agents/main/harness/codex-threads");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .some((name) => /"running","turnId":"/.test(readFileSync(join(folder, name), "utf8")));
}

/** Of Codex's own folder. */
function filesSaying(home: string, word: string): string[] {
  const folder = join(home, "agents/main/harness");
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(word));
}

describe.each(PROGRAMS)("a turn in $program", ({ binary }) => {
  it("runs the gateway's tools, stores call and result, and reports both", SOON, async () => {
    const world = await codexWorld({ binary });
    writeFileSync(join(world.home, "agents/main/workspace/tide.txt"), "high at noon");
    world.model.answers.push(
      {
        call: { name: "read_file", args: { path: "tide.txt" }, id: "call_1" },
        text: "Let me look.",
      },
      { text: "High at noon." },
    );
    const { report, reply } = await world.say("when is high tide?");
    expect(reply?.content).toEqual([{ type: "text", text: "High at noon." }]);
    expect(report.toolCalls).toMatchObject([{ name: "read_file", isError: false }]);
    expect(report.modelCalls.map(({ harness }) => harness)).toEqual(["codex", "codex"]);
    const said = describeSaid(world);
    expect(said[0]).toBe("user: when is high tide?");
    expect(said).toContain("assistant: [read_file]");
    expect(said.find((line) => line.startsWith("toolResult"))).toContain("high at noon");
    expect(said.at(-1)).toBe("assistant: High at noon.");
    const [, second] = world.model.asked;
    expect(second?.said.filter((line) => line.startsWith("call read_file"))).toHaveLength(1);
  });

  it("runs tools of MCP servers, whose names Codex keeps for its own", SOON, async () => {
    const servers = { tide: scriptedSettings() };
    const world = await codexWorld({ binary, config: { mcp: { servers } } });
    world.engine({ epoch: "e1" });
    world.model.answers.push({
      call: { name: "mcp_tide__echo", args: { text: "high at noon" }, id: "call_1" },
    });
    const { outcome, report } = await world.say("when is high tide?");
    expect(outcome).toBe("completed");
    expect(report.toolCalls).toMatchObject([{ name: "mcp__tide__echo", isError: false }]);
    world.engine({ epoch: "e2" });
    await world.say("and now?");
    const past = world.said().join("\n");
    expect(past).toContain("call mcp_tide__echo");
    expect(past).toContain("high at noon");
    expect(past).not.toContain("mcp__tide");
  });

  it("leaves nothing of a session that is deleted, and the others go on", SOON, async () => {
    const world = await codexWorld({ binary });
    world.engine({ epoch: "e1" });
    await world.say("the ZEBRA is secret", "gone");
    await world.say("first question");
    await world.gateway.gateway.remove("gone");
    expect(filesSaying(world.home, "ZEBRA")).toEqual([]);
    await world.say("second question");
    expect(world.said().filter((line) => line === "user: first question")).toHaveLength(1);
    await world.gateway.stop();
    expect(filesSaying(world.home, "ZEBRA")).toEqual([]);
  });

  it("is interrupted when it is cancelled, and leaves a thread that goes on", SOON, async () => {
    const world = await codexWorld({ binary });
    world.engine({ epoch: "e1" });
    await world.say("first question");
    world.model.answers.push("never");
    const controller = new AbortController();
    const { gateway } = world.gateway;
    const said = gateway.send({ key: "main", content: "second", signal: controller.signal });
    await world.model.untilAsked(2);
    controller.abort();
    expect((await said).outcome).toBe("aborted");
    expect((await world.say("third question")).outcome).toBe("completed");
    expect(world.threadOf()).toBe(world.threadOf(3));
    const last = world.said().join("\n");
    expect(last).not.toContain("turn_aborted");
    expect(last.split("first question")).toHaveLength(2);
  });

  it("shows what is written while it is written", SOON, async () => {
    const world = await codexWorld({ binary });
    const events: TurnEvent[] = [];
    world.model.answers.push({ text: "The tide comes in." });
    const { gateway } = world.gateway;
    await gateway.send({ key: "main", content: "hi", onEvent: (event) => events.push(event) });
    expect(events.flatMap((event) => (event.type === "text" ? [event.delta] : []))).toEqual([
      "The tide comes in.",
    ]);
  });

  it("says in /status which program runs it, and what it holds", SOON, async () => {
    const world = await codexWorld({ binary });
    world.engine({ epoch: "e1" });
    await world.say("first question");
    const { harness } = await world.gateway.gateway.status("main");
    expect(harness).toMatchObject({ id: "codex", label: "Codex app-server harness", cannot: [] });
    expect(harness?.holds).toBe(`thread ${String(world.threadOf())} (ready)`);
    await world.gateway.gateway.remove("main");
    expect((await world.gateway.gateway.status("main")).harness?.holds).toBeNull();
  });

  it(
    "goes on where it was after kill -9 of the gateway in the middle of a turn",
    SOON,
    async () => {
      const world = await codexWorld({ binary });
      world.engine({ epoch: "e1" });
      world.model.answers.push({ text: "reply one" });
      await world.say("first question");
      await world.gateway.stop();
      const configFile = join(world.home, "killed.json");
      writeFileSync(configFile, JSON.stringify(world.config));
      world.model.answers.push("never");
      const child = startChild(new URL("../../testing/codex/codex-process.ts", import.meta.url), [
        ...[world.home, configFile, "killed question"],
      ]);
      await world.model.untilAsked(2);
      // Until Codex has said which turn it is, a kill costs the thread.
      await until(() => isRunningKnown(world.home));
      child.process.kill("SIGKILL");
      await child.exit;
      const usage = JSON.parse((await clew(world.home, ["usage", "--json"])).output);
      expect(usage.total).toMatchObject({ modelCalls: 1, unended: 1 });
      // Its Codex ends by itself, and holds the thread until then.
      await until(() => !isAlive(world.pid()));
      await world.restart();
      const { report, outcome } = await world.say("third question");
      expect(outcome).toBe("completed");
      expect(report.execution?.projections).toMatchObject([
        { thread: "continued", reason: "without the turn that had no end" },
      ]);
      const said = world.said().filter((line) => !/this turn failed before/.test(line));
      expect(said.slice(2)).toEqual([
        ...["user: first question", "assistant: reply one"],
        ...["user: killed question", "user: third question"],
      ]);
    },
  );
});

describe("a command that Codex would run itself", () => {
  it("asks people in the one queue before Codex runs a command of its own", SOON, async () => {
    const world = await codexWorld({ codex: { sandbox: "workspace-write" } });
    world.faults({ command: "rm -r tides" });
    const asked: Approval[] = [];
    const { gateway } = world.gateway;
    gateway.approvals.attach({
      canAnswer: true,
      asked: (approval) => {
        asked.push(approval);
        gateway.approvals.answer(approval.id, asked.length === 1 ? "no" : "session", "http");
      },
      over: () => {},
    });
    const refused = await world.say("clean up");
    expect(asked).toMatchObject([
      {
        asker: { kind: "harness", id: "codex" },
        ...{ name: "shell", arguments: { command: "rm -r tides", cwd: "/" } },
      },
    ]);
    expect(refused.report.toolCalls).toMatchObject([{ name: "shell", isError: true }]);
    const allowed = await world.say("clean up, please");
    expect(allowed.report.toolCalls).toMatchObject([{ name: "shell", isError: false }]);
    // "session" was the answer: the same command is not asked about again.
    await world.say("and again");
    expect(asked).toHaveLength(2);
  });

  it("refuses such a command where nobody can be asked", SOON, async () => {
    const world = await codexWorld({
      codex: { sandbox: "workspace-write" },
      config: { tools: { approval: { expireMs: 0 } } },
    });
    world.faults({ command: "rm -r tides" });
    const { report, outcome } = await world.say("clean up");
    expect([outcome, report.toolCalls[0]?.isError]).toEqual(["completed", true]);
  });
});

describe.each(PROGRAMS)("a command of its own, in $program", ({ binary }) => {
  const SANDBOX = { sandbox: "danger-full-access" };

  /** A turn in which such a command runs. */
  async function running(seconds: number) {
    const world = await codexWorld({ binary, codex: SANDBOX });
    world.engine({ epoch: "e1" });
    await world.say("first question");
    const place = join(world.home, "agents/main/workspace");
    const cmd = `touch ${place}/began; sleep ${seconds}; touch ${place}/done`;
    const args = { cmd, yield_time_ms: 30_000 };
    world.model.answers.push({ call: { name: "exec_command", args, id: "call_1" } });
    const { gateway } = world.gateway;
    const asked: Approval[] = [];
    const storedWhenAsked: string[][] = [];
    gateway.approvals.attach({
      canAnswer: true,
      asked(approval) {
        asked.push(approval);
        storedWhenAsked.push(describeSaid(world));
        gateway.approvals.answer(approval.id, "once", "http");
      },
      over: () => {},
    });
    const events: TurnEvent[] = [];
    const controller = new AbortController();
    const said = gateway.send({
      ...{ key: "main", content: "run it", signal: controller.signal },
      onEvent: (event) => events.push(event),
    });
    await until(() => existsSync(`${place}/began`));
    return { world, place, said, events, asked, storedWhenAsked, controller };
  }

  it("stands in the transcript before it is asked about, and once", SOON, async () => {
    const { world, said, events, asked, storedWhenAsked, place } = await running(1);
    expect(storedWhenAsked[0]?.at(-1)).toBe("assistant: [shell]");
    expect(asked).toMatchObject([{ name: "shell", callId: "call_1" }]);
    expect(events.filter(({ type }) => type.startsWith("tool_"))).toMatchObject([
      { type: "tool_start", call: { id: "call_1", name: "shell" } },
    ]);
    const { outcome, report } = await said;
    expect([outcome, existsSync(`${place}/done`)]).toEqual(["completed", true]);
    expect(report.toolCalls).toMatchObject([{ name: "shell", isError: false }]);
    // Codex 0.145 tells how a command ended behind what its model said of it.
    const stored = describeSaid(world).slice(3);
    expect(stored.map((line) => line.split(":")[0]).sort()).toEqual([
      ...["assistant", "assistant", "toolResult"],
    ]);
    expect(stored[0]).toBe("assistant: [shell]");
  });

  it("ends with a turn that is stopped, and the next one is told", SOON, async () => {
    const { world, said, controller, place } = await running(4);
    controller.abort();
    expect((await said).outcome).toBe("aborted");
    expect(describeSaid(world).filter((line) => line.startsWith("toolResult"))).toHaveLength(1);
    await world.say("and now?");
    const calls = world.said().filter((line) => /^(call shell|result)/.test(line));
    expect(calls.map((line) => line.slice(0, 6))).toEqual(["call s", "result"]);
    await new Promise((resolve) => setTimeout(resolve, 4500));
    expect(existsSync(`${place}/done`)).toBe(false);
  });

  it("has a call without a result when the gateway is killed, which is told", SOON, async () => {
    const world = await codexWorld({ binary, codex: { ...SANDBOX, approvalPolicy: "never" } });
    const place = join(world.home, "agents/main/workspace");
    const cmd = `touch ${place}/began; sleep 4; touch ${place}/done`;
    world.model.answers.push({ call: { name: "exec_command", args: { cmd }, id: "call_1" } });
    await world.gateway.stop();
    const configFile = join(world.home, "killed.json");
    writeFileSync(configFile, JSON.stringify(world.config));
    const child = startChild(new URL("../../testing/codex/codex-process.ts", import.meta.url), [
      ...[world.home, configFile, "killed question"],
    ]);
    await until(() => existsSync(`${place}/began`));
    await until(() => describeSaid(world).includes("assistant: [shell]"));
    child.process.kill("SIGKILL");
    await child.exit;
    await until(() => !isAlive(world.pid()));
    await world.restart();
    expect((await world.say("and now?")).outcome).toBe("completed");
    const calls = world.said().filter((line) => /^(call shell|result)/.test(line));
    expect(calls.map((line) => line.slice(0, 6))).toEqual(["call s", "result"]);
  });
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20));
}
