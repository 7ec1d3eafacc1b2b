// Reads the names that clients give their conversations.
import { describe, expect, it } from "vitest";
import { clientKeyOf } from "./client-key.ts";

describe("a conversation is named", () => {
  it("by Claude Code in a header or in the body, a subagent beside its parent", () => {
    const main = { key: "claude-code:s1", compacts: false };
    expect(clientKeyOf({ "x-claude-code-session-id": "s1" }, {})).toEqual(main);
    const body = { metadata: { user_id: '{"device_id":"d1","session_id":"s1"}' } };
    expect(clientKeyOf({ "user-agent": "claude-cli/2.1 (external, cli)" }, body)).toEqual(main);
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
    const opencode = {
      ...{ "user-agent": "opencode/1.18.33 ai-sdk/provider-utils/4" },
      ...{ "x-session-id": "a", "x-parent-session-id": "b" },
    };
    expect(clientKeyOf(opencode, {})).toEqual({
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

  it("by no header that any program may send, unless something else tells whose it is", () => {
    const python = { "user-agent": "python-httpx/0.28" };
    const hint = { family: "family:w1", compacts: false };
    for (const name of ["x-session-id", "thread-id"])
      expect(clientKeyOf({ ...python, [name]: "w1" }, {})).toEqual(hint);
    expect(clientKeyOf({ "x-session-id": "w1", "x-session-affinity": "w1" }, {})).toEqual(hint);
    expect(clientKeyOf({ ...python, "x-session-id": "ses_1" }, {}).key).toBeUndefined();
    for (const user_id of ["u1", '{"device_id":"d1","session_id":"w1"}'])
      expect(clientKeyOf(python, { metadata: { user_id } })).toEqual({ compacts: false });
    const affine = { "x-session-id": "ses_1", "x-session-affinity": "ses_1" };
    expect(clientKeyOf(affine, {}).key).toBe("opencode:ses_1");
    for (const mark of [
      { originator: "codex_exec" },
      { "user-agent": "codex_exec/0.169.0 (Linux)" },
      { "x-codex-window-id": "w1:0" },
    ])
      expect(clientKeyOf({ "thread-id": "w1", ...mark }, {}).key).toBe("codex:w1");
  });

  it("by no blank, no broken and no endless name", () => {
    const codex = { originator: "codex_exec" };
    for (const body of [{ metadata: 5 }, { metadata: { user_id: "{" } }, { metadata: null }])
      expect(clientKeyOf({ ...codex, "thread-id": " " }, body)).toEqual({ compacts: false });
    const { key } = clientKeyOf({ ...codex, "thread-id": "x".repeat(9_000) }, {});
    expect(key?.length).toBeLessThan(60);
  });
});
