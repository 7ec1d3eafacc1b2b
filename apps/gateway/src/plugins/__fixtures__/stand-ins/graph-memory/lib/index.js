// Stands in for graph-memory: an engine of a manifest without a kind, that opens its files at once.
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const textOf = ({ content }) =>
  typeof content === "string" ? content : (content ?? []).map(({ text = "" }) => text).join("\n");

function openGraph() {
  // It knows one place only, the person's home.
  const folder = join(homedir(), ".openclaw");
  mkdirSync(folder, { recursive: true });
  const db = new DatabaseSync(join(folder, "graph-memory.db"));
  db.exec(
    "CREATE TABLE IF NOT EXISTS facts (session TEXT, text TEXT, PRIMARY KEY (session, text))",
  );
  return db;
}

const plugin = {
  id: "stand-in-graph-memory",
  name: "Stand-in for graph-memory",
  register(api) {
    const db = openGraph();
    const { freshTurns = 3 } = api.pluginConfig ?? {};
    const remember = (session, message) =>
      db.prepare("INSERT OR IGNORE INTO facts VALUES (?, ?)").run(session, textOf(message));
    const recall = (query) =>
      query
        .split(/\W+/)
        .filter((word) => word.length > 3)
        .flatMap((word) => db.prepare("SELECT text FROM facts WHERE text LIKE ?").all(`%${word}%`))
        .map(({ text }) => text);
    api.registerContextEngine("graph-memory", () => ({
      info: { id: "graph-memory", name: "Graph memory", ownsCompaction: true },
      async bootstrap() {
        return { bootstrapped: true };
      },
      async ingest({ sessionId, message, isHeartbeat }) {
        if (isHeartbeat) return { ingested: false };
        if (message.role === "user") remember(sessionId, message);
        return { ingested: true };
      },
      async assemble({ messages, prompt = "" }) {
        const turns = messages.flatMap(({ role }, at) => (role === "user" ? [at] : []));
        const view = messages.slice(turns.at(-freshTurns) ?? 0);
        const known = recall(prompt).slice(0, 5);
        const estimatedTokens = view.reduce((sum, each) => sum + textOf(each).length / 3 + 8, 0);
        return {
          messages: view,
          estimatedTokens: Math.ceil(estimatedTokens),
          ...(known.length > 0 && { systemPromptAddition: `<graph>${known.join("; ")}</graph>` }),
        };
      },
      async compact({ currentTokenCount = 0 }) {
        return {
          ok: true,
          compacted: true,
          result: { summary: "", tokensBefore: currentTokenCount, tokensAfter: 0 },
        };
      },
      async afterTurn({ sessionId, messages, prePromptMessageCount, isHeartbeat }) {
        if (isHeartbeat) return;
        for (const message of messages.slice(prePromptMessageCount))
          if (message.role === "user") remember(sessionId, message);
      },
      async prepareSubagentSpawn() {
        return { rollback() {} };
      },
      async onSubagentEnded() {},
      async dispose() {},
    }));
    for (const name of ["gm_search", "gm_record", "gm_stats"])
      api.registerTool(
        ({ sessionKey, sessionId = sessionKey }) => ({
          name,
          label: name,
          description: name,
          parameters: { type: "object", properties: { query: { type: "string" } } },
          execute: async (_id, { query = "" }) => {
            if (name === "gm_record") remember(sessionId, { content: query });
            return { content: [{ type: "text", text: recall(query).join("; ") || "nothing" }] };
          },
        }),
        { name },
      );
    api.on("before_prompt_build", async () => ({
      appendSystemContext: "Facts in <graph> are of this graph.",
    }));
    api.on("session_end", async ({ sessionId }) => api.logger.info(`${sessionId} has ended`));
  },
};

export default plugin;
