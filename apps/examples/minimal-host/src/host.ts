// A host in forty lines: a transcript in memory, the offline model, and any context engine.
import { createHash, randomUUID } from "node:crypto";
import {
  createEngineRegistry,
  createSessionState,
  type ModelPort,
  resolveContextEngine,
  runTurn,
  type TranscriptPort,
} from "@clew/engine-core";
import { createLegacyEngine } from "@clew/legacy-engine";
import type { ContextEngineFactory } from "@clew/plugin-sdk/core";
import type { ModelRef } from "@clew/plugin-sdk/host";
import { activeBranch, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { completeModel, streamModel } from "@clew/providers";

const MODEL: ModelRef = {
  provider: "offline",
  api: "offline",
  id: "offline",
  contextWindow: 200_000,
  maxOutputTokens: 4_096,
};
const endpoint = { baseUrl: "" };
const clock = { now: () => Date.now(), monotonic: () => performance.now() };
const ids = {
  next: () => randomUUID(),
  hash: (text: string) => createHash("sha256").update(text).digest("hex"),
};

function memoryTranscript(entries: TranscriptEntry[] = []): TranscriptPort {
  return {
    session: {
      agentId: "main",
      sessionId: "demo",
      sessionKey: "agent:main:demo",
      sessionFile: "demo.jsonl",
    },
    exists: () => false, // There is no file an engine could read.
    branch: () => activeBranch(entries),
    append: async (fresh) =>
      fresh.map((entry) => {
        const place = {
          id: randomUUID(),
          parentId: entries.at(-1)?.id ?? null,
          timestamp: new Date().toISOString(),
        };
        entries.push({ ...entry, ...place });
        return entries.at(-1)!;
      }),
    rewrite: async () => ({
      changed: false,
      bytesFreed: 0,
      rewrittenEntries: 0,
      reason: "this host rewrites nothing",
    }),
  };
}

/** A conversation: each call is one turn and gives the reply's text, or throws why there is none. */
export function createHost(engine: ContextEngineFactory) {
  const log = { info() {}, warn: console.warn, error: console.error };
  const registry = createEngineRegistry({ fallback: () => createLegacyEngine(), log, clock });
  registry.register({ engineId: "mine", owner: "plugin:mine", factory: engine });
  const model: ModelPort = {
    stream: (call) => streamModel({ call, endpoint }),
    complete: (call) => completeModel({ call, endpoint }),
  };
  const ports = { transcript: memoryTranscript(), model, log, clock, ids };
  const state = createSessionState();
  return async (text: string) => {
    const resolved = await resolveContextEngine({
      registry,
      config: { plugins: { slots: { contextEngine: "mine" } } },
    });
    const systemPrompt = [{ id: "base", text: "You are helpful." }];
    return runTurn({
      engine: resolved,
      ports,
      state,
      model: MODEL,
      systemPrompt,
      prompt: { content: text },
    });
  };
}
