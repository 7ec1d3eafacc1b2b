import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { callsByPrompt, planUntold } from "./untold-turns.ts";

const MESSAGES = {
  u: { role: "user", content: "And now?" },
  a: { role: "assistant", content: [], stopReason: "stop", model: "m" },
  /** Written by somebody else. */
  w: { role: "assistant", content: [], stopReason: "stop" },
  t: { role: "toolResult", toolCallId: "c", toolName: "read", content: [], isError: false },
} as const satisfies Record<string, AgentMessage>;

/** "uata": a message, a reply that calls a tool, its result, a reply; ids are places. */
const branchOf = (kinds: string): TranscriptEntry[] =>
  [...kinds].map((kind, at) => ({
    ...{ type: "message", id: `${at}`, parentId: at === 0 ? null : `${at - 1}` },
    ...{ timestamp: new Date(at * 1000).toISOString() },
    message: MESSAGES[kind as keyof typeof MESSAGES],
  }));

const told = (...turns: [promptEntryId: string | null, calls: number][]) =>
  callsByPrompt(turns.map(([promptEntryId, calls]) => ({ promptEntryId, calls })));

const untoldIn = (kinds: string, ...turns: Parameters<typeof told>) =>
  planUntold(branchOf(kinds), told(...turns)).map(({ promptEntryId, replies, after, before }) => [
    ...[promptEntryId, replies, after, before],
  ]);

describe("a turn that no report tells of", () => {
  it("has replies of a model, and stands between the told ones", () => {
    expect(untoldIn("uauatauau", ["0", 1], ["6", 1])).toEqual([["2", 2, "0", "6"]]);
    expect(untoldIn("uaua", ["2", 1])).toEqual([["0", 1, null, "2"]]);
  });

  it("is none where nothing was replied, or nobody asked a model for it", () => {
    expect(untoldIn("uauuwuau", ["0", 1], ["5", 1])).toEqual([]);
  });

  it("is none that was said into a told turn, or is a later step of it", () => {
    expect(untoldIn("uatuaua", ["0", 2], ["5", 1])).toEqual([]);
    expect(untoldIn("uatuatuaua", ["0", 1], [null, 1], [null, 1], ["8", 1])).toEqual([]);
  });

  it("is one behind a told turn whose replies are all there", () => {
    expect(untoldIn("uatauat", ["0", 2])).toEqual([["4", 1, "0", null]]);
  });
});
