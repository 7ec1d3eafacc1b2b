// Runs turns of one engine with what is installed beside it, and prints their reports.
import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import {
  compactSession,
  createEngineRegistry,
  createSessionState,
  resolveContextEngine,
  runTurn,
} from "@clew/engine-core";
import { createMemoryEngine } from "@clew/plugin-sdk/testing";

const { createEngine } = await import(process.argv[2]);
const engineId = "tried";

const quiet = () => {};
const log = { info: quiet, warn: console.error, error: console.error };
const clock = { now: () => Date.now(), monotonic: () => performance.now() };
const hash = (text) => createHash("sha256").update(text).digest("hex");
const ids = { next: () => randomUUID(), hash };
const ref = {
  provider: "stub",
  api: "stub",
  id: "stub",
  contextWindow: 32_000,
  maxOutputTokens: 4_096,
};

/** Says what it was shown; asks for the tool, or fails, when the prompt says so. */
const model = {
  async *stream({ messages }) {
    const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15 };
    const reply = (content, stopReason) => ({ role: "assistant", content, stopReason, usage });
    const said = (message) =>
      typeof message.content === "string"
        ? message.content
        : message.content.map((block) => block.text ?? "").join("");
    const last = messages.at(-1);
    if (last.role === "user" && said(last).includes("fail")) {
      const partial = { ...reply([], "error"), errorMessage: "no answer" };
      yield { type: "error", error: { kind: "unavailable", message: "no answer" }, partial };
    } else if (last.role === "user" && said(last).includes("look")) {
      const call = { type: "toolCall", id: `call-${messages.length}`, name: "look", arguments: {} };
      yield { type: "tool_call", call };
      yield { type: "done", message: reply([call], "toolUse") };
    } else {
      const shown = messages.filter(({ role }) => role !== "assistant");
      const text = `I see: ${shown.map(said).join(" | ")}`;
      yield { type: "done", message: reply([{ type: "text", text }], "stop") };
    }
  },
  complete: () => Promise.reject(new Error("nobody asks")),
};
const tools = {
  list: () => [
    { name: "look", description: "Looks.", parameters: { type: "object", properties: {} } },
  ],
  run: async () => ({ content: [{ type: "text", text: "the tide is out" }], isError: false }),
};

/** What a newer release does not ask for stays until no older one does. */
function memoryTranscript() {
  const entries = [];
  return {
    session: {
      agentId: "main",
      sessionId: "skew",
      sessionKey: "agent:main:skew",
      sessionFile: "skew.jsonl",
    },
    exists: () => false,
    branch: () => entries.slice(),
    async read(part) {
      if ("tail" in part) return part.tail > 0 ? entries.slice(-part.tail) : [];
      const index = entries.findIndex(({ id }) => id === part.after);
      return index < 0 && part.after !== null ? null : entries.slice(index + 1);
    },
    append: async (added) =>
      added.map((entry) => {
        const parentId = entries.at(-1)?.id ?? null;
        const id =
          entry.type === "message" ? (entry.message.__openclaw?.id ?? randomUUID()) : randomUUID();
        const message = entry.message && {
          ...entry.message,
          __openclaw: { id, ...entry.message.__openclaw },
        };
        entries.push({
          ...entry,
          ...(message && { message }),
          id,
          parentId,
          timestamp: new Date().toISOString(),
        });
        return entries.at(-1);
      }),
    rewrite: async () => ({ changed: false, bytesFreed: 0, rewrittenEntries: 0, reason: "never" }),
  };
}

const registry = createEngineRegistry({ fallback: () => createMemoryEngine(), log, clock });
registry.register({ engineId, owner: "plugin:tried", factory: (context) => createEngine(context) });
const config = { plugins: { slots: { contextEngine: engineId } } };
const ports = { transcript: memoryTranscript(), model, tools, log, clock, ids };
const shared = { ports, state: createSessionState(), model: ref };

const keep = (report) => appendFileSync(process.argv[3], `${JSON.stringify(report)}\n`);

async function ask(text) {
  const engine = await resolveContextEngine({
    registry,
    config,
    context: { agentDir: process.cwd() },
  });
  const systemPrompt = [{ id: "base", text: "You are a test." }];
  const result = await runTurn({ ...shared, engine, systemPrompt, prompt: { content: text } });
  const { report } = result;
  keep(report);
  assert.equal(report.v, 1);
  assert.equal(report.engine.ran, engineId);
  assert.equal(report.engine.degraded, null, JSON.stringify(report.engine.degraded));
  for (const call of report.engineCalls) assert.equal(call.outcome, "ok", JSON.stringify(call));
  return result;
}

assert.equal((await ask("locker 17")).outcome, "completed");
assert.equal((await ask("please look")).report.toolCalls.length, 1);
assert.equal((await ask("please fail")).outcome, "failed");
const { reply } = await ask("and now?");
const [{ text }] = reply.content;
for (const said of ["locker 17", "the tide is out", "please fail", "and now?"])
  assert.equal(text.split(said).length, 2, `"${said}" is not there once: ${text}`);

const engine = await resolveContextEngine({
  registry,
  config,
  context: { agentDir: process.cwd() },
});
const { result, report } = await compactSession({ ...shared, engine });
keep(report);
assert.equal(typeof result.compacted, "boolean");
await registry.dispose();
