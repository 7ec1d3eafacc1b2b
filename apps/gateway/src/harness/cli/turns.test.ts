// One list of scenarios for every program that is started once per turn.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { Approval } from "../../approvals/approval.ts";
import { PROGRAMS } from "../../testing/cli/programs.ts";
import { cliWorld } from "../../testing/cli/world.ts";
import { describeSaid } from "../../testing/codex/stored.ts";

/** How the newest request has the model think. */
function thinkingIn(body: Record<string, unknown>): unknown {
  const { effort } = (body.reasoning ?? {}) as { effort?: string };
  const { type, budget_tokens: budget } = (body.thinking ?? {}) as Record<string, unknown>;
  if (effort === "none" || type === "disabled") return "off";
  return effort ?? (budget === 16_384 ? "high" : budget);
}

const SOON = { timeout: 120_000 };
/** A picture of one pixel. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe.each(PROGRAMS)("$program", ({ kind, binary }) => {
  const world = (more: Partial<Parameters<typeof cliWorld>[0]> = {}) =>
    cliWorld({ kind, binary, ...more });

  it("answers, and its session goes on in the next turn and the next gateway", SOON, async () => {
    const own = await world();
    own.answers.push({ text: "reply one" });
    const first = await own.say("first question");
    expect(first.outcome).toBe("completed");
    expect(first.report.execution).toMatchObject({
      ...{ id: `cli:${kind}`, harnessId: kind, label: `CLI backend "${kind}"` },
      cannot: expect.arrayContaining(["assemble-before-prompt", "compact"]),
      projections: [{ thread: "new", as: "prompt", handed: 1 }],
    });
    const second = await own.say("second question");
    const [begun] = first.report.execution?.projections ?? [];
    expect(second.report.execution?.projections).toMatchObject([
      { thread: "continued", threadId: begun?.threadId, handed: 1 },
    ]);
    expect(second.report.modelCalls[0]?.messages).toMatchObject({ kept: 0, items: [{}] });
    await own.restart();
    await own.say("third question");
    const asked = ["user: first question", "assistant: reply one", "user: second question"];
    expect(own.said()).toEqual([...asked, "assistant: ok", "user: third question"]);
    expect(describeSaid(own)).toEqual([
      ...asked,
      ...["assistant: ok", "user: third question", "assistant: ok"],
    ]);
  });

  it("shows its reply while the turn runs, and once", SOON, async () => {
    const own = await world();
    own.answers.push({ text: "reply one" });
    let text = "";
    await own.gateway.gateway.send({
      ...{ key: "main", content: "first question" },
      onEvent: (event) => {
        if (event.type === "text") text += event.delta;
      },
    });
    expect(text).toBe("reply one");
  });

  it("has each turn's own tokens in the report", SOON, async () => {
    const own = await world();
    const usages = [];
    for (const text of ["one", "two"]) {
      const { report } = await own.say(text);
      usages.push(report.modelCalls.map(({ usage }) => usage));
    }
    expect(usages[0]).toHaveLength(1);
    expect(usages[0]?.[0]?.totalTokens).toBeGreaterThan(0);
    expect(usages[1]).toEqual(usages[0]);
  });

  it("takes words that are larger than an argument may be", SOON, async () => {
    const own = await world();
    const { outcome } = await own.say(`${"many words ".repeat(20_000)}end`);
    expect(outcome).toBe("completed");
    expect(own.said().at(-1)).toMatch(/many words end$/);
  });

  it("hands images over, and leaves none of them in its folder", SOON, async () => {
    const own = await world();
    const image = { type: "image" as const, mimeType: "image/png", data: PIXEL };
    for (const words of [[{ type: "text" as const, text: "what is this?" }], []]) {
      const content = [...words, image];
      const { outcome, report } = await own.gateway.gateway.send({ key: "main", content });
      expect(outcome).toBe("completed");
      expect((report.execution?.notices ?? []).join("\n")).not.toMatch(/image/i);
    }
    const said = own.said().join("\n");
    expect(said).toContain("what is this?");
    expect(said.match(/\[(input_)?image\]/g)).toHaveLength(2);
    const folder = join(own.home, "agents/main/harness");
    const files = readdirSync(folder, { recursive: true }).map(String);
    expect(files.filter((file) => /image-\d/.test(file))).toEqual([]);
  });

  it("thinks as hard as was chosen, and is told of no other tools", SOON, async () => {
    const own = await world();
    const command = (name: string, args = "") =>
      own.gateway.gateway.command("main", { kind: "command", name, args });
    const { text } = await command("think", "high");
    expect(text).toContain("Thinking: high (/think).");
    await own.say("one");
    expect(thinkingIn(own.body())).toBe("high");
    await command("think", "off");
    const { report } = await own.say("two");
    expect(thinkingIn(own.body())).toBe("off");
    expect(report.modelCalls[0]?.tools).toEqual([]);
    expect((await command("tools")).text).toContain("none of the gateway's");
    const compacted = await command("compact");
    expect(compacted).toMatchObject({ ok: false });
    expect(compacted.text).toMatch(/^Nothing was compacted: .*"\/new" begins another/);
  });

  it("refuses a model of another wire", SOON, async () => {
    const own = await world();
    const asked = { kind: "command", name: "model", args: "offline/offline" } as const;
    const { ok, text } = await own.gateway.gateway.command("main", asked);
    expect([ok, text]).toEqual([false, expect.stringContaining("and offline/offline speaks")]);
  });

  it("begins a new session where instructions or transcript are other ones", SOON, async () => {
    const own = await world();
    await own.say("first question");
    await own.restart({ systemPrompt: "OTHER" });
    const { report } = await own.say("second question");
    expect(own.said()).toEqual(["user: second question"]);
    expect(report.execution?.notices?.join("\n")).toContain(
      "begins a new session, which knows nothing of what was said before: its instructions changed.",
    );
  });

  it.each([
    ["undo", "a turn was taken back"],
    ["reset", "the conversation was reset"],
  ])("knows nothing any more of what /%s took away", SOON, async (name, why) => {
    const own = await world();
    await own.say("first question");
    const { ok } = await own.gateway.gateway.command("main", { kind: "command", name, args: "" });
    expect(ok).toBe(true);
    const { report } = await own.say("second question");
    expect(own.said()).toEqual(["user: second question"]);
    expect(report.execution?.notices?.join("\n")).toContain(`${why}.`);
  });

  it("begins a new session where more was said elsewhere, and says so", SOON, async () => {
    const own = await world();
    await own.say("first question");
    await own.restart({ harness: "embedded" });
    await own.say("second question");
    await own.restart();
    const { report } = await own.say("third question");
    expect(own.said()).toEqual(["user: third question"]);
    expect(report.execution?.notices?.join("\n")).toContain(
      "which knows nothing of what was said before: it was not there when more was said.",
    );
    await own.say("fourth question");
    expect(own.said()[0]).toBe("user: third question");
  });

  it("says that it knows nothing of a conversation that others began", SOON, async () => {
    const own = await world();
    await own.restart({ harness: "embedded" });
    await own.say("first question");
    await own.restart();
    const { report } = await own.say("second question");
    expect(report.execution?.notices?.join("\n")).toContain("it ran no turn of this one yet.");
    const { report: next } = await own.say("third question");
    expect((next.execution?.notices ?? []).join("\n")).not.toContain("knows nothing");
  });

  it("is interrupted when it is cancelled, which is nobody's failure", SOON, async () => {
    const own = await world();
    await own.say("first question");
    const before = own.asked();
    own.answers.push("never");
    const controller = new AbortController();
    const { gateway } = own.gateway;
    const said = gateway.send({ key: "main", content: "second", signal: controller.signal });
    await vi.waitFor(() => expect(own.asked()).toBe(before + 1), 60_000);
    controller.abort();
    const { outcome, report } = await said;
    expect([outcome, report.code]).toEqual(["aborted", "aborted"]);
    expect((await own.say("third question")).outcome).toBe("completed");
    expect(own.said()[0]).toBe("user: first question");
  });

  it.each([
    [401, "auth"],
    [404, "not_found"],
  ])("tells what a provider refuses as it is told elsewhere: %i", SOON, async (status, kind) => {
    const own = await world();
    const refusal = status === 404 ? { status, code: "not_found_error" } : { status };
    own.answers.push(...Array.from({ length: 30 }, () => refusal));
    const { outcome, error } = await own.say("first question");
    expect([outcome, error?.kind]).toEqual(["failed", kind]);
    expect(error?.message).toMatch(/^Model provider "loop" \(http:.*\) answered 40[14]: .*; \S/);
    if (status === 401) expect(own.asked()).toBeLessThan(4);
  });

  it("fails as its own flags say when the model refuses, and goes on after it", SOON, async () => {
    const own = await world();
    // Claude Code asks again in other words before it gives up.
    const refusal = { status: 400, code: "invalid_request_error" };
    own.answers.push(...Array.from({ length: 8 }, () => refusal));
    const { outcome, error, report } = await own.say("first question");
    expect(outcome).toBe("failed");
    expect(error?.message).toMatch(/400/);
    expect(report.code).not.toBe("HARNESS_FAILED");
    own.answers.length = 0;
    expect((await own.say("second question")).outcome).toBe("completed");
    expect(own.said().at(-1)).toBe("user: second question");
  });
});

describe.each(PROGRAMS.filter(({ kind }) => kind === "claude-cli"))(
  "$program",
  ({ kind, binary }) => {
    it("asks where other tools ask, and heeds the answer", SOON, async () => {
      const own = await cliWorld({ kind, binary });
      const asked: Approval[] = [];
      const { gateway } = own.gateway;
      gateway.approvals.attach({
        canAnswer: true,
        asked: (approval) => {
          asked.push(approval);
          gateway.approvals.answer(approval.id, asked.length === 1 ? "no" : "once", "http");
        },
        over: () => {},
      });
      const call = { name: "Bash", args: { command: "touch tide.txt", description: "d" } };
      const results = [];
      for (const id of ["toolu_1", "toolu_2"]) {
        own.answers.push({ call: { ...call, id } }, { text: "done" });
        results.push((await own.say("touch it")).report.toolCalls[0]);
      }
      expect(asked[0]).toMatchObject({ asker: { kind: "harness", id: kind }, name: "Bash" });
      expect(asked.map(({ callId }) => callId)).toEqual(["toolu_1", "toolu_2"]);
      expect(results).toMatchObject([
        { name: "Bash", isError: true },
        { name: "Bash", isError: false },
      ]);
    });

    it("leaves no question behind when it ends while it asks", SOON, async () => {
      const own = await cliWorld({ kind, binary, backend: { turnSeconds: 5 } });
      const { gateway } = own.gateway;
      gateway.approvals.attach({ canAnswer: true, asked: () => {}, over: () => {} });
      const args = { command: "touch tide.txt", description: "d" };
      own.answers.push({ call: { name: "Bash", args, id: "toolu_1" } });
      expect((await own.say("touch it")).outcome).toBe("failed");
      expect(gateway.approvals.pending()).toEqual([]);
    });
  },
);
