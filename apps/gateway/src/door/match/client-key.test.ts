// Reads the names that clients give their conversations.
import { describe, expect, it } from "vitest";
import { clientKeyOf } from "./client-key.ts";

describe("a conversation is named", () => {
  it("by Claude Code in a header or in the body, a subagent beside its parent", () => {
    const main = { key: "claude-code:s1", compacts: false };
    expect(clientKeyOf({ "x-claude-code-session-id": "s1" }, {})).toEqual(main);
    expect(clientKeyOf({}, { metadata: { user_id: '{"session_id":"s1"}' } })).toEqual(main);
    const agent = { "x-claude-code-session-id": "s1", "x-claude-code-agent-id": "a1" };
    expect(clientKeyOf(agent, {})).toEqual({
      key: "claude-code:s1 a1",
      parent: "claude-code:s1",
      compacts: false,
    });
  });

  it("by Codex by its thread, never by the key of its prompt cache", () => {
    const headers = {
      "session-id": "s1",
      "thread-id": "t2",
      "x-codex-parent-thread-id": "t1",
      "x-codex-turn-metadata": '{"request_kind":"compaction"}',
    };
    expect(clientKeyOf(headers, { prompt_cache_key: "t1" })).toEqual({
      key: "codex:t2",
      parent: "codex:t1",
      family: "family:t1",
      compacts: true,
    });
  });

  it("by opencode, and by nobody else", () => {
    expect(clientKeyOf({ "x-session-id": "a", "x-parent-session-id": "b" }, {})).toEqual({
      key: "opencode:a",
      parent: "opencode:b",
      compacts: false,
    });
    expect(clientKeyOf({}, { prompt_cache_key: "k" })).toEqual({
      family: "family:k",
      compacts: false,
    });
    expect(clientKeyOf({ "x-interaction-type": "conversation-compaction" }, {})).toEqual({
      compacts: true,
    });
  });

  it("by no blank, no broken and no endless name", () => {
    for (const body of [{ metadata: 5 }, { metadata: { user_id: "{" } }, { metadata: null }])
      expect(clientKeyOf({ "thread-id": " " }, body)).toEqual({ compacts: false });
    const { key } = clientKeyOf({ "thread-id": "x".repeat(9_000) }, {});
    expect(key?.length).toBeLessThan(60);
  });
});
