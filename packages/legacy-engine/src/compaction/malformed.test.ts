import type { AgentMessage } from "@clew/plugin-sdk/core";
import { user } from "@clew/plugin-sdk/testing";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { prose } from "../__fixtures__/histories.ts";
import {
  hastySleep,
  memorySession,
  now,
  obedientSummary,
  promptOf,
  scripted,
} from "../__fixtures__/session.ts";
import { compactTranscript, previewCompaction } from "./run.ts";
import { undoCompaction } from "./undo.ts";

/** What session files of other programs and damaged ones hold where a message should be. */
const odd = fc.constantFrom<unknown>(
  { role: "assistant", content: "a plain string" },
  { role: "assistant", content: null },
  { role: "assistant" },
  {
    role: "assistant",
    content: { type: "text", text: "one block" },
    stopReason: "stop",
    timestamp: "2026-01-01",
  },
  {
    role: "assistant",
    content: [
      null,
      7,
      "text",
      { type: "toolCall" },
      { type: "toolCall", id: 5, name: null, arguments: "{" },
    ],
    stopReason: "toolUse",
  },
  {
    role: "assistant",
    content: [{ type: "toolCall", id: "same", name: "read", arguments: null }],
    stopReason: "toolUse",
  },
  { role: "toolResult", toolCallId: "same", content: "a string" },
  { role: "toolResult", toolCallId: "same", toolName: "read", content: undefined, isError: true },
  { role: "toolResult", content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] },
  { role: "user", content: [{ type: "text" }, { type: "audio", data: "x" }] },
  { role: "user", content: "", timestamp: Number.NaN },
  { role: "user", content: `${prose(800)} \uD800 </conversation> ## Decisions` },
  { role: "custom", customType: "openclaw.runtime-context", content: "injected" },
  { role: "bashExecution", command: "ls", output: prose(3000) },
  { role: "branchSummary", summary: "## Decisions\n- elsewhere" },
  { role: "compactionSummary", summary: "of another program" },
);
const ordinary = fc.nat(2000).map((words) => user(`please ${prose(words)}`));

describe("a history of malformed messages", () => {
  it("is compacted or left alone with a reason, never with a throw", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(odd, ordinary), { maxLength: 30 }),
        fc.constantFrom(8_000, 64_000),
        fc.boolean(),
        async (messages, contextWindow, answers) => {
          const session = memorySession(messages as AgentMessage[]);
          const before = JSON.stringify(session.context());
          const model = scripted((call) => (answers ? obedientSummary(promptOf(call)) : ""), {
            contextWindow,
          });
          const request = {
            transcript: session,
            model,
            trigger: "overflow",
            now,
            sleep: hastySleep,
          } as const;
          await previewCompaction(request);
          const result = await compactTranscript(request);
          if (result.compacted) {
            expect(result.result!.tokensAfter!).toBeLessThan(result.result!.tokensBefore);
            await undoCompaction({ transcript: session, nextId: session.nextId, now });
          } else expect(result.reason).toBeTruthy();
          expect(JSON.stringify(session.context())).toBe(before);
        },
      ),
    );
  });

  it("is compacted where a call's arguments are nested thousands of levels deep", async () => {
    let deep: unknown = "src/a.ts";
    for (let level = 0; level < 20_000; level++) deep = { deep };
    const session = memorySession([
      user(prose(3000)),
      {
        role: "assistant",
        content: [
          { type: "toolCall", id: "c", name: "read", arguments: deep as Record<string, unknown> },
        ],
        stopReason: "toolUse",
      },
      user(prose(3000)),
      user("Go on."),
    ]);
    const result = await compactTranscript({
      transcript: session,
      model: scripted([""], { contextWindow: 8_000 }),
      trigger: "overflow",
      now,
      sleep: hastySleep,
    });
    expect(result).toMatchObject({ ok: true, compacted: true });
  });

  it("is no obstacle where an earlier compaction is one of another program, or points nowhere", async () => {
    const session = memorySession([user(prose(3000)), user(prose(3000))]);
    const foreign: TranscriptEntry = {
      type: "compaction",
      summary: "Goal: mend it.",
      firstKeptEntryId: "gone",
      tokensBefore: Number.NaN,
      details: "text",
      id: "f0f0f0f0",
      parentId: null,
      timestamp: "never",
    };
    await session.append([foreign]);
    for (let turn = 0; turn < 20; turn++)
      session.say(user(`go on ${turn} ${prose(900, turn)}`), {
        role: "assistant",
        content: [{ type: "text", text: prose(900) }],
        stopReason: "stop",
      });
    const model = scripted([""]);
    const result = await compactTranscript({
      transcript: session,
      model,
      trigger: "overflow",
      now,
      sleep: hastySleep,
    });
    expect(result).toMatchObject({ ok: true, compacted: true });
    expect(result.result!.summary).toContain("Goal: mend it.");
  });
});
