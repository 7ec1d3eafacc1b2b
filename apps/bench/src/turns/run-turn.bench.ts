// What the host itself adds to a turn, at three lengths of history.

import { createHash } from "node:crypto";
import {
  createEngineRegistry,
  createSessionState,
  type HostPorts,
  partOfBranch,
  resolveContextEngine,
  runTurn,
  type TranscriptPort,
} from "@clew/engine-core";
import { createLegacyEngine } from "@clew/legacy-engine";
import { type AgentMessage, type ContextEngine, messageId } from "@clew/plugin-sdk/core";
import type { ModelCall, StreamEvent } from "@clew/plugin-sdk/host";
import {
  type NewTranscriptEntry,
  placeEntry,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import { silentLog } from "../../../gateway/src/log/silent.ts";
import {
  type BenchCase,
  type CaseResult,
  defineBench,
  type PreparedCase,
} from "../runner/bench.ts";

const LENGTHS = [100, 1_000, 10_000];
const caseName = (messages: number, copies = false) =>
  `${messages} messages${copies ? ", copies" : ""}`;
/**
 * Goal: a hundred times the history costs at most half as much again. What remains are copies of
 * pointer lists; a busy machine measures up to ×3.
 */
const MOST_FOR_LENGTH = 3;

const clock = { now: () => Date.now(), monotonic: () => performance.now() };

function memoryTranscript(messages: number): TranscriptPort & { cut(): void } {
  const entries: TranscriptEntry[] = [];
  let made = 0;
  const append = (fresh: readonly NewTranscriptEntry[]) =>
    fresh.map((entry) => {
      const placed = placeEntry(entry, {
        id: `e${made++}`,
        parentId: entries.at(-1)?.id ?? null,
        timestamp: "2026-01-01T00:00:00Z",
      });
      entries.push(placed);
      return placed;
    });
  for (let index = 0; index < messages; index++)
    append([{ type: "message", message: historyMessage(index) }]);
  return {
    session: {
      agentId: "main",
      sessionId: "bench",
      sessionKey: "agent:main:bench",
      sessionFile: "/bench.jsonl",
    },
    exists: () => true,
    read: async (part) => partOfBranch(entries, part),
    append: async (fresh) => append(fresh),
    rewrite: () => Promise.reject(new Error("not in this bench")),
    /** Back to the first length, so that each round measures the same history. */
    cut() {
      if (entries.length < messages + 400) return;
      entries.length = messages;
    },
  };
}

function historyMessage(index: number): AgentMessage {
  const text = `Message ${index}: the quick brown fox looks at file src/module-${index % 97}.ts and thinks about it for a while.`;
  if (index % 2 === 0) return { role: "user", content: text, timestamp: index };
  return {
    role: "assistant",
    content: [{ type: "text", text }],
    stopReason: "stop",
    timestamp: index,
  };
}

/** Returns what a store would: copies of its own, made once per message. */
function copyingEngine(): ContextEngine {
  const copies = new Map<string, AgentMessage>();
  const copyOf = (message: AgentMessage): AgentMessage => {
    const id = messageId(message)!;
    const known = copies.get(id) ?? structuredClone(message);
    copies.set(id, known);
    return known;
  };
  return {
    ...createLegacyEngine(),
    info: { id: "copies", name: "Copies" },
    assemble: ({ messages }) => ({ messages: messages.map(copyOf), estimatedTokens: 0 }),
  };
}

async function* answer(_call: ModelCall): AsyncIterable<StreamEvent> {
  yield {
    type: "done",
    message: { role: "assistant", content: [{ type: "text", text: "ok" }], stopReason: "stop" },
  };
}

async function prepare(messages: number, copies: boolean): Promise<PreparedCase> {
  const transcript = memoryTranscript(messages);
  const registry = createEngineRegistry({
    fallback: () => createLegacyEngine(),
    log: silentLog,
    clock,
  });
  if (copies)
    registry.register({ engineId: "copies", owner: "plugin:bench", factory: copyingEngine });
  const engine = await resolveContextEngine({
    registry,
    config: { plugins: { slots: { contextEngine: copies ? "copies" : "legacy" } } },
  });
  const state = createSessionState();
  let ids = 0;
  const ports: HostPorts = {
    transcript,
    model: { stream: answer, complete: () => Promise.reject(new Error("not in this bench")) },
    policy: {
      sanitizeHistory: async (input) => ({
        messages: input.messages,
        changes: [],
        sideRecords: [],
      }),
      repairPairing: (input) => ({ messages: input.messages, changes: [] }),
      prepareOutbound: (input) => ({ messages: input.messages, changes: [] }),
    },
    log: silentLog,
    clock,
    ids: {
      next: () => `id-${ids++}`,
      hash: (text) => createHash("sha256").update(text).digest("hex"),
    },
  };
  const model = {
    provider: "bench",
    api: "none",
    id: "instant",
    contextWindow: 10_000_000,
    maxOutputTokens: 1_000,
  };
  const turn = async () => {
    const { report } = await runTurn({
      engine,
      ports,
      state,
      model,
      systemPrompt: [{ id: "base", text: "Bench." }],
      prompt: { content: "next" },
    });
    transcript.cut();
    return report;
  };
  let report = await turn();
  return {
    run: async () => {
      report = await turn();
      return report;
    },
    facts: () => ({ reportBytes: JSON.stringify(report).length }),
  };
}

export default defineBench({
  name: "run-turn",
  description:
    "time per turn without model, disk or policy; goals: 0.3 ms at 1,000 messages; 10,000 at most ×1.5 of 100; copies at most ×1.3 of what was given",
  cases: LENGTHS.flatMap((messages): BenchCase[] => [
    {
      name: caseName(messages),
      ...(messages !== LENGTHS[0] && { compareTo: caseName(LENGTHS[0]!) }),
      prepare: () => prepare(messages, false),
    },
    {
      name: caseName(messages, true),
      compareTo: caseName(messages),
      prepare: () => prepare(messages, true),
    },
  ]),
  check(results: ReadonlyMap<string, CaseResult>) {
    const ratio = results.get(caseName(10_000))?.ratio ?? Number.POSITIVE_INFINITY;
    return ratio <= MOST_FOR_LENGTH
      ? []
      : [`A turn at 10,000 messages takes ×${ratio.toFixed(1)} of one at 100.`];
  },
});
