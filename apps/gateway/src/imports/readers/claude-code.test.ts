import { describe, expect, it } from "vitest";
import { read, told } from "../testing/import-world.ts";
import { CLAUDE, claudeReply, claudeUser } from "../testing/transcripts.ts";

describe("a transcript of Claude Code", () => {
  it("is the branch that went on, with results that stood beside it, and a compaction", () => {
    expect(told(read("claude-code", CLAUDE).branch())).toEqual([
      ...["custom", "custom"],
      "user: What is in a and b?",
      ...["assistant: →Read →Read", "toolResult: A", "toolResult: no b", "custom_message"],
      "assistant: Only a is there.",
      ...["user: Ask a helper.", "assistant: →Task", "toolResult: There is one."],
      "assistant: One file.",
      ...["compaction", "user: Thanks.", "assistant: Gladly.", "session_info"],
    ]);
  });

  it("keeps a branch that was left, behind what it left", () => {
    const { of, branch } = read("claude-code", CLAUDE);
    const left = of("").filter((entry) => !branch().includes(entry));
    expect(told(left)).toEqual(["user: Write a poem instead.", "assistant: Roses."]);
    const parent = of("").find(({ id }) => id === left[0]!.parentId);
    expect(told([parent!])).toEqual(["assistant: Only a is there."]);
  });

  it("has one reply where the client wrote one line for each block, with its usage and times", () => {
    const [reply] = read("claude-code", CLAUDE)
      .branch()
      .flatMap((entry) => (entry.type === "message" ? [entry] : []))
      .filter(({ message }) => message.role === "assistant");
    expect(reply).toMatchObject({
      timestamp: "2026-02-03T10:00:01.000Z",
      message: {
        ...{ provider: "anthropic", model: "claude-sonnet-5-5", stopReason: "toolUse" },
        ...{ responseId: "msg_1", timestamp: Date.parse("2026-02-03T10:00:01.000Z") },
        usage: { input: 3, output: 42, cacheRead: 100, cacheWrite: 20, totalTokens: 165 },
        content: [
          { type: "thinking", thinking: "two files", thinkingSignature: "c2ln" },
          { type: "toolCall", id: "t1", name: "Read", arguments: { path: "a" } },
          { type: "toolCall", id: "t2" },
        ],
      },
    });
  });

  it("keeps pictures, errors of tools and the size before a compaction", () => {
    const branch = read("claude-code", CLAUDE).branch();
    const messages = branch.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
    expect(messages[0]).toMatchObject({ content: [{}, { type: "image", mimeType: "image/png" }] });
    expect(messages.filter(({ role }) => role === "toolResult")).toMatchObject([
      { toolCallId: "t1", toolName: "Read", isError: false },
      { toolCallId: "t2", toolName: "Read", isError: true },
      { toolCallId: "t3", toolName: "Task" },
    ]);
    expect(branch.find(({ type }) => type === "compaction")).toMatchObject({
      ...{ tokensBefore: 155_000, summary: "They asked about a and b. Only a is there." },
    });
  });

  it("is a session of its own for each subagent, started by the first", () => {
    const { names, branch, session } = read("claude-code", CLAUDE);
    expect(names).toEqual(["", "s1"]);
    expect(told(branch("s1"))).toEqual(["user: Count the files.", "assistant: There is one."]);
    expect(session("s1").parent).toBe(session("").sourceId);
    expect(session("")).toMatchObject({ cwd: "/home/ada/shop", label: "Files a and b" });
  });

  it("is a subagent alone where the file has nothing else", () => {
    const side = { isSidechain: true, agentId: "a1b2" };
    const { names, branch, session } = read("claude-code", [
      claudeUser("s1", "Count.", side),
      claudeReply("s2", "m", [{ type: "text", text: "One." }], { parent: "s1", ...side }),
    ]);
    expect(names).toEqual([""]);
    expect(told(branch())).toEqual(["user: Count.", "assistant: One."]);
    expect(session("").parent).toMatch(/^5b0c3f1e/);
  });

  it("counts what it keeps as records by its kind", () => {
    const { tally } = read("claude-code", CLAUDE);
    expect(tally.kept).toEqual({ summary: 1, "file-history-snapshot": 1 });
    expect(tally.repeated).toEqual({});
  });

  it("goes on behind a line that is lost, and takes a line that stands twice once", () => {
    const again = claudeUser("u1", "One.");
    const { branch, tally } = read("claude-code", [
      ...[again, again],
      claudeUser("u2", "Three.", { parent: "lost" }),
    ]);
    expect(told(branch())).toEqual(["user: One.", "user: Three."]);
    expect(tally.repeated).toEqual({ user: 1 });
  });

  it("says of a reply that failed what the client says of it", () => {
    const failed = claudeReply("a1", "m", [{ type: "text", text: "API Error: 529" }], {
      ...{ parent: "u1", isApiErrorMessage: true },
    });
    const branch = read("claude-code", [claudeUser("u1", "One."), failed]).branch();
    expect(branch.at(-1)).toMatchObject({
      message: { stopReason: "error", errorMessage: "API Error: 529" },
    });
  });

  it("keeps blocks that only their provider understands as they were", () => {
    const block = { type: "server_tool_use", id: "x", name: "web_search", input: {} };
    const branch = read("claude-code", [
      claudeUser("u1", "One."),
      claudeReply("a1", "m", [block], { parent: "u1" }),
    ]).branch();
    expect(branch.at(-1)).toMatchObject({
      message: { content: [{ type: "provider", kind: "server_tool_use", data: block }] },
    });
  });
});
