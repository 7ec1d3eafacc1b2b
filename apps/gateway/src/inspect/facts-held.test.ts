import type { AgentMessage } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import { reply, user } from "../testing/recording.ts";
import { factsHeld } from "./facts-held.ts";

const printed = (text: string) =>
  ({
    ...{ role: "toolResult", toolCallId: "a", toolName: "read", isError: false },
    content: [{ type: "text", text }],
  }) as AgentMessage;
const asks = (path: string) =>
  ({
    role: "assistant",
    content: [{ type: "toolCall", id: "a", name: "read", arguments: { path } }],
    stopReason: "toolUse",
  }) as AgentMessage;

describe("what a summary holds", () => {
  it("is counted by what persons and the model said, each once, by kind", async () => {
    const messages = [
      user("The gate in src/harbour/lock-gate.ts closes after 4,096 ms, ticket KEY-4711."),
      asks("src/harbour/pump.ts"),
      printed("src/harbour/never-taken-up.ts 77777 openSluice"),
      reply("lockGate is called in src/harbour/lock-gate.ts; 4,096 ms is too long."),
    ];
    const summary = "src/harbour/lock-gate.ts closes after 4,096 ms (KEY-4711).";
    const facts = await factsHeld(messages, summary);
    expect(facts.kinds.paths).toEqual({ all: 2, held: 1 });
    expect(facts.kinds.numbers).toEqual({ all: 1, held: 1 });
    expect(facts.kinds.ids).toEqual({ all: 1, held: 1 });
    expect(facts.kinds.symbols).toEqual({ all: 1, held: 0 });
    expect([facts.all, facts.held]).toEqual([5, 3]);
    expect(facts.missing.toSorted()).toEqual(["lockGate", "src/harbour/pump.ts"]);
  });

  it("are the paths of a ledger, whose folder is written once for its files", async () => {
    const messages = [user("See src/harbour/window-berth.ts and src/harbour/pilot.ts.")];
    const summary = "## Files\nsrc/harbour/: lock.ts (edited @e1) window-berth.ts";
    expect(await factsHeld(messages, summary)).toMatchObject({
      ...{ all: 2, held: 1, missing: ["src/harbour/pilot.ts"] },
    });
  });

  it("names what was said most often first, and as many as can be read", async () => {
    const files = Array.from({ length: 40 }, (_, at) => `src/part-${at}/file.ts`);
    const messages = [
      ...files.map((file) => user(`Look at ${file}.`)),
      user("src/part-7/file.ts?"),
    ];
    const facts = await factsHeld(messages, "Nothing.");
    expect([facts.all, facts.held, facts.missing.length]).toEqual([40, 0, 20]);
    expect(facts.missing[0]).toBe("src/part-7/file.ts");
  });

  it("is all where nothing exact was said", async () => {
    expect(await factsHeld([user("Thank you, that was all.")], "")).toMatchObject({
      ...{ all: 0, held: 0, missing: [] },
    });
  });
});
