import { AsyncLocalStorage } from "node:async_hooks";
import type { AgentMessage, CompactParams } from "@clew/plugin-sdk/core";
import {
  isRuntimeCompactionDelegate,
  provideRuntimeCompaction,
  type RuntimeCompaction,
} from "@clew/plugin-sdk/host";
import { describe, expect, it } from "vitest";
import { createLegacyEngine } from "./engine.ts";

const session = { sessionId: "s1", sessionKey: "main", sessionFile: "/nowhere/s1.jsonl" };
const messages: AgentMessage[] = [
  { role: "user", content: "one" },
  { role: "assistant", content: [{ type: "text", text: "two" }], stopReason: "stop" },
];

describe("the legacy engine", () => {
  it("says who it is, and claims no compaction of its own", () => {
    expect(createLegacyEngine().info).toEqual({
      id: "legacy",
      name: "Legacy Context Engine",
      version: "1.0.0",
    });
  });

  it("has only the four required members, so that a host calls nothing else", () => {
    expect(Object.keys(createLegacyEngine()).sort()).toEqual([
      "assemble",
      "compact",
      "info",
      "ingest",
    ]);
  });

  it("returns the very messages it was given, unchanged, whatever the budget", async () => {
    const before = structuredClone(messages);
    for (const tokenBudget of [undefined, 0, 1_000_000]) {
      const params = { ...session, messages, ...(tokenBudget !== undefined && { tokenBudget }) };
      const result = await createLegacyEngine().assemble(params);
      expect(result).toEqual({ messages, estimatedTokens: 0 });
      expect(result.messages).toBe(messages);
    }
    expect(messages).toEqual(before);
  });

  it("records nothing", async () => {
    const engine = createLegacyEngine();
    for (const message of messages)
      expect(await engine.ingest({ ...session, message })).toEqual({ ingested: false });
  });

  it("says so where the host has no built-in compaction", async () => {
    expect(await createLegacyEngine().compact(session)).toEqual({
      ok: false,
      compacted: false,
      code: "no-built-in",
      reason: expect.stringContaining("no built-in compaction"),
    });
  });

  it("hands compaction to the host with the same session, budget and instructions, and the answer back", async () => {
    const slot = new AsyncLocalStorage<RuntimeCompaction>();
    provideRuntimeCompaction(slot);
    const seen: CompactParams[] = [];
    const answer = { ok: true, compacted: true, result: { tokensBefore: 900, tokensAfter: 100 } };
    const builtIn: RuntimeCompaction = async (params) => {
      seen.push(params);
      return answer;
    };
    const params = {
      ...session,
      tokenBudget: 500,
      currentTokenCount: 900,
      customInstructions: "keep names",
      force: true,
    };
    expect(await slot.run(builtIn, async () => createLegacyEngine().compact(params))).toEqual(
      answer,
    );
    expect(seen).toMatchObject([params]);
  });

  it("lets a host recognise that its compaction is the delegate", () => {
    expect(isRuntimeCompactionDelegate(createLegacyEngine().compact)).toBe(true);
  });
});
