import { describe, expect, it } from "vitest";
import { AgentMessageSchema } from "../contract/message.ts";
import { TranscriptEntrySchema, TranscriptHeaderSchema } from "./entries.ts";

const base = { id: "00000001", parentId: null, timestamp: "2026-01-01T00:00:00.000Z" };

describe("TranscriptEntrySchema", () => {
  it.each([
    { type: "message", message: { role: "user", content: "hi" } },
    {
      type: "message",
      message: { role: "assistant", content: [{ type: "text", text: "a" }], stopReason: "stop" },
    },
    {
      type: "message",
      message: { role: "toolResult", toolCallId: "1", toolName: "t", content: [], isError: false },
    },
    { type: "message", message: { role: "bashExecution", command: "ls", output: "" } },
    { type: "compaction", summary: "s", firstKeptEntryId: "x", tokensBefore: 1 },
    { type: "branch_summary", fromId: "x", summary: "s" },
    { type: "custom", customType: "x" },
    { type: "custom_message", customType: "x", content: "c", display: true },
    { type: "reset" },
    { type: "model_change", provider: "p", modelId: "m" },
    { type: "thinking_level_change", thinkingLevel: "low" },
    { type: "label", targetId: "x" },
    { type: "session_info", name: "n" },
  ])("accepts an entry of type $type and keeps keys it does not know", (entry) => {
    const given = { ...base, ...entry, future: 1 };
    expect(TranscriptEntrySchema.parse(given)).toEqual(given);
  });

  it.each([
    ["an unknown type", { ...base, type: "other" }],
    ["no id", { type: "reset", parentId: null, timestamp: "t" }],
    ["an empty id", { ...base, id: "", type: "reset" }],
    ["no parent", { type: "reset", id: "1", timestamp: "t" }],
    [
      "a compaction without summary",
      { ...base, type: "compaction", firstKeptEntryId: "x", tokensBefore: 1 },
    ],
    [
      "a message of an unknown role",
      { ...base, type: "message", message: { role: "robot", content: "x" } },
    ],
  ])("refuses %s", (_what, entry) => {
    expect(TranscriptEntrySchema.safeParse(entry).success).toBe(false);
  });
});

describe("TranscriptHeaderSchema", () => {
  it("takes a header without version as version 1 and one without folder as none", () => {
    expect(
      TranscriptHeaderSchema.parse({ type: "session", id: "s", timestamp: "t" }),
    ).toMatchObject({ version: 1, cwd: "" });
    expect(
      TranscriptHeaderSchema.safeParse({ type: "session", id: " ", timestamp: "t" }).success,
    ).toBe(false);
  });
});

describe("AgentMessageSchema", () => {
  it("carries block kinds through that it does not know and refuses a block without type", () => {
    const message = { role: "user", content: [{ type: "video", url: "u" }] };
    expect(AgentMessageSchema.parse(message)).toEqual(message);
    expect(AgentMessageSchema.safeParse({ role: "user", content: [{ url: "u" }] }).success).toBe(
      false,
    );
  });
});
