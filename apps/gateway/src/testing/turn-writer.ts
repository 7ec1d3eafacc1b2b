// A process that runs one turn until it is killed at a named moment.
import {
  createEngineRegistry,
  createSessionState,
  type ModelPort,
  resolveContextEngine,
  runTurn,
  type TranscriptPort,
} from "@clew/engine-core";
import { type ContextEngine, messageId } from "@clew/plugin-sdk/core";
import { openReportLog } from "../reports/report-log.ts";
import { agentPaths } from "../sessions/paths.ts";
import { createSessionStore } from "../sessions/store.ts";

const [home = "", text = "", killedAfter] = process.argv.slice(2);
const session = await createSessionStore({ home }).open({ key: "main", cwd: home });

async function dieAfter(moment: "reply" | "acknowledgement"): Promise<void> {
  if (moment !== killedAfter) return;
  process.kill(process.pid, "SIGKILL");
  await new Promise(() => {});
}

const transcript: TranscriptPort = {
  ...session,
  async append(entries) {
    const stored = await session.append(entries);
    const isReply = (entry: (typeof entries)[number]) =>
      entry.type === "message" && entry.message.role === "assistant";
    if (entries.some(isReply)) await dieAfter("reply");
    return stored;
  },
  deliveries: {
    ...session.deliveries!,
    async save(engineId, change) {
      await session.deliveries!.save(engineId, change);
      if (change.kind === "acknowledged") await dieAfter("acknowledgement");
    },
  },
};
const message = {
  ...{ role: "assistant" as const, content: [{ type: "text" as const, text: "ok" }] },
  stopReason: "stop" as const,
};
const model: ModelPort = {
  async *stream() {
    yield { type: "done", message };
  },
  complete: async () => ({ ok: true, message }),
};
const log = { info() {}, warn: console.error, error: console.error };
const clock = { now: () => Date.now(), monotonic: () => performance.now() };
const passThrough: ContextEngine = {
  info: { id: "legacy", name: "Pass-through" },
  ingest: () => ({ ingested: false }),
  assemble: ({ messages }) => ({ messages, estimatedTokens: 0 }),
  compact: () => ({ ok: false, compacted: false }),
};
const registry = createEngineRegistry({ fallback: () => passThrough, log, clock });
registry.register({
  engineId: "telling",
  owner: "plugin:telling",
  factory: () => ({
    ...passThrough,
    info: { id: "telling", name: "Telling" },
    afterTurn({ messages, prePromptMessageCount }) {
      for (const each of messages.slice(prePromptMessageCount)) console.log(messageId(each));
    },
  }),
});
const { report, parts } = await runTurn({
  engine: await resolveContextEngine({
    registry,
    config: { plugins: { slots: { contextEngine: "telling" } } },
  }),
  ports: {
    ...{ transcript, model, log, clock },
    ids: { next: () => crypto.randomUUID(), hash: (content) => String(content.length) },
  },
  state: createSessionState(),
  model: { provider: "p", api: "a", id: "m", contextWindow: 100_000, maxOutputTokens: 1_000 },
  systemPrompt: [],
  prompt: { content: text },
});
const { agentId, sessionId } = session.session;
const reports = openReportLog(agentPaths(home, agentId).reports, sessionId);
await reports.append(report, parts);
await reports.close();
await session.close();
