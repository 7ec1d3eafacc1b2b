import type { AgentMessage } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import { callTool, memoryTranscript, passThrough, testHost, tools } from "../__fixtures__/host.ts";

/** Tells what it was told, a list for each turn. */
function telling() {
  const told: string[][] = [];
  const textOf = (message: AgentMessage) =>
    message.role === "user" ? String(message.content) : message.role;
  const engine = passThrough({
    info: { id: "telling", name: "Telling" },
    afterTurn: ({ messages, prePromptMessageCount }) =>
      void told.push(messages.slice(prePromptMessageCount).map(textOf)),
  });
  return { engine, told };
}

describe("a turn that was cut short", () => {
  it("goes on behind what is stored of it, and is told to the engine as one turn", async () => {
    const transcript = memoryTranscript();
    const { engine, told } = telling();
    const before = testHost({ engine, replies: ["one"], transcript });
    await before.say("a");
    const [prompt] = await transcript.append([
      { type: "message", message: { role: "user", content: "b" } },
      { type: "message", message: callTool("t", {}, "c1") },
      {
        type: "message",
        message: {
          ...{ role: "toolResult", toolCallId: "c1", toolName: "t", isError: false },
          content: [{ type: "text", text: "done before" }],
        },
      },
    ]);
    const after = testHost({
      ...{ engine, replies: ["two"], tools: tools({ t: () => "again" }) },
      ...{ transcript, state: before.state },
    });
    const { outcome, report } = await after.say("b", { goesOnFrom: prompt!.id });
    expect(after.events[0]).toEqual({ type: "accepted", entryId: prompt!.id });
    expect([outcome, report.promptEntryId]).toEqual(["completed", prompt!.id]);
    expect(after.ports.model.calls[0]!.messages.map(({ role }) => role)).toEqual([
      ...["user", "assistant", "user", "assistant", "toolResult"],
    ]);
    expect(transcript.branch()).toHaveLength(6);
    expect(told.at(-1)).toEqual(["b", "assistant", "toolResult", "assistant"]);
  });
});
