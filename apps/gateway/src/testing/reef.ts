// An engine plugin for tests that recalls as lossless-claw does, by a session of its own.
import { join } from "node:path";
import { writePlugin } from "./plugins.ts";

/** Calls in the order, and with the fields, that lossless-claw uses. */
const CODE = `
import { randomUUID } from "node:crypto";
const said = new Map();
const grants = new Map();
const textOf = ({ content }) =>
  typeof content === "string" ? content : content.map(({ text = "" }) => text).join("");
const isChild = (key) => key.includes(":subagent:");
const textResult = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }] });
const isRefused = ({ message }) => /not authorized|not allowlisted/.test(message);
const queue = [];

async function ask({ api, sessionKey, query }) {
  const { subagent } = api.runtime;
  if (isChild(sessionKey)) return { error: "reef_expand_query is not for subagents" };
  const child = "agent:main:subagent:" + randomUUID();
  grants.set(child, sessionKey);
  try {
    const base = {
      sessionKey: child,
      message: "Find out, by this call:\\nRUN reef_expand " + JSON.stringify({ query }),
      deliver: false,
      lane: "subagent",
      idempotencyKey: randomUUID(),
      extraSystemPrompt: "You answer from the record.",
    };
    const { expansionModel: model } = api.pluginConfig ?? {};
    const { runId } = await subagent
      .run({ ...base, ...(model && { provider: model.split("/")[0], model: model.split("/")[1] }) })
      .catch((error) => {
        if (!model || !isRefused(error)) throw error;
        return subagent.run({ ...base, idempotencyKey: randomUUID() });
      });
    const { status, error } = await subagent.waitForRun({ runId, timeoutMs: 120_000 });
    if (status !== "ok") return { error: status + ": " + (error ?? "") };
    const { messages } = await subagent.getSessionMessages({ sessionKey: child, limit: 80 });
    const reply = messages.findLast(({ role }) => role === "assistant");
    return { answer: textOf(reply) };
  } catch (error) {
    return { error: error.message };
  } finally {
    grants.delete(child);
    await subagent.deleteSession({ sessionKey: child, deleteTranscript: true }).catch(() => {});
  }
}

export default { register(api) {
  api.registerContextEngine("reef", () => ({
    info: {
      id: "reef",
      name: "Reef",
      hostRequirements: {
        "subagent-spawn": { requiredCapabilities: ["thread-bootstrap-projection"] },
      },
    },
    ingest: async () => ({ ingested: true }),
    afterTurn: async ({ sessionKey, messages }) => void said.set(sessionKey, messages.map(textOf)),
    assemble: async ({ messages }) => ({ messages: messages.slice(-2), estimatedTokens: 0 }),
    compact: async () => ({ ok: true, compacted: false, reason: "nothing to do" }),
    prepareSubagentSpawn: async ({ childSessionKey }) => {
      grants.set(childSessionKey, "nothing of it");
      return { rollback() {} };
    },
  }));
  api.registerTool(({ sessionKey = "" }) => ({
    name: "reef_expand_query",
    description: "Asks the record.",
    parameters: { type: "object", properties: { query: { type: "string" } } },
    execute: async (_id, { query }) => textResult(await ask({ api, sessionKey, query })),
  }), { names: ["reef_expand_query"] });
  api.registerTool(({ sessionKey = "" }) => isChild(sessionKey) && {
    name: "reef_expand",
    description: "Reads what was granted.",
    parameters: { type: "object", properties: { query: { type: "string" } } },
    execute: async (_id, { query }) => {
      const record = said.get(grants.get(sessionKey));
      return textResult(record?.filter((text) => text.includes(query)) ?? "nothing is granted");
    },
  }, { names: ["reef_expand"] });
  api.registerCommand({
    name: "reef",
    description: "Asks the record, by whoever works through the queue.",
    acceptsArgs: true,
    handler: ({ args, sessionKey }) => new Promise((resolve) => {
      queue.push(async () =>
        resolve({ text: JSON.stringify(await ask({ api, sessionKey, query: args })) }));
    }),
  });
  const timer = setInterval(() => void queue.shift()?.(), 10);
  timer.unref();
} };
`;

/** Writes it where a home loads it; the settings that select it. */
export function writeReef(home: string, entry: Record<string, unknown> = {}) {
  writePlugin(join(home, "plugins/reef"), {
    id: "reef",
    manifest: { contracts: { tools: ["reef_expand_query", "reef_expand"] } },
    code: CODE,
  });
  const tools = { allow: ["reef_expand_query", "reef_expand"] };
  return { slots: { contextEngine: "reef" }, entries: { reef: { tools, ...entry } } };
}
