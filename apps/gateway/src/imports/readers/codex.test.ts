import { describe, expect, it } from "vitest";
import { read, told } from "../testing/import-world.ts";
import { CODEX } from "../testing/transcripts.ts";

const messagesOf = (values: readonly unknown[]) =>
  read("codex", values)
    .branch()
    .flatMap((entry) => (entry.type === "message" ? [entry.message] : []));

describe("a rollout of Codex", () => {
  it("is what was said, without the turn that was taken back", () => {
    const { branch, of } = read("codex", CODEX);
    const shown = branch().filter(({ type }) => type !== "custom");
    expect(told(shown)).toEqual([
      ...["custom_message", "custom_message", "model_change", "thinking_level_change"],
      "user: What is in a?",
      ...["assistant: →shell →apply_patch", "toolResult: A\n", "toolResult: Done"],
      "assistant: A, and it failed.",
      ...["user: And b?", "assistant: There is none."],
      ...["compaction", "user: Thanks.", "assistant: Gladly."],
    ]);
    const left = of("").filter((entry) => !branch().includes(entry));
    expect(told(left).filter((line) => line !== "custom")).toEqual([
      ...["user: Delete everything.", "assistant: No."],
    ]);
  });

  it("has models, usage with what was cached, proofs of thinking and exit codes", () => {
    const messages = messagesOf(CODEX);
    expect(messages[1]).toMatchObject({
      ...{ provider: "openai", model: "gpt-5.5-codex", api: "openai-responses" },
      ...{ stopReason: "toolUse", timestamp: Date.parse("2026-02-03T10:00:03.000Z") },
      usage: { input: 200, cacheRead: 800, output: 30, cacheWrite: 0, totalTokens: 1030 },
    });
    expect(messages[1]).toMatchObject({
      content: [
        { type: "thinking", thinking: "look", thinkingSignature: expect.stringContaining("gAAA") },
        { type: "toolCall", id: "k1", arguments: { command: ["cat", "a"] } },
        { type: "toolCall", id: "k2", arguments: { input: "*** Begin" } },
      ],
    });
    expect(messages[2]).toMatchObject({ toolName: "shell", isError: true });
    expect(messages[4]).toMatchObject({ usage: { input: 100, cacheRead: 1000, output: 9 } });
  });

  it("keeps what the client told itself, and counts what it said twice", () => {
    const { tally, session } = read("codex", CODEX);
    expect(tally.kept).toEqual({
      ...{ "event_msg/task_complete": 1, "event_msg/thread_rolled_back": 1, ghost_commit: 1 },
    });
    expect(tally.repeated).toEqual({ "event_msg/user_message": 1 });
    expect(session("")).toMatchObject({ cwd: "/home/ada/shop", parent: null });
  });

  it("is understood as older versions wrote it, item by item", () => {
    const values = [
      { id: "old-1", timestamp: "2025-08-01T10:00:00.000Z", instructions: null },
      { record_type: "state" },
      { type: "message", role: "user", content: [{ type: "input_text", text: "Hello." }] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hi." }] },
    ];
    const { branch, tally, session } = read("codex", values);
    expect(told(branch())).toEqual(["custom", "custom", "user: Hello.", "assistant: Hi."]);
    expect(tally.kept).toEqual({ state: 1 });
    expect(session("").sourceId).toBe("old-1");
  });

  it("is a subagent where another thread started it", () => {
    const source = { subagent: { thread_spawn: { parent_thread_id: "p", agent_nickname: "Kit" } } };
    const meta = { id: "c", timestamp: "2026-01-01T00:00:00Z", cwd: "/", source };
    const values = [{ type: "session_meta", timestamp: meta.timestamp, payload: meta }];
    const { session } = read("codex", values);
    expect(session("")).toMatchObject({ parent: "p", label: "Kit" });
  });
});
