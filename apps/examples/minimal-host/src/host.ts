// A host with durable sessions, a tool, compaction and an orderly end.
import { createHash, randomUUID } from "node:crypto";
import {
  createEngineRegistry,
  createSessionState,
  type HostPorts,
  resolveContextEngine,
  runTurn,
  settleMaintenance,
} from "@clew/engine-core";
import { compactTranscript, createLegacyEngine } from "@clew/legacy-engine";
import type { ContextEngineFactory } from "@clew/plugin-sdk/core";
import { createTranscriptPolicy } from "@clew/transcript-policy";
import { model, offline } from "./offline-model.ts";
import { openSession } from "./session-file.ts";
import { tools } from "./tools.ts";

const log = { info() {}, warn: console.warn, error: console.error };
const clock = { now: () => Date.now(), monotonic: () => performance.now() };
const hash = (text: string) => createHash("sha256").update(text).digest("hex");
const ids = { next: () => randomUUID(), hash };
const policy = createTranscriptPolicy();
const systemPrompt = [{ id: "base", text: "You are helpful." }];
const sessionKey = "agent:main:demo";

/** One session: `ask` runs one turn and gives its result, `stop` ends the host. */
export function createHost(options: { factory: ContextEngineFactory; sessionFile: string }) {
  const registry = createEngineRegistry({ fallback: () => createLegacyEngine(), log, clock });
  registry.register({ engineId: "mine", owner: "plugin:mine", factory: options.factory });
  const config = { plugins: { slots: { contextEngine: "mine" } } };

  const transcript = openSession(options.sessionFile, sessionKey);
  const summariser = { ref: offline, complete: model.complete };
  const compaction: HostPorts["compaction"] = {
    compact: (ask, given) => compactTranscript({ transcript, model: summariser, ...ask, ...given }),
  };
  const ports = { transcript, model, policy, tools, compaction, log, clock, ids };
  const state = createSessionState();
  const stopping = new AbortController();
  const running = new Set<Promise<unknown>>();

  async function turn(text: string) {
    const { signal } = stopping;
    // Without the signal: the message is stored by the turn, also when the host stops meanwhile.
    const engine = await resolveContextEngine({ registry, config, sessionKey });
    const prompt = { content: text };
    return runTurn({ engine, ports, state, model: offline, systemPrompt, prompt, signal });
  }
  return {
    ask(text: string) {
      const result = turn(text).finally(() => running.delete(result));
      running.add(result);
      return result;
    },
    async stop() {
      stopping.abort();
      await Promise.allSettled(running);
      await settleMaintenance(state.maintenance, 5_000);
      await registry.dispose();
    },
  };
}
