import { describe, expect, it } from "vitest";
import type { NewEvent } from "../events/shapes.ts";
import { createUpdates } from "./updates.ts";

const session = "agent:main:acp:1";
const options = { cwd: "/p", textOf: () => "before\n", isOwn: () => false };

const assistant = (...content: object[]): NewEvent =>
  ({
    ...{ type: "message", session, entryId: "e1" },
    message: { role: "assistant", content },
  }) as unknown as NewEvent;

const result = (toolCallId: string, text: string, isError = false): NewEvent =>
  ({
    ...{ type: "message", session, entryId: "e2" },
    message: {
      ...{ role: "toolResult", toolCallId, toolName: "write_file", isError },
      content: [{ type: "text", text }],
    },
  }) as unknown as NewEvent;

const call = {
  ...{ type: "toolCall", id: "c1", name: "write_file" },
  arguments: { path: "a.txt", content: "after\n" },
};

describe("what an editor is told of a turn", () => {
  it("has each call once, with what it changes from its beginning to its end", () => {
    const updates = createUpdates({ ...options, abilities: {} });
    const diff = { type: "diff", path: "/p/a.txt", oldText: "before\n", newText: "after\n" };
    expect(updates.of(assistant(call))).toMatchObject([
      { sessionUpdate: "tool_call", toolCallId: "c1", kind: "edit", content: [diff] },
    ]);
    const { type: _type, ...started } = call;
    expect(updates.of({ type: "tool_start", session, call: started })).toEqual([
      { sessionUpdate: "tool_call_update", toolCallId: "c1", status: "in_progress" },
    ]);
    expect(updates.of(result("c1", "done"))).toMatchObject([
      {
        ...{ sessionUpdate: "tool_call_update", toolCallId: "c1", status: "completed" },
        content: [diff, { type: "content", content: { type: "text", text: "done" } }],
      },
    ]);
    expect(updates.of(result("c1", "again"))).toEqual([]);
  });

  it("says a text once, whether it came in pieces or whole", () => {
    const updates = createUpdates({ ...options, abilities: {} });
    const whole = assistant({ type: "text", text: "hello" });
    const piece = { type: "text", session, delta: "hel" } as const;
    expect(updates.of(piece)).toHaveLength(1);
    expect(updates.of(whole)).toEqual([]);
    expect(updates.of(whole)).toHaveLength(1);
  });

  it("ends calls that nobody answered, and shows a terminal in place of what it printed", () => {
    const updates = createUpdates({ ...options, abilities: {} });
    updates.of(assistant(call, { ...call, id: "c2" }));
    const terminal = { type: "terminal" as const, terminalId: "t1" };
    expect(updates.note("c2", [terminal])).toHaveLength(1);
    const [told] = updates.of(result("c2", "printed"));
    expect(told).toMatchObject({ content: [{ type: "diff" }, terminal] });
    const done = { type: "done", session, outcome: "aborted", error: null } as const;
    expect(updates.of({ ...done, turnId: null, replyEntryId: null })).toMatchObject([
      { toolCallId: "c1", status: "failed" },
    ]);
  });

  it("tells of compactions and notices, in a paragraph where the editor has no place for them", () => {
    const compaction = {
      ...{ trigger: "threshold", ok: true, compacted: true, reason: null },
      ...{ tokensBefore: 2, tokensAfter: 1, durationMs: 1 },
    } as const;
    const events = [
      { type: "compaction", session, compaction },
      { type: "notice", session, text: "another engine answers" },
      { type: "notice", session, text: "Codex compacted.", about: "compaction" },
    ] as NewEvent[];
    const none = createUpdates({ ...options, abilities: {} });
    expect(events.flatMap((event) => none.of(event))).toEqual(
      ["Compacted: 2 → 1 tokens.", "another engine answers", "Codex compacted."].map((text) => ({
        sessionUpdate: "agent_message_chunk",
        content: { type: "text", text: `\n\n> **Clew:** ${text}\n\n` },
      })),
    );
    const abilities = { session: { compaction: {}, notices: {} } };
    const both = createUpdates({ ...options, abilities });
    expect(events.flatMap((event) => both.of(event))).toMatchObject([
      { sessionUpdate: "compaction_update", status: "completed" },
      { sessionUpdate: "notice", title: "another engine answers" },
      { sessionUpdate: "compaction_update", status: "completed" },
    ]);
  });
});
