import type { AssistantMessage } from "@clew/plugin-sdk/core";
import type { ModelError } from "@clew/plugin-sdk/host";
import { describe, expect, it } from "vitest";
import { callTool, memoryTranscript, type Reply, testHost, tools } from "../__fixtures__/host.ts";
import type { PolicyInput, PolicyPort } from "../index.ts";

const refusal = (kind: ModelError["kind"]): Reply => ({
  error: { kind, message: `The model refused (${kind}).` } as ModelError,
});

/** Leaves out what was refused, as a policy of few words would. */
function policy(): PolicyPort & { asked: PolicyInput[] } {
  const asked: PolicyInput[] = [];
  const same = ({ messages }: PolicyInput) => ({ messages, changes: [] });
  return {
    asked,
    sanitizeHistory: async ({ messages }) => ({ messages, changes: [], sideRecords: [] }),
    repairPairing: same,
    prepareOutbound(input) {
      asked.push(input);
      const until = input.refused?.proofsUntil ?? -1;
      const messages = input.messages.map((message) =>
        message.role === "assistant" && (message.timestamp ?? 0) <= until
          ? { ...message, content: message.content.filter(({ type }) => type !== "thinking") }
          : message,
      );
      return { messages, changes: [] };
    },
  };
}

const thought: AssistantMessage = {
  role: "assistant",
  content: [
    { type: "thinking", thinking: "Hm.", thinkingSignature: "s", carrier: "signed" },
    { type: "text", text: "one" },
  ],
  stopReason: "stop",
};
const SIGNED = {
  provider: "anthropic",
  api: "anthropic-messages",
  id: "claude-opus-4-6",
  contextWindow: 100_000,
  maxOutputTokens: 4096,
};

describe("a refused request", () => {
  it("is sent again without what was refused, and the session remembers it", async () => {
    const transcript = memoryTranscript();
    const first = testHost({
      transcript,
      replies: [thought, refusal("signature"), "two", "three"],
      ports: { policy: policy() },
    });
    await first.say("hi", { model: SIGNED });
    const result = await first.say("more", { model: SIGNED });
    expect(result.outcome).toBe("completed");
    expect(
      first.ports.model.calls.map(({ messages }) => JSON.stringify(messages).includes("Hm.")),
    ).toEqual([false, true, false]);
    expect(result.report.recoveries).toEqual([
      {
        model: "anthropic/claude-opus-4-6",
        kind: "signature",
        action: "remedy",
        remedy: "without-proofs",
        message: "The model refused (signature).",
      },
    ]);
    expect(result.report.modelCalls).toMatchObject([
      { failure: { kind: "signature" } },
      { remedies: ["without-proofs"] },
    ]);
    expect(first.log.lines).toContainEqual(
      expect.stringContaining("refused a request (signature); asked again without proofs"),
    );
    // Also after a restart, and without another refusal.
    const second = testHost({
      transcript,
      replies: ["again"],
      ports: { policy: policy() },
    });
    const later = await second.say("and?", { model: SIGNED });
    expect(second.ports.model.calls).toHaveLength(1);
    expect(JSON.stringify(second.ports.model.calls[0]!.messages)).not.toContain("Hm.");
    expect(later.report).not.toHaveProperty("recoveries");
  });

  it("keeps what came after the refusal", async () => {
    const host = testHost({
      replies: [refusal("signature"), thought, "three"],
      ports: { policy: policy() },
    });
    await host.say("hi", { model: SIGNED });
    expect(host.ports.model.calls).toHaveLength(1);
    const thinking = testHost({
      replies: [thought, refusal("signature"), { ...thought }, "end"],
      ports: { policy: policy() },
    });
    for (const text of ["a", "b", "c"]) await thinking.say(text, { model: SIGNED });
    const last = thinking.ports.model.calls.at(-1)!.messages;
    expect(JSON.stringify(last).split("Hm.").length - 1).toBe(1);
  });

  it("is not sent again as it was", async () => {
    const host = testHost({ replies: ["one", refusal("pairing"), "two"] });
    await host.say("hi");
    const result = await host.say("more");
    expect(result).toMatchObject({ outcome: "failed", error: { kind: "pairing" } });
    expect(host.ports.model.calls).toHaveLength(2);
  });

  it("that a remedy leaves as it was is not said to have been asked again", async () => {
    const host = testHost({ replies: [refusal("signature"), "two"], ports: { policy: policy() } });
    const result = await host.say("hi", { model: SIGNED });
    expect(result).toMatchObject({ outcome: "failed", error: { kind: "signature" } });
    expect(host.ports.model.calls).toHaveLength(1);
    expect(host.log.lines.join("\n")).not.toContain("asked again");
    expect(result.report).not.toHaveProperty("recoveries");
  });

  it("is answered once, however often it is refused", async () => {
    const host = testHost({
      replies: [refusal("cache_rejected")],
      ports: { policy: policy() },
    });
    const result = await host.say("hi");
    expect(result).toMatchObject({ outcome: "failed", error: { kind: "cache_rejected" } });
    expect(host.ports.model.calls.map(({ cache }) => cache)).toEqual([
      undefined,
      { retention: "none" },
    ]);
    // What did not help is not remembered.
    await host.say("hi");
    expect(host.ports.model.calls[2]).not.toHaveProperty("cache");
  });

  it("in the middle of a turn leaves the turn as it is", async () => {
    const host = testHost({
      replies: [callTool("look"), refusal("cache_rejected"), "done"],
      tools: tools({ look: () => "seen" }),
      ports: { policy: policy() },
    });
    const result = await host.say("hi", { ask: { cache: { retention: "long" } } });
    expect(result.outcome).toBe("completed");
    expect(host.lastSeen()).toEqual(["user: hi", "assistant: [toolCall]", "toolResult: seen"]);
    expect(host.ports.model.calls.map(({ cache }) => cache?.retention)).toEqual([
      "long",
      "long",
      "none",
    ]);
  });

  it("of another model says nothing of this one", async () => {
    const host = testHost({
      replies: [refusal("cache_rejected"), "one", "two"],
      ports: { policy: policy() },
    });
    await host.say("hi");
    await host.say("more", { model: SIGNED });
    expect(host.ports.model.calls[2]).not.toHaveProperty("cache");
  });

  it.each(["refused", "invalid_request", "aborted"] as const)(
    "is told at once when nothing could be sent differently: %s",
    async (kind) => {
      const host = testHost({ replies: [refusal(kind), "two"] });
      expect(await host.say("hi")).toMatchObject({ error: { kind } });
      expect(host.ports.model.calls).toHaveLength(1);
    },
  );
});
