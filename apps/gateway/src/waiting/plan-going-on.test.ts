import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { planGoingOn } from "./plan-going-on.ts";

const branchOf = (...messages: AgentMessage[]): TranscriptEntry[] =>
  messages.map((message, index) => ({
    ...{
      type: "message",
      id: `e${index}`,
      parentId: index === 0 ? null : `e${index - 1}`,
      message,
    },
    timestamp: new Date(0).toISOString(),
  })) as TranscriptEntry[];
const said = (content: string, more: object = {}): AgentMessage => ({
  ...{ role: "user", content },
  ...more,
});
const reply = (...calls: string[]): AgentMessage => ({
  role: "assistant",
  content: calls.map((id) => ({ type: "toolCall", id, name: "t", arguments: {} })),
  stopReason: calls.length > 0 ? "toolUse" : "stop",
});
const result = (toolCallId: string): AgentMessage => ({
  ...{ role: "toolResult", toolCallId, toolName: "t", isError: false, content: [] },
});
const lackingOf = (plan: ReturnType<typeof planGoingOn>) =>
  plan.kind === "over"
    ? null
    : plan.lacking.map(
        (entry) => (entry as unknown as { message: { toolCallId: string } }).message.toolCallId,
      );

describe("a turn that was cut short", () => {
  it.each<[string, AgentMessage[], string[] | null]>([
    ["goes on where nothing answers it", [said("a")], []],
    ["goes on behind its tools' results", [said("a"), reply("c1"), result("c1")], []],
    ["lacks results of calls that have none", [said("a"), reply("c1", "c2"), result("c1")], ["c2"]],
    ["goes on behind what was said into it", [said("a"), reply("c1"), result("c1"), said("b")], []],
    ["is over with its reply", [said("a"), reply()], null],
    ["goes on where its reply was followed", [said("a"), reply(), said("b")], []],
    ["is over where a schedule began it", [said("a", { __openclaw: { kind: "cron" } })], null],
    [
      "goes on where a job's run began it, which is written down",
      [
        said("a", {
          __openclaw: { kind: "heartbeat" },
          idempotencyKey: "cron/pulse/1700000000000",
        }),
      ],
      [],
    ],
    [
      "is over where another session began it",
      [said("a", { provenance: { kind: "inter_session" } })],
      null,
    ],
    ["is over where no person began it", [reply()], null],
  ])("%s", (_what, messages, lacking) => {
    expect(lackingOf(planGoingOn(branchOf(...messages), "e0"))).toEqual(lacking);
  });

  it("is over where it is not on the branch", () => {
    expect(planGoingOn(branchOf(said("a")), "elsewhere")).toEqual({ kind: "over" });
  });
});
