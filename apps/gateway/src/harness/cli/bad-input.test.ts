// Tries what can go wrong with a program that is started once per turn.
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CLI_KINDS } from "../../config/harness.ts";
import { type CliWorld, cliWorld } from "../../testing/cli/world.ts";
import { describeSaid } from "../../testing/codex/stored.ts";

const SOON = { timeout: 60_000 };
const CALL = { call: { name: "Bash", args: { command: "ls" } } };

async function worksAgain(world: CliWorld): Promise<void> {
  world.faults({});
  world.answers.length = 0;
  expect((await world.say("and now?")).outcome).toBe("completed");
  expect(describeSaid(world).slice(-2)).toEqual(["user: and now?", "assistant: ok"]);
}

describe.each(CLI_KINDS)("%s", (kind) => {
  const name = kind === "codex-cli" ? "Codex" : "Claude Code";

  it("says what to do where it is not there, or too old", SOON, async () => {
    const none = await cliWorld({ kind, backend: { command: "no-such-program" } });
    const { error, report } = await none.say("hello?");
    expect(report.code).toBe("HARNESS_UNAVAILABLE");
    expect(error?.message).toMatch(
      new RegExp(`^${name} is not there: nothing is called no-such-program. Install it \\(npm `),
    );
    expect(describeSaid(none)[0]).toBe("user: hello?");
    const old = await cliWorld({ kind });
    old.faults({ version: "0.1.9" });
    expect((await old.say("hello?")).error?.message).toMatch(
      / 0\.1\.9 \(.*command\) is not supported: version .* Update it \(/,
    );
    await worksAgain(old);
  });

  it("is not started for an engine that requires what it cannot do", SOON, async () => {
    const world = await cliWorld({ kind, requires: ["assemble-before-prompt"] });
    await expect(world.say("hello?")).rejects.toMatchObject({
      code: "HOST_CAPABILITY_MISSING",
      message: expect.stringContaining(`on CLI backend "${kind}"`),
    });
    expect([world.starts(), existsSync(`${world.home}/agents/main/harness`)]).toEqual([[], false]);
  });

  it.each(["start", "started", "called", "said"] as const)(
    "that ends at %s with exit code 0 has failed, and what it told is kept",
    SOON,
    async (dieAt) => {
      const world = await cliWorld({ kind });
      world.faults({ dieAt, exitCode: 0 });
      world.answers.push(CALL, { text: "reply" });
      const { outcome, report, error } = await world.say("first question");
      expect([outcome, report.code]).toEqual(["failed", "HARNESS_FAILED"]);
      expect(error?.message).toBe(`${name} ended without a result (exit code 0).`);
      const said = describeSaid(world).join("\n");
      if (dieAt === "called") expect(said).toContain("ended before it told what came of this call");
      if (dieAt === "said") expect(said).toContain("assistant: reply");
      await worksAgain(world);
    },
  );

  it("that told its end is done, whatever its exit code says", SOON, async () => {
    const world = await cliWorld({ kind });
    world.faults({ exitCode: 3 });
    expect((await world.say("first question")).outcome).toBe("completed");
  });

  it("is ended with all that it began where it falls silent", SOON, async () => {
    const world = await cliWorld({ kind, backend: { silenceSeconds: 3 } });
    world.faults({ hangAt: "started" });
    const { error, report } = await world.say("first question");
    expect(report.code).toBe("HARNESS_FAILED");
    expect(error).toMatchObject({
      kind: "timeout",
      message: `${name} said nothing for 3 s in the middle, so it was stopped.`,
    });
    await worksAgain(world);
  });

  it("is ended where it says nothing at all, or does not come to an end", SOON, async () => {
    const mute = await cliWorld({ kind, backend: { startSeconds: 1 } });
    mute.faults({ hangAt: "start" });
    expect((await mute.say("first question")).error?.message).toBe(
      `${name} said nothing within 1 s of its start, so it was stopped.`,
    );
    const world = await cliWorld({ kind, backend: { turnSeconds: 8 } });
    world.faults({ hangAt: "said" });
    world.answers.push({ text: "half" });
    const { error, report } = await world.say("second question");
    expect(error?.message).toBe(`${name} was not done after 8 s, so it was stopped.`);
    // What Claude Code told of its calls counts without an end; Codex tells nothing before it.
    expect(report.modelCalls).toHaveLength(kind === "claude-cli" ? 1 : 0);
    expect(describeSaid(world).join("\n")).toContain("assistant: half");
    await worksAgain(world);
  });

  it("says odd things, which are told, and stored once", SOON, async () => {
    const world = await cliWorld({ kind });
    world.faults({ garbage: true, unknown: true, twice: true, parted: true, ends: 1 });
    world.answers.push({ text: "größer 🌊" });
    const { outcome, report } = await world.say("first question");
    expect(outcome).toBe("completed");
    expect(describeSaid(world)).toEqual(["user: first question", "assistant: größer 🌊"]);
    const notices = report.execution?.notices?.join("\n");
    expect(notices).toContain(`${name} wrote 2 lines that cannot be read: this is { no message`);
    expect(notices).toContain(`${name} said a line again; each stands once.`);
    expect(notices).toContain("told 4 ends; the last one counts.");
    await worksAgain(world);
  });

  it("is ended where a line or the whole is too large", SOON, async () => {
    const world = await cliWorld({ kind, backend: { maxOutputMegabytes: 24 } });
    world.faults({ endless: true });
    expect((await world.say("first question")).error?.message).toMatch(
      /sent a line of more than \d+ bytes, so it was stopped\.$/,
    );
    world.faults({ flood: true });
    expect((await world.say("second question")).error?.message).toBe(
      `${name} wrote more than 24 MiB, so it was stopped.`,
    );
    await worksAgain(world);
  });

  it("that does not go after its end is made to", SOON, async () => {
    const world = await cliWorld({ kind });
    world.faults({ stays: true });
    expect((await world.say("first question")).outcome).toBe("completed");
    await worksAgain(world);
  });

  it("that forgot its session begins another one in the same turn, and says so", SOON, async () => {
    const world = await cliWorld({ kind });
    await world.say("first question");
    world.faults({ forgets: true });
    // What stands in forgets only what it is asked to resume.
    const { outcome, report } = await world.say("second question");
    expect(outcome).toBe("completed");
    expect(world.said()).toEqual(["user: second question"]);
    expect(report.execution?.notices?.join("\n")).toContain("it does not know the one there was");
  });

  it("sees little of the environment, and a home of its own", SOON, async () => {
    const world = await cliWorld({ kind });
    await world.say("first question");
    const names = world.starts()[0]?.env ?? [];
    expect(names).toContain(kind === "codex-cli" ? "CODEX_HOME" : "HOME");
    expect(names.filter((each) => /^(CLEW_HOME|VITEST|npm_|NODE_)/.test(each))).toEqual([]);
  });
});

describe("claude-cli", () => {
  it("has its own compaction in the report, with sizes", SOON, async () => {
    const world = await cliWorld({ kind: "claude-cli" });
    world.faults({ compacts: true });
    const { report } = await world.say("first question");
    expect(report.execution?.nativeCompactions).toBe(1);
    expect(report.execution?.notices?.join("\n")).toContain(
      "Claude Code compacted its own session (auto): 900 tokens became 90.",
    );
  });

  it("begins anew once its session is too large", SOON, async () => {
    const world = await cliWorld({ kind: "claude-cli" });
    await world.say("first question");
    world.answers.push(...Array.from({ length: 4 }, () => ({ status: 413 })));
    const { error } = await world.say("second question");
    expect(error?.kind).toBe("overflow");
    await worksAgain(world);
    expect(world.said()).toEqual(["user: and now?"]);
  });
});
