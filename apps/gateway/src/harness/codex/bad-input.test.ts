// Everything that can go wrong between the gateway and Codex: typed, told, nothing lost.
import { existsSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { isAlive } from "../../testing/codex/alive.ts";
import { PROGRAMS } from "../../testing/codex/programs.ts";
import { describeSaid } from "../../testing/codex/stored.ts";
import { type CodexWorld, codexWorld } from "../../testing/codex/world.ts";

const SOON = { timeout: 60_000 };

/** A turn that goes well, and what the model was asked in it. */
async function worksAgain(world: CodexWorld, expected: string[]): Promise<void> {
  world.faults({});
  const { outcome } = await world.say("and now?");
  expect(outcome).toBe("completed");
  // The policy says so where two people would speak in a row.
  const said = world.said().filter((line) => !/this turn failed before/.test(line));
  expect(said.slice(2)).toEqual([...expected, "user: and now?"]);
}

async function begun(options: Parameters<typeof codexWorld>[0] = {}): Promise<CodexWorld> {
  const world = await codexWorld(options);
  world.engine({ epoch: "e1" });
  world.model.answers.push({ text: "reply one" });
  await world.say("first question");
  return world;
}

const PAST = ["user: first question", "assistant: reply one"];

describe("a Codex that is not there", () => {
  it("fails the turn with what to do, and keeps the message", SOON, async () => {
    const world = await codexWorld({ codex: { command: "no-such-codex" } });
    const { error, report } = await world.say("hello?");
    expect(report.code).toBe("HARNESS_UNAVAILABLE");
    expect(error?.message).toBe(
      "Codex is not there: nothing is called no-such-codex. Install it (npm install -g @openai/codex) or name it in harness.codex.command.",
    );
    expect(describeSaid(world)).toEqual(["user: hello?", "assistant: "]);
  });

  it("is refused when it is older than its messages", SOON, async () => {
    const world = await codexWorld();
    world.faults({ version: "0.144.9" });
    const { error, report } = await world.say("hello?");
    expect(report.code).toBe("HARNESS_UNAVAILABLE");
    expect(error?.message).toBe(
      `Codex 0.144.9 (${world.home}/codex-command) is not supported: version 0.145.0 or newer is needed. Update it (npm install -g @openai/codex) or name another one in harness.codex.command.`,
    );
    await worksAgain(world, ["user: hello?"]);
  });

  it("cannot ask a model of another wire", SOON, async () => {
    const world = await codexWorld({
      config: { agents: { defaults: { model: "offline/offline", harness: "codex" } } },
    });
    const { error, report } = await world.say("hello?");
    expect(report.code).toBe("CONFIG_INVALID");
    expect(error?.message).toContain('asks its models by the api "openai-responses"');
  });

  it("is not begun for an engine that requires what it cannot do", SOON, async () => {
    const world = await codexWorld({ requires: ["time-travel"] });
    await expect(world.say("hello?")).rejects.toMatchObject({ code: "HOST_CAPABILITY_MISSING" });
    expect([world.starts(), existsSync(`${world.home}/agents/main/harness`)]).toEqual([0, false]);
  });
});

describe("a Codex that ends in the middle", () => {
  it.each([
    "before thread/resume",
    "before turn/start",
    "after turn/start",
    "turn/started",
    "item/completed",
    "item/tool/call",
    "turn/completed",
  ])("%s: leaves a typed failure, and the next turn has everything once", SOON, async (dieAt) => {
    const world = await begun();
    if (dieAt === "before thread/resume") await world.restart();
    if (dieAt === "item/tool/call")
      world.model.answers.push({ call: { name: "list_files", args: {} } });
    world.faults({ dieAt });
    const { outcome, report } = await world.say("second question");
    expect([outcome, report.code]).toEqual(["failed", "HARNESS_FAILED"]);
    world.model.answers.length = 0;
    // What had arrived stands in the transcript, and so does the next request have it.
    const arrived = dieAt === "turn/completed" ? ["assistant: ok"] : [];
    await worksAgain(world, [...PAST, "user: second question", ...arrived]);
    const said = world.said().join("\n");
    expect(said.split("second question")).toHaveLength(2);
  });

  it("is started again after a while, not at once and without end", SOON, async () => {
    const world = await begun();
    world.faults({ dieAt: "before initialize" });
    await world.restart();
    for (let turn = 0; turn < 3; turn++) {
      const { report } = await world.say(`try ${turn}`);
      expect(report.code).toBe("HARNESS_UNAVAILABLE");
    }
    await worksAgain(world, [...PAST, "user: try 0", "user: try 1", "user: try 2"]);
  });
});

describe("a Codex that ends again and again", () => {
  it("is given another thread once it ended while it took the last one up", SOON, async () => {
    const world = await begun();
    await world.restart();
    world.faults({ dieAt: "before thread/resume" });
    expect((await world.say("second question")).outcome).toBe("failed");
    const { outcome, report } = await world.say("third question");
    expect(outcome).toBe("completed");
    expect(report.execution?.projections).toMatchObject([
      { thread: "new", reason: "the last one could not be taken up again" },
    ]);
  });

  it("is not waited for longer and longer where turns work in between", SOON, async () => {
    const world = await begun();
    for (let turn = 0; turn < 6; turn++) {
      process.kill(world.pid(), "SIGKILL");
      await vi.waitFor(() => expect(isAlive(world.pid())).toBe(false));
      let { outcome, report } = await world.say("go on");
      // Its end may not have been heard of yet.
      if (report.code === "HARNESS_FAILED") ({ outcome, report } = await world.say("go on"));
      expect(outcome).toBe("completed");
    }
    expect(world.starts()).toBe(7);
  });

  it("leaves no question behind when it ends while it asks", SOON, async () => {
    const world = await begun({ codex: { sandbox: "danger-full-access" } });
    const { approvals } = world.gateway.gateway;
    approvals.attach({
      canAnswer: true,
      asked: () => void process.kill(world.pid(), "SIGKILL"),
      over: () => {},
    });
    world.faults({ command: "rm -r tides" });
    const { report } = await world.say("clean up");
    expect(report.code).toBe("HARNESS_FAILED");
    expect(approvals.pending()).toEqual([]);
  });
});

describe("a Codex that says odd things", () => {
  it("is told of in the report where its lines are no messages", SOON, async () => {
    const world = await begun();
    world.faults({ garbage: true });
    const { outcome, report } = await world.say("second question");
    expect(outcome).toBe("completed");
    expect(report.execution?.notices).toEqual([
      "Codex wrote a line that cannot be read: this is { no message",
    ]);
    await worksAgain(world, [...PAST, "user: second question", "assistant: ok"]);
  });

  it("may tell of items and news that nobody knows yet", SOON, async () => {
    const world = await begun();
    world.faults({ unknown: true, late: true });
    const { outcome, report } = await world.say("second question");
    expect([outcome, report.execution?.notices]).toEqual(["completed", undefined]);
    await worksAgain(world, [...PAST, "user: second question", "assistant: ok"]);
  });

  it("is ended when a line goes on and on", SOON, async () => {
    const world = await begun();
    world.faults({ endless: true });
    const { error, report } = await world.say("second question");
    expect(report.code).toBe("HARNESS_FAILED");
    expect(error?.message).toMatch(/^Codex sent a line of more than \d+ bytes/);
    await worksAgain(world, [...PAST, "user: second question"]);
  });

  it("is ended when it says nothing any more", SOON, async () => {
    const world = await begun({ codex: { silenceSeconds: 1 } });
    world.faults({ mute: true });
    const { error, report } = await world.say("second question");
    expect([report.code, error?.kind]).toEqual(["HARNESS_FAILED", "timeout"]);
    await worksAgain(world, [...PAST, "user: second question"]);
  });
});

describe("a thread that cannot go on", () => {
  it("is replaced where Codex refuses to revert a failed turn", SOON, async () => {
    const world = await begun();
    world.model.answers.push({ status: 404 });
    await world.say("second question");
    world.faults({ refuse: ["thread/revert"] });
    world.model.answers.length = 0;
    const { outcome, report } = await world.say("third question");
    expect(outcome).toBe("completed");
    expect(report.execution).toMatchObject({
      projections: [{ thread: "new", reason: "Codex refused thread/revert" }],
      notices: ["Codex refused thread/revert: the conversation goes on in another thread."],
    });
    expect(world.said().slice(2)).toEqual([
      ...[...PAST, "user: second question", "user: third question"],
    ]);
  });

  it("is left to another program that writes to it", SOON, async () => {
    const world = await begun();
    await world.restart();
    world.faults({ refuse: ["thread/resume"] });
    const { outcome, report } = await world.say("second question");
    expect(outcome).toBe("completed");
    expect(report.execution?.projections).toMatchObject([
      { thread: "new", reason: "Codex refused thread/resume" },
    ]);
    expect(world.said().slice(2)).toEqual([...PAST, "user: second question"]);
  });

  it("gets the context as quoted text where Codex takes no messages", SOON, async () => {
    const world = await begun();
    world.engine({ epoch: "e2" });
    world.faults({ refuse: ["thread/inject_items"] });
    const { outcome, report } = await world.say("second question");
    expect(outcome).toBe("completed");
    expect(report.execution?.projections).toMatchObject([{ thread: "new", as: "quoted" }]);
    const said = world.said().slice(2);
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(
      /reference data.*\[user\]\nfirst question\n\n\[assistant\]\nreply one/s,
    );
    expect(said[0]!.endsWith("second question")).toBe(true);
  });
});

describe.each(PROGRAMS)("what a provider refuses, $program", ({ binary }) => {
  it.each([
    [401, "auth"],
    [400, "invalid_request"],
    [429, "rate_limited"],
  ])("is told as it is told elsewhere: %i", SOON, async (status, kind) => {
    const world = await codexWorld({ binary });
    world.model.answers.push(...Array.from({ length: 30 }, () => ({ status })));
    const { outcome, error } = await world.say("first question");
    expect([outcome, error?.kind]).toEqual(["failed", kind]);
    expect(error?.message).toMatch(/^Model provider "loop" \(http:.*\) answered \d+: .*; \S/);
    if (status === 401) expect(world.model.asked.length).toBeLessThan(4);
    world.model.answers.length = 0;
    expect((await world.say("second question")).outcome).toBe("completed");
  });
});

describe.each(PROGRAMS)("what goes on within an epoch, $program", ({ binary }) => {
  it("is stale after a compaction in mid-turn, whose call is reported", SOON, async () => {
    const world = await begun({ binary });
    world.model.answers.push(
      { call: { name: "list_files", args: {} }, input: 94_000 },
      { text: "NATIVE" },
      { text: "reply two" },
    );
    const { report } = await world.say("second question");
    expect(report.execution?.nativeCompactions).toBe(1);
    expect(report.modelCalls.map(({ usage }) => usage?.input)).toEqual([94_000, 100, 100]);
    await world.say("third question");
    const said = world.said().slice(2);
    expect(said.join("\n")).not.toContain("NATIVE");
    expect(said.filter((line) => line.startsWith("call list_files"))).toHaveLength(1);
    expect(world.threadOf()).not.toBe(world.threadOf(2));
  });

  it(
    "goes on after such a compaction where the engine leaves compaction to others",
    SOON,
    async () => {
      const world = await begun({ binary, ownsCompaction: false });
      world.engine({ addition: "ADDITION two" });
      world.model.answers.push({ text: "reply two", input: 94_000 }, { text: "NATIVE" });
      await world.say("second question");
      expect(world.said().filter((line) => line.startsWith("developer: "))).toEqual([
        ...["developer: BASE", "developer: ADDITION"],
        "developer: In place of what the context engine told here before:\n\nADDITION two",
      ]);
      await world.say("third question");
      await world.say("fourth question");
      expect(world.threadOf()).toBe(world.threadOf(4));
      // The first addition came back with the compaction, and the second is told again.
      expect(world.said().filter((line) => line.includes("ADDITION two"))).toHaveLength(1);
    },
  );

  it("tells a changed addition once", SOON, async () => {
    const world = await begun({ binary });
    world.engine({ addition: "ADDITION two" });
    await world.say("second question");
    await world.say("third question");
    const said = world.said();
    expect(said.filter((line) => line.includes("ADDITION two"))).toHaveLength(1);
    expect(said.indexOf("user: second question")).toBe(5);
    expect(world.threadOf()).toBe(world.threadOf(3));
    world.engine({ addition: null });
    await world.say("fourth question");
    expect(world.said().at(-2)).toBe(
      "developer: What the context engine told here before no longer holds.",
    );
  });

  it("hands nothing a second time where the end of a change is never told", SOON, async () => {
    const world = await begun({});
    world.faults({ startsAChange: true });
    world.model.answers.push({ text: "reply two" });
    expect((await world.say("second question")).outcome).toBe("completed");
    world.faults({});
    const { report } = await world.say("third question");
    expect(report.execution?.projections).toMatchObject([{ thread: "continued", handed: 1 }]);
    expect(world.said().filter((line) => line === "assistant: reply two")).toHaveLength(1);
  });

  it("begins another thread when a turn was taken back", SOON, async () => {
    const world = await begun({ binary });
    await world.say("second question");
    const undone = await world.gateway.gateway.command("main", {
      ...{ kind: "command", name: "undo", args: "" },
    });
    expect(undone.ok).toBe(true);
    const { report } = await world.say("third question");
    expect(report.execution?.projections).toMatchObject([
      { thread: "new", reason: "a turn was taken back" },
    ]);
    expect(world.said().slice(2)).toEqual([...PAST, "user: third question"]);
  });

  it("hands a thread what somebody else answered meanwhile", SOON, async () => {
    const world = await begun({ binary });
    world.engine({ epoch: null });
    await world.say("second question");
    world.engine({ epoch: "e1" });
    await world.say("third question");
    expect(world.threadOf()).toBe(world.threadOf(3));
    expect(world.said().slice(2)).toEqual([
      ...[...PAST, "user: second question", "assistant: ok", "user: third question"],
    ]);
  });

  it("lets a thread go when the session was compacted by hand", SOON, async () => {
    const world = await begun({ binary });
    await world.gateway.gateway.compact("main", { kind: "compact", focus: undefined });
    await world.say("second question");
    expect(world.threadOf()).not.toBe(world.threadOf(2));
  });
});
