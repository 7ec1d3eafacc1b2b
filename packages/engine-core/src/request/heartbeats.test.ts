import { describe, expect, it } from "vitest";
import { callTool, testHost, tools } from "../__fixtures__/host.ts";

describe("a heartbeat", () => {
  it("that found nothing to do is not in later views, and stays in the transcript", async () => {
    const host = testHost({ replies: ["one", "HEARTBEAT_OK", "two"] });
    await host.say("a");
    await host.say("HEARTBEAT check", { kind: "heartbeat" });
    await host.say("b");
    expect(host.lastSeen()).toEqual(["user: a", "assistant: one", "user: b"]);
    expect(host.ports.transcript.entries).toHaveLength(6);
  });

  it.each([
    ["said something", "The backup failed.", "assistant: The backup failed."],
    ["used a tool", callTool("look"), "toolResult: looked"],
  ])("that %s is part of the conversation", async (_what, reply, seen) => {
    const host = testHost({
      replies: [reply, ...(typeof reply === "string" ? [] : ["HEARTBEAT_OK"]), "two"],
      tools: tools({ look: () => "looked" }),
    });
    await host.say("HEARTBEAT check", { kind: "heartbeat" });
    await host.say("b");
    expect(host.lastSeen()).toContain(seen);
  });
});
