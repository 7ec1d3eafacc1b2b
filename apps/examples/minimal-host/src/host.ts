// A whole host in one file, with a transcript in memory and the offline model.
import { createHash, randomUUID } from "node:crypto";
import {
  createEngineRegistry,
  createSessionState,
  type HostPorts,
  partOfBranch,
  resolveContextEngine,
  runTurn,
  type TranscriptPort,
} from "@clew/engine-core";
import {
  type CompactionTranscript,
  compactTranscript,
  createLegacyEngine,
} from "@clew/legacy-engine";
import type { ContextEngineFactory } from "@clew/plugin-sdk/core";
import type { ModelCall } from "@clew/plugin-sdk/host";
import { activeBranch, placeEntry, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { completeModel, streamModel } from "@clew/providers";
import { createTranscriptPolicy } from "@clew/transcript-policy";

const limits = { contextWindow: 32_000, maxOutputTokens: 4_096 };
const ref = { provider: "offline", api: "offline", id: "offline", ...limits };
const endpoint = { baseUrl: "" };
const model = {
  stream: (call: ModelCall) => streamModel({ call, endpoint }),
  complete: (call: ModelCall) => completeModel({ call, endpoint }),
};
const log = { info() {}, warn: console.warn, error: console.error };
const clock = { now: () => Date.now(), monotonic: () => performance.now() };
const ids = {
  next: () => randomUUID(),
  hash: (text: string) => createHash("sha256").update(text).digest("hex"),
};

/** Lives as long as the process; a real host appends each entry to a file before it resolves. */
function memoryTranscript(): TranscriptPort & CompactionTranscript {
  const entries: TranscriptEntry[] = [];
  return {
    session: { agentId: "main", sessionId: "demo", sessionKey: "agent:main:demo" },
    exists: () => entries.length > 0,
    read: async (part) => partOfBranch(activeBranch(entries), part),
    branch: () => activeBranch(entries), // For the built-in compaction.
    append: async (added) =>
      added.map((entry) => {
        const timestamp = new Date().toISOString();
        const place = { id: randomUUID(), parentId: entries.at(-1)?.id ?? null, timestamp };
        entries.push(placeEntry(entry, place));
        return entries.at(-1)!;
      }),
    rewrite: async () => {
      const reason = "this host rewrites nothing";
      return { changed: false, bytesFreed: 0, rewrittenEntries: 0, reason };
    },
  };
}

/**
 * One session: each call runs one turn and gives its result, the reply or the reason there is none.
 */
export function createHost(factory: ContextEngineFactory) {
  const registry = createEngineRegistry({ fallback: () => createLegacyEngine(), log, clock });
  registry.register({ engineId: "mine", owner: "plugin:mine", factory });
  const config = { plugins: { slots: { contextEngine: "mine" } } };

  const transcript = memoryTranscript();
  const compaction: HostPorts["compaction"] = {
    compact: (ask, options) => {
      const summariser = { ref, complete: model.complete };
      return compactTranscript({ transcript, model: summariser, ...ask, ...options });
    },
  };
  const ports = {
    transcript,
    model,
    policy: createTranscriptPolicy(),
    compaction,
    log,
    clock,
    ids,
  };
  const state = createSessionState();
  const systemPrompt = [{ id: "base", text: "You are helpful." }];

  return async (text: string) => {
    const engine = await resolveContextEngine({ registry, config });
    return runTurn({ engine, ports, state, model: ref, systemPrompt, prompt: { content: text } });
  };
}
