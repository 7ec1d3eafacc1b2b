import { describe, expect, it } from "vitest";
import { planQuestion } from "./permissions.ts";
import { viewCall } from "./tool-calls.ts";

const place = { cwd: "/p", textOf: (path: string) => (path === "/p/a.txt" ? "old\n" : null) };

const CALLS: [name: string, given: object, title: string, more: object][] = [
  ["Bash", { command: "npm test", description: "x" }, "npm test", { kind: "execute" }],
  ["shell", { command: "ls -la", cwd: "/p" }, "ls -la", { kind: "execute" }],
  [
    "Read",
    { file_path: "/p/a.txt", offset: 7 },
    "Read a.txt from line 7",
    { kind: "read", locations: [{ path: "/p/a.txt", line: 7 }], diffs: [] },
  ],
  [
    "Write",
    { file_path: "/p/a.txt", content: "new\n" },
    "Write a.txt",
    { diffs: [{ type: "diff", path: "/p/a.txt", oldText: "old\n", newText: "new\n" }] },
  ],
  [
    "Edit",
    { file_path: "/p/src/b.ts", old_string: "1", new_string: "2" },
    "Edit src/b.ts",
    { kind: "edit", diffs: [{ path: "/p/src/b.ts", oldText: "1", newText: "2" }] },
  ],
  [
    "MultiEdit",
    { file_path: "/q/b.ts", edits: [{ old_string: "1", new_string: "2" }] },
    "Edit /q/b.ts",
    { diffs: [{ path: "/q/b.ts", oldText: "1", newText: "2" }] },
  ],
  [
    "apply_patch",
    { changes: [{ path: "/p/a.txt", diff: "+new" }, { path: "/p/c.txt" }] },
    "Edit a.txt, c.txt",
    {
      ...{ kind: "edit", locations: [{ path: "/p/a.txt" }, { path: "/p/c.txt" }] },
      diffs: [{ type: "content", content: { text: "+new" } }],
    },
  ],
  ["Grep", { pattern: "TODO", path: "src" }, "Grep TODO", { locations: [{ path: "/p/src" }] }],
  ["WebSearch", { query: "tides" }, "WebSearch: tides", { kind: "fetch" }],
  ["mcp__everything__get-tiny-image", {}, "everything: get tiny image", { kind: "other" }],
  ["mcp__a__b__c_d", { query: "x" }, "a: b c d: x", { kind: "other" }],
  ["Bash", { command: 7 }, "Bash", { kind: "execute" }],
];

describe("a call in an editor", () => {
  it.each(CALLS)("%s with %j reads %s", (name, given, title, more) => {
    expect(viewCall({ name, arguments: given }, place)).toMatchObject({ title, ...more });
  });

  it("is one card with the question about it, also of a program that runs turns", () => {
    const sessionKey = "agent:main:acp:1";
    const approval = {
      ...{ id: "q1", agentId: "main", sessionKey, above: [], label: null, name: "Bash" },
      ...{ asker: { kind: "harness", id: "claude-cli" } as const, grants: "it" },
      ...{ arguments: { command: "npm test" }, askedAt: "", expiresAt: "" },
    };
    const session = { ...place, sessionId: "s", key: sessionKey };
    expect(planQuestion({ ...approval, callId: "toolu_1" }, session).toolCall).toMatchObject({
      ...{ toolCallId: "toolu_1", title: "npm test", kind: "execute" },
    });
    expect(planQuestion(approval, session).toolCall).toMatchObject({
      ...{ toolCallId: "approval:q1", title: 'npm test (harness "claude-cli")' },
    });
  });
});
