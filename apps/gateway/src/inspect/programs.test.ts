import { describe, expect, it } from "vitest";
import { formatBisect, formatFound } from "../cli/inspect/format.ts";
import { PROGRAMS as CLI_PROGRAMS } from "../testing/cli/programs.ts";
import { cliWorld } from "../testing/cli/world.ts";
import { PROGRAMS } from "../testing/codex/programs.ts";
import { codexWorld } from "../testing/codex/world.ts";
import type { PluginGateway } from "../testing/plugins.ts";
import type { CallRow } from "./shapes/calls.ts";
import { SOURCES } from "./sources.ts";

const SOON = { timeout: 60_000 };

async function inspected({ gateway }: PluginGateway) {
  const inspector = await gateway.inspect("main");
  const { calls } = (await inspector.calls({ limit: 100 }))!;
  const newest = calls.at(-1)!;
  return { inspector, calls, newest, call: (await inspector.call(newest.id))! };
}

/** What a command says. */
const command = async ({ gateway }: PluginGateway, name: string) =>
  (await gateway.command("main", { kind: "command", name, args: "" })).text;

const fatesOf = ({ fates: { all, shown, leftOut, unseen } }: CallRow) => ({
  ...{ all, shown, leftOut, unseen },
});

const isWhole = ({ tokens }: CallRow) =>
  SOURCES.reduce((sum, source) => sum + tokens[source], 0) === tokens.total;

describe.each(PROGRAMS)("what is told of calls in a thread of $program", ({ binary }) => {
  it("names the whole view, and what the thread held of it", SOON, async () => {
    const world = await codexWorld({ binary });
    world.engine({ epoch: "e1" });
    await world.say("My cat is called Minka");
    for (const word of ["one", "two"]) await world.say(word);
    world.model.answers.push({ text: "ok", input: 20_000 });
    await world.say("three");
    const asked = world.said().filter((line) => /^(user|assistant): /.test(line));
    expect(asked).toHaveLength(7);
    const { inspector, calls, newest, call } = await inspected(world.gateway);
    expect(calls.map(fatesOf)).toEqual(
      [1, 3, 5, 7].map((all) => ({ all, shown: all, leftOut: 0, unseen: 0 })),
    );
    expect(await inspector.find({ text: "Minka", limit: 10 })).toMatchObject({
      shownIn: [{ from: "1.1", to: "4.1", calls: 4 }],
      ...{ lost: [], unseenIn: [] },
    });
    expect((await inspector.trace("1"))?.ranges).toMatchObject([
      { calls: 4, why: "shown as it is stored" },
    ]);
    const messages = call.items.filter(({ part }) => part === "messages");
    expect(messages.map(({ isHeld }) => isHeld)).toEqual([...Array(6).fill(true), false]);
    expect(messages[0]!.reason).toBe("history, held by the program's thread");
    expect(call.why.join("\n")).toContain("of which its thread held the first 6 messages");
    expect(call.why.join("\n")).toMatch(/In the turn it was handed 1 message as messages/);
    expect(calls.every(isWhole)).toBe(true);
    expect(newest.tokens.total).toBe(20_000);
    expect(newest.tokens.program).toBe(20_000 - newest.estimatedTokens);
    expect(call.rebuilt).toEqual({
      isSame: false,
      why: "The request is Codex app-server harness's own, which Clew never had: it was handed 1 message, besides 6 messages that its thread held, and added instructions and tools of its own.",
    });
    const page = (await world.gateway.gateway.context("main"))!;
    expect(page.fates).toEqual(newest.fates);
    expect(page.tokens.program).toBe(newest.tokens.program);
    expect(page.tokens.total).toBe(20_000);
    expect(page.messages.map(({ reason }) => reason).slice(-2)).toEqual([
      ...["history, held by the program's thread", "prompt"],
    ]);
  });

  it("goes by one window in /status, /context and the report of a turn", SOON, async () => {
    const world = await codexWorld({ binary });
    world.engine({ epoch: "e1" });
    const { report } = await world.say("hello");
    const { promptBudget } = report.budget!;
    const room = promptBudget.toLocaleString("en");
    expect(await command(world.gateway, "status")).toMatch(
      new RegExp(`^Context: about [\\d,]+ of ${room} tokens`, "m"),
    );
    const context = await command(world.gateway, "context");
    expect(context).toContain("The next call is made by Codex app-server harness");
    expect(context).toContain(` tokens of ${room} (window `);
    expect((await inspected(world.gateway)).newest.promptBudget).toBe(promptBudget);
  });

  it("names what its tools said in the calls behind them", SOON, async () => {
    const world = await codexWorld({ binary });
    world.engine({ epoch: "e1" });
    world.model.answers.push({
      call: { name: "read_file", args: { path: "nothing.txt" }, id: "call_1" },
      text: "Let me look.",
    });
    await world.say("what is there?");
    const { calls } = await inspected(world.gateway);
    expect(calls.map(fatesOf)).toMatchObject([
      { all: 1, shown: 1 },
      { all: 4, shown: 4 },
    ]);
  });

  it("says why another thread began", SOON, async () => {
    const world = await codexWorld({ binary });
    world.engine({ epoch: "e1" });
    await world.say("first");
    world.engine({ epoch: "e2" });
    await world.say("second");
    const { newest, call } = await inspected(world.gateway);
    expect(newest.happened).toEqual([
      "another thread of the program: the engine began another epoch",
    ]);
    expect(call.items.filter(({ isHeld }) => isHeld)).toEqual([]);
    expect(fatesOf(newest)).toMatchObject({ all: 3, shown: 3 });
  });

  it("does not claim to know a thread that was made smaller by itself", SOON, async () => {
    const world = await codexWorld({ binary, ownsCompaction: false });
    world.engine({ epoch: "e1" });
    world.model.answers.push({ text: "one", input: 94_000 });
    await world.say("My cat is called Minka");
    world.model.answers.push({ text: "a summary" }, { text: "two" });
    const { report } = await world.say("second");
    expect(report.execution?.nativeCompactions).toBe(1);
    await world.say("third");
    const { inspector, calls, newest } = await inspected(world.gateway);
    const smaller = calls.find(({ happened }) => happened.join().includes("compacted its own"));
    expect([smaller?.turn, smaller?.marks]).toEqual([2, ["compaction"]]);
    expect(fatesOf(newest)).toEqual({ all: 5, shown: 1, leftOut: 0, unseen: 4 });
    const found = await inspector.find({ text: "Minka", limit: 10 });
    expect(found.lost).toEqual([]);
    expect(found.unseenIn).toMatchObject([
      {
        to: newest.id,
        why: "entry 1 is in the thread of Codex app-server harness, which made it smaller by itself; Clew cannot see what is left",
      },
    ]);
    expect((await world.gateway.gateway.context("main"))?.fates).toEqual(newest.fates);
  });
});

describe.each(CLI_PROGRAMS)("what is told of calls of $program", ({ kind, binary }) => {
  it("does not claim to know its own session", SOON, async () => {
    const world = await cliWorld({ kind, binary });
    await world.say("My cat is called Minka");
    for (const word of ["one", "two", "three"]) await world.say(word);
    const { inspector, calls, newest, call } = await inspected(world.gateway);
    expect(calls.map(fatesOf)).toEqual([
      { all: 1, shown: 1, leftOut: 0, unseen: 0 },
      { all: 3, shown: 1, leftOut: 0, unseen: 2 },
      { all: 5, shown: 1, leftOut: 0, unseen: 4 },
      { all: 7, shown: 1, leftOut: 0, unseen: 6 },
    ]);
    const where = `in the own session of CLI backend "${kind}", which Clew cannot see`;
    expect(await inspector.find({ text: "Minka", limit: 10 })).toMatchObject({
      shownIn: [{ from: "1.1", to: "1.1" }],
      unseenIn: [{ from: "2.1", to: "4.1", calls: 3, why: `entry 1 is ${where}` }],
      lost: [],
    });
    const found = await inspector.find({ text: "Minka", limit: 10 });
    expect(formatFound(found)).toContain(
      `could read it in call 1.1.\nNobody here can tell of calls 2.1 to 4.1 (3): entry 1 is ${where}.`,
    );
    expect(formatBisect(found)).toBe(
      `"Minka" was last shown in call 1.1; of calls 2.1 to 4.1 (3) nobody here can tell: entry 1 is ${where}.`,
    );
    expect((await inspector.trace("1"))?.ranges.at(-1)).toMatchObject({ calls: 3, why: where });
    expect(calls.every(isWhole)).toBe(true);
    const { total, program } = newest.tokens;
    expect(program).toBe(Math.max(0, total - newest.estimatedTokens));
    expect(call.why.join("\n")).not.toContain("Engine");
    expect(call.rebuilt?.isSame).toBe(false);
    const page = (await inspector.entries({ fate: "unseen", limit: 10 }))!;
    expect(page.matching).toBe(6);
    const { spent } = (await world.gateway.gateway.status("main")).cost;
    expect(spent).toMatchObject({ modelCalls: 4 });
    const paid = calls.reduce((sum, { cost }) => sum + (cost?.total ?? 0), 0);
    expect(spent.dollars).toBeCloseTo(paid, 9);
    // No prices are known of the other one's model.
    expect(spent.unknown).toBe(kind === "claude-cli" ? 0 : 4);
    const status = await command(world.gateway, "status");
    expect(status).toContain(
      `Context: what CLI backend "${kind}" holds in its own session, which Clew cannot see`,
    );
    const context = await command(world.gateway, "context");
    expect(context).toContain(`CLI backend "${kind}" is handed your message`);
    expect(context).not.toMatch(/ of 0|left out by|8 are left out/);
    expect((await world.gateway.gateway.context("main"))?.fates).toEqual(newest.fates);
  });

  it("knows that a session which began anew was not told what came before", SOON, async () => {
    const world = await cliWorld({ kind, binary });
    await world.say("My cat is called Minka");
    await world.restart({ systemPrompt: "ANOTHER BASE" });
    await world.say("second");
    await world.say("third");
    const { calls, inspector } = await inspected(world.gateway);
    expect(calls.map(fatesOf)).toEqual([
      { all: 1, shown: 1, leftOut: 0, unseen: 0 },
      { all: 3, shown: 1, leftOut: 2, unseen: 0 },
      { all: 5, shown: 1, leftOut: 2, unseen: 2 },
    ]);
    const { lost } = await inspector.find({ text: "Minka", limit: 10 });
    expect(lost).toMatchObject([{ id: "2.1", to: "3.1" }]);
    expect(lost[0]?.why).toContain("left out by the program: it was said before the session");
    expect(calls[1]?.happened).toEqual(["another thread of the program: its instructions changed"]);
  });
});
