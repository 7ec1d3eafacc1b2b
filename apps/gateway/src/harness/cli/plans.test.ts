// What is decided without any process: sessions, environments, versions, settings, single lines.
import { describe, expect, it } from "vitest";
import { cliBackends, HarnessConfigSchema } from "../../config/harness.ts";
import { claudePrint } from "./claude-print.ts";
import { codexExec } from "./codex-exec.ts";
import { planCliEnvironment } from "./plan-environment.ts";
import { type CliBound, planSession } from "./sessions.ts";
import { lessUsage, NO_USAGE } from "./usage.ts";
import { isAtLeast } from "./version.ts";

const key = { sessionId: "s", cwd: "/c", version: "1.0.0", instructions: "i", provider: "p" };
const bound: CliBound = {
  ...{ v: 1, sessionKey: "agent:main:main", key, ref: "r", total: null, over: null },
};

describe("the session of a program", () => {
  it("goes on while nothing of it changed", () => {
    expect(planSession(bound, { key, before: null })).toEqual({ kind: "resume", bound });
    expect(planSession(null, { key, before: null })).toEqual({ kind: "new", reason: null });
  });

  it.each(Object.keys(key) as (keyof typeof key)[])("is another one with another %s", (name) => {
    const plan = planSession(bound, { key: { ...key, [name]: "other" }, before: null });
    expect(plan).toEqual({ kind: "new", reason: expect.stringMatching(/\S/) });
  });

  it("goes on only where nothing was said since its own last turn", () => {
    const held = { ...bound, through: "m2" };
    expect(planSession(held, { key, before: "m2" })).toEqual({ kind: "resume", bound: held });
    for (const before of ["m1", "m3", null])
      expect(planSession(held, { key, before })).toEqual({
        ...{ kind: "new", reason: "it was not there when more was said" },
      });
    expect(planSession(null, { key, before: "m1" })).toMatchObject({
      kind: "new",
      reason: expect.any(String),
    });
  });

  it("is left once it was too large", () => {
    expect(planSession({ ...bound, over: "too large" }, { key, before: null })).toEqual({
      ...{ kind: "new", reason: "too large" },
    });
  });
});

describe("lines", () => {
  it("of Claude Code are judged by is_error, not by their subtype", () => {
    const told = { subtype: "success", type: "result", is_error: true };
    const [long] = claudePrint.parse({ ...told, terminal_reason: "prompt_too_long" });
    expect(long).toMatchObject({ type: "end", error: { kind: "overflow" } });
    const [refused] = claudePrint.parse({ ...told, api_error_status: 401, result: "no" });
    expect(refused).toMatchObject({
      error: { kind: "auth", status: 401, message: "Claude Code: no" },
    });
  });

  it("tell an end also where what they count makes no sense", () => {
    const usage = { input_tokens: -1, output_tokens: "x" };
    const [end] = claudePrint.parse({ type: "result", is_error: false, result: "yes", usage });
    expect(end).toEqual({ type: "end", error: null, usage: null, reply: "yes" });
    expect(codexExec.parse({ type: "turn.completed", usage })).toEqual([
      { type: "end", error: null, usage: null },
    ]);
  });

  it("of Claude Code that say how a request failed are no reply", () => {
    const message = { id: "m", content: [{ type: "text", text: "API Error" }] };
    expect(claudePrint.parse({ type: "assistant", message, is_api_error_message: true })).toEqual(
      [],
    );
  });

  it("of a subagent are its caller's business", () => {
    const message = { id: "m", content: [{ type: "text", text: "inner" }] };
    expect(claudePrint.parse({ type: "assistant", message, parent_tool_use_id: "t" })).toEqual([]);
  });

  it("of Codex may name an error that is none", () => {
    const item = { id: "item_0", type: "error", message: "careful" };
    expect(codexExec.parse({ type: "item.completed", item })).toEqual([
      { type: "notice", text: "Codex: careful" },
    ]);
  });

  it("that nobody knows, or knows otherwise, say nothing", () => {
    for (const { parse } of [claudePrint, codexExec])
      for (const line of [
        {},
        { type: "moon" },
        { type: 1 },
        { type: "result" },
        { type: "item.completed" },
      ])
        expect(parse(line)).toEqual([]);
  });
});

describe("around a program", () => {
  it("stands a small environment, in which its own variables win", () => {
    const given = { PATH: "/bin", LC_ALL: "C", HOME: "/me", SECRET: "x", WANTED: "y" };
    expect(planCliEnvironment(given, ["WANTED"], { HOME: "/own" })).toEqual({
      ...{ PATH: "/bin", LC_ALL: "C", WANTED: "y", HOME: "/own" },
    });
  });

  it("are versions, compared by their numbers", () => {
    expect([isAtLeast("0.145.0", "0.145.0"), isAtLeast("0.99.9", "0.145.0")]).toEqual([
      true,
      false,
    ]);
    expect(isAtLeast("1.0.0", "0.145.0")).toBe(true);
  });

  it("are instructions that every TOML reader takes", () => {
    const turn = {
      images: [],
      instructions: 'a "b"\n\u007f',
      provider: { name: "n", baseUrl: "u", headers: {} },
    };
    const files = codexExec.files(turn as never);
    expect(files["config.toml"]).toMatch(/^developer_instructions = "a \\"b\\"\\n\\u007f"\n/);
  });

  it("are tokens of a thread's sum, also after it began anew", () => {
    const sum = { ...NO_USAGE, input: 30, totalTokens: 30 };
    const before = { ...NO_USAGE, input: 10, totalTokens: 10 };
    expect(lessUsage(sum, before)).toMatchObject({ input: 20, totalTokens: 20 });
    expect(lessUsage(before, sum)).toEqual(before);
  });
});

describe("harness.backends", () => {
  it("adds names to the two that need no settings", () => {
    const config = HarnessConfigSchema.parse({ backends: { mine: { kind: "claude-cli" } } });
    expect(cliBackends(config).map(({ id, kind }) => [id, kind])).toEqual([
      ...[
        ["codex-cli", "codex-cli"],
        ["claude-cli", "claude-cli"],
        ["mine", "claude-cli"],
      ],
    ]);
  });

  it("says which program a name is, and takes none that is taken", () => {
    const backends = (given: object) => HarnessConfigSchema.safeParse({ backends: given });
    expect(backends({ mine: {} }).error?.issues[0]?.path).toEqual(["backends", "mine", "kind"]);
    expect(backends({ codex: { kind: "codex-cli" } }).success).toBe(false);
    expect(backends({ "../up": { kind: "codex-cli" } }).success).toBe(false);
  });
});
