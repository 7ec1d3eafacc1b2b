import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { collectLog } from "../../testing/plugins.ts";
import { createHookRunner, mergeAdditions, type OwnedHook } from "../offer/hook-runs.ts";
import { HOOK_NAMES, hookRule } from "./hook-rules.ts";

const plain = { id: "p", configSchema: {} };
const engine = { ...plain, kind: ["context-engine", "other"] };

describe("which hooks a plugin may have", () => {
  it("the author guide lists, all of them", () => {
    const guide = readFileSync(
      join(import.meta.dirname, "../../../../../docs/plugin-author-guide.md"),
      "utf8",
    );
    expect(HOOK_NAMES.filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
    expect(hookRule("agent_ended", undefined, plain)).toMatchObject({
      ...{ kind: "unknown", reason: expect.stringContaining('did you mean "agent_end"?') },
    });
  });

  it("those that see nothing need no permission", () => {
    for (const name of [
      "session_end",
      "gateway_start",
      "gateway_stop",
      "before_compaction",
      "after_compaction",
      "subagent_ended",
      "command:new",
    ])
      expect(hookRule(name, undefined, plain)).toEqual({ kind: "allowed" });
  });

  it("those that see the conversation need the operator's word, or an engine that sees it anyway", () => {
    for (const name of ["before_prompt_build", "agent_end", "llm_input", "before_agent_start"]) {
      expect(hookRule(name, undefined, plain)).toEqual({
        kind: "blocked",
        reason: `hook "${name}" sees the conversation and is blocked; to let it: clew config set plugins.entries.p.hooks.allowConversationAccess true`,
      });
      expect(hookRule(name, { allowConversationAccess: true }, plain)).toEqual({ kind: "allowed" });
      expect(hookRule(name, undefined, engine)).toEqual({ kind: "allowed" });
      expect(hookRule(name, { allowConversationAccess: false }, engine)).toMatchObject({
        kind: "blocked",
      });
    }
  });

  it("those that the other host lets see it unasked may, unless the operator said no", () => {
    for (const name of ["before_reset", "message_received", "after_tool_call"]) {
      expect(hookRule(name, undefined, plain)).toEqual({ kind: "allowed" });
      expect(hookRule(name, { allowConversationAccess: false }, plain)).toEqual({
        kind: "blocked",
        reason: `hook "${name}" sees the conversation and is blocked by plugins.entries.p.hooks.allowConversationAccess`,
      });
    }
  });

  it("the one that changes prompts can be forbidden alone", () => {
    const forbidden = { allowPromptInjection: false, allowConversationAccess: true };
    expect(hookRule("before_prompt_build", forbidden, engine)).toMatchObject({
      kind: "blocked",
      reason: expect.stringContaining("allowPromptInjection"),
    });
    expect(hookRule("before_reset", forbidden, engine)).toEqual({ kind: "allowed" });
  });

  it("none that nobody calls", () => {
    expect(hookRule("toString", {}, plain)).toMatchObject({ kind: "unknown" });
  });
});

describe("what hooks want added to a prompt", () => {
  it("is put together in order of priority, with blank lines", async () => {
    const hook = (
      pluginId: string,
      priority: number,
      handler: OwnedHook["handler"],
    ): OwnedHook => ({
      name: "before_prompt_build",
      pluginId,
      priority,
      handler,
    });
    const log = collectLog();
    const hooks = [
      hook("low", -1, () => ({ prependContext: "third", systemPrompt: "not this" })),
      hook("broken", 5, () => {
        throw new Error("no idea");
      }),
      hook("high", 10, async () => ({
        prependContext: "first",
        systemPrompt: "this",
        toolsAllow: ["a", "b"],
      })),
      hook("middle", 0, () => ({
        prependContext: "second",
        toolsAllow: ["b", "c"],
        appendSystemContext: " ",
      })),
    ];
    const runner = createHookRunner({
      hooks: () => hooks,
      log,
      runAs: (_pluginId, work) => work(),
    });
    expect(await runner.additions({ prompt: "x" }, {}, { limitBytes: 1000 })).toEqual({
      systemPrompt: "this",
      prependContext: "first\n\nsecond\n\nthird",
      toolsAllow: ["b"],
    });
    expect(log.lines).toEqual(["warn [plugins] broken: hook before_prompt_build failed: no idea"]);
  });

  it("leaves out whoever gives more text than is taken, and says so", async () => {
    const hook = (pluginId: string, text: string) => ({
      ...{ name: "before_prompt_build", pluginId, priority: 0 },
      handler: () => ({ prependContext: text, systemPrompt: "" }),
    });
    const log = collectLog();
    const runner = createHookRunner({
      hooks: () => [hook("chatty", "ä".repeat(600)), hook("brief", "a".repeat(1000))],
      log,
      runAs: (_pluginId, work) => work(),
    });
    expect(await runner.additions({ prompt: "x" }, {}, { limitBytes: 1000 })).toEqual({
      prependContext: "a".repeat(1000),
    });
    expect(log.lines).toEqual([
      "warn [plugins] chatty: hook before_prompt_build gave 1.2 KiB of text, and at most 1 KiB are taken (gateway.limits.hookBytes), so nothing of it was added; let the plugin give less, or raise the limit",
    ]);
  });

  it("is nothing when they want nothing", () => {
    expect(mergeAdditions([undefined, null, 7, "text", {}, { prependContext: 4 }])).toEqual({});
  });
});
