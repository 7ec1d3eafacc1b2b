// A context engine in the manner of plugins written for OpenClaw, as a bundler leaves it: one ES module, everything else resolved at run time.
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";

// src/sdk.ts
const hiddenImport = new Function("specifier", "return import(specifier)");
let core;
const loadCore = () => {
  core ??= import("openclaw/plugin-sdk/core").catch(() => hiddenImport("openclaw/plugin-sdk/core"));
  return core;
};
/** The way that keeps bundlers from following it; both must give the same module. */
const loadCoreHidden = () => hiddenImport("openclaw/plugin-sdk/core");
let redact = (text) => text;
try {
  redact = createRequire(import.meta.url)("openclaw/plugin-sdk/logging-core").redactSensitiveText;
} catch {
  // Optional to this plugin.
}

// src/schema.ts
const Kind = Symbol.for("TypeBox.Kind");
const Type = {
  Object: (properties, options = {}) => ({
    ...options,
    [Kind]: "Object",
    type: "object",
    properties,
    required: Object.keys(properties),
  }),
  String: (options = {}) => ({ ...options, [Kind]: "String", type: "string" }),
};

// src/store.ts
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS messages (
    entry_id TEXT NOT NULL, session_id TEXT NOT NULL, seq INTEGER NOT NULL, role TEXT NOT NULL, text TEXT NOT NULL, json TEXT NOT NULL,
    PRIMARY KEY (session_id, entry_id));
  CREATE TABLE IF NOT EXISTS summaries (
    id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, depth INTEGER NOT NULL, upto_seq INTEGER NOT NULL, text TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS turns (session_id TEXT NOT NULL, expected INTEGER NOT NULL, found INTEGER NOT NULL);
`;

const stateDir = () => process.env.OPENCLAW_STATE_DIR || join(homedir(), ".openclaw");

function openStore(path) {
  mkdirSync(dirname(path), { recursive: true });
  const db = new DatabaseSync(path);
  db.exec("PRAGMA journal_mode = WAL");
  db.exec(SCHEMA);
  const insert = db.prepare(
    "INSERT OR IGNORE INTO messages (entry_id, session_id, seq, role, text, json) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const count = db.prepare("SELECT COUNT(*) AS n FROM messages WHERE session_id = ?");
  return {
    db,
    count: (sessionId) => count.get(sessionId).n,
    /** Imports what the transcript has and the store has not; returns how many. */
    importBranch(sessionId, branch) {
      const before = count.get(sessionId).n;
      db.exec("BEGIN");
      try {
        branch.forEach(({ id, message }, seq) => {
          insert.run(id, sessionId, seq, message.role, textOf(message), JSON.stringify(message));
        });
        db.exec("COMMIT");
      } catch (error) {
        db.exec("ROLLBACK");
        throw error;
      }
      return count.get(sessionId).n - before;
    },
    covered: (sessionId) =>
      db.prepare("SELECT MAX(upto_seq) AS n FROM summaries WHERE session_id = ?").get(sessionId)
        .n ?? 0,
    summaries: (sessionId) =>
      db.prepare("SELECT * FROM summaries WHERE session_id = ? ORDER BY upto_seq").all(sessionId),
    range: (sessionId, from, to) =>
      db
        .prepare(
          "SELECT * FROM messages WHERE session_id = ? AND seq >= ? AND seq < ? ORDER BY seq",
        )
        .all(sessionId, from, to),
    addSummary: (sessionId, uptoSeq, text) =>
      db
        .prepare("INSERT INTO summaries (session_id, depth, upto_seq, text) VALUES (?, 0, ?, ?)")
        .run(sessionId, uptoSeq, text),
    noteTurn: (sessionId, expected, found) =>
      db.prepare("INSERT INTO turns VALUES (?, ?, ?)").run(sessionId, expected, found),
    search: (word) =>
      db
        .prepare("SELECT role, text FROM messages WHERE text LIKE ? ORDER BY seq LIMIT 20")
        .all(`%${word}%`),
  };
}

// src/transcript.ts
function textOf({ content, summary }) {
  if (typeof content === "string") return content;
  if (Array.isArray(content))
    return content.map((block) => block.text ?? block.name ?? "").join("\n");
  return summary ?? "";
}

/** The active branch: from the last line back along the parents, messages only, oldest first. Throws ENOENT when there is no file. */
function readBranch(file) {
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  const entries = lines.slice(1).map((line) => JSON.parse(line));
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const branch = [];
  for (let entry = entries.at(-1); entry !== undefined; entry = byId.get(entry.parentId))
    branch.push(entry);
  return branch.reverse().filter(({ type }) => type === "message");
}

const tokensOf = (text) => Math.ceil(text.length / 4);

// src/engine.ts
const SHARED = Symbol.for("tidepool.shared");
const EVENTS = Symbol.for("tidepool.events");

function createTidepool(api, config) {
  const store = openStore(config.databasePath ?? join(stateDir(), "tidepool.db"));
  const complete = (params) => (params.llm ?? api.runtime.llm)?.complete(params.request);

  async function summarize(rows, llm) {
    const text = rows.map(({ role, text }) => `${role}: ${text}`).join("\n");
    const request = {
      messages: [
        { role: "user", content: `Summarise what was said, keep names and numbers:\n\n${text}` },
      ],
      maxTokens: 400,
      purpose: "tidepool.leaf",
      ...(config.summaryModel && { model: config.summaryModel }),
    };
    try {
      const answer = await complete({ llm, request });
      if (answer?.text?.trim()) return answer.text.trim();
    } catch (error) {
      api.logger.warn(redact(`[tidepool] summary failed: ${error.message}`));
    }
    // Better a cut than nothing.
    return `(without a model) ${text.slice(0, 600)}`;
  }

  /** Summarises everything but the fresh tail, up to the start of a user turn. */
  async function compactOnce(sessionId, llm) {
    const total = store.count(sessionId);
    const from = store.covered(sessionId);
    const rows = store.range(sessionId, from, total);
    let end = Math.max(0, rows.length - config.freshTailCount);
    while (end > 0 && rows[end]?.role !== "user") end--;
    if (end === 0) return null;
    const taken = rows.slice(0, end);
    const summary = await summarize(taken, llm);
    store.addSummary(sessionId, from + end, summary);
    return { summary, tokens: taken.reduce((sum, { text }) => sum + tokensOf(text), 0) };
  }

  const info = {
    id: "tidepool-engine",
    name: "Tidepool",
    version: "0.3.1",
    ownsCompaction: true,
    turnMaintenanceMode: "background",
    hostRequirements: {
      "agent-run": {
        requiredCapabilities: [
          "bootstrap",
          "assemble-before-prompt",
          "after-turn",
          "maintain",
          "compact",
          "runtime-llm-complete",
        ],
        unsupportedMessage: "Tidepool needs an embedded runner.",
      },
    },
  };

  return {
    store,
    engine: {
      info,
      async bootstrap({ sessionId, sessionFile }) {
        const importedMessages = store.importBranch(sessionId, readBranch(sessionFile));
        return { bootstrapped: importedMessages > 0, importedMessages };
      },
      async ingest() {
        return { ingested: false };
      },
      async afterTurn({ sessionId, sessionFile, messages, prePromptMessageCount }) {
        const found = store.importBranch(sessionId, readBranch(sessionFile));
        store.noteTurn(sessionId, messages.length - prePromptMessageCount, found);
      },
      async assemble({ sessionId, messages, tokenBudget = 8000, availableTools, citationsMode }) {
        const sdk = await loadCore();
        const hidden = await loadCoreHidden();
        if (hidden.delegateCompactionToRuntime !== sdk.delegateCompactionToRuntime)
          throw new Error("two different SDKs");
        const addition = sdk.buildMemorySystemPromptAddition({
          availableTools: availableTools ?? new Set(),
          citationsMode,
        });
        // The host may give fewer messages than the store has, never others.
        const notGiven = Math.max(0, store.count(sessionId) - messages.length);
        const fresh = messages.slice(Math.max(0, store.covered(sessionId) - notGiven));
        const summaries = store.summaries(sessionId).map(({ id, depth, text }) => ({
          role: "user",
          content: `<summary id="${id}" kind="leaf" depth="${depth}" trust="untrusted">\n${text}\n</summary>`,
          timestamp: messages[0]?.timestamp,
        }));
        const cost = (list) =>
          list.reduce((sum, message) => sum + tokensOf(textOf(message)) + 8, 0);
        // The newest third at most for summaries, whatever is left for the tail.
        while (summaries.length > 1 && cost(summaries) > tokenBudget / 3) summaries.shift();
        let start = 0;
        while (start < fresh.length && cost(fresh.slice(start)) > tokenBudget - cost(summaries)) {
          start++;
          while (start < fresh.length && fresh[start].role !== "user") start++;
        }
        const view = [...summaries, ...fresh.slice(start)];
        return {
          messages: view,
          estimatedTokens: cost(view),
          promptAuthority: start > 0 ? "preassembly_may_overflow" : "assembled",
          contextProjection: {
            mode: "thread_bootstrap",
            epoch: `summary-prefix-v1:${sessionId}:${summaries.length}`,
          },
          ...(addition && { systemPromptAddition: addition }),
        };
      },
      async maintain({ sessionId, runtimeContext }) {
        const nothing = { changed: false, bytesFreed: 0, rewrittenEntries: 0 };
        if (runtimeContext?.allowDeferredCompactionExecution !== true) return nothing;
        const waiting = store.range(sessionId, store.covered(sessionId), store.count(sessionId));
        if (waiting.reduce((sum, { text }) => sum + tokensOf(text), 0) > config.leafTokens)
          await compactOnce(sessionId, runtimeContext.llm);
        return nothing;
      },
      async compact({ sessionId, tokenBudget, runtimeContext, currentTokenCount = 0 }) {
        if ((tokenBudget ?? runtimeContext?.tokenBudget) === undefined)
          return { ok: false, compacted: false, reason: "missing token budget in compact params" };
        const done = await compactOnce(sessionId, runtimeContext?.llm);
        if (done === null)
          return { ok: true, compacted: false, reason: "nothing older than the fresh tail" };
        const tokensAfter = Math.max(1, currentTokenCount - done.tokens + tokensOf(done.summary));
        return {
          ok: true,
          compacted: true,
          result: { summary: done.summary, tokensBefore: currentTokenCount, tokensAfter },
        };
      },
      async prepareSubagentSpawn() {
        return { rollback: () => undefined };
      },
      async onSubagentEnded() {},
      getControlCapabilities: () => ({ operations: ["status", "doctor"] }),
      async control({ operation }) {
        const { n } = store.db.prepare("SELECT COUNT(*) AS n FROM messages").get();
        const check = store.db.prepare("PRAGMA quick_check").get().quick_check;
        return { ok: check === "ok", text: `${operation}: ${n} messages, database ${check}` };
      },
      // Hosts call it after every operation on what is one engine for the whole process.
      async dispose() {},
    },
  };
}

// src/plugin.ts
const plugin = {
  id: "tidepool-context",
  name: "Tidepool",
  description: "Keeps every message in SQLite and shows the model summaries of what is old.",
  kind: "context-engine",
  configSchema: { parse: (value) => value ?? {} },
  register(api) {
    const log = api.runtime.logging?.getChildLogger({ plugin: api.id }) ?? api.logger;
    const config = { freshTailCount: 8, leafTokens: 2000, ...api.pluginConfig };
    const path = config.databasePath ?? join(stateDir(), "tidepool.db");
    globalThis[SHARED] ??= new Map();
    const shared = () => {
      const known = globalThis[SHARED].get(path) ?? createTidepool(api, config);
      globalThis[SHARED].set(path, known);
      return known;
    };

    // No argument, and a new thin wrapper each time around the one engine.
    api.registerContextEngine("tidepool", () => {
      const { engine } = shared();
      return { ...engine, ingestBatch: undefined };
    });

    api.registerTool(
      ({ sessionKey }) => ({
        name: "tide_grep",
        label: "Tide grep",
        description: `Finds old messages by a word (${sessionKey ?? "no session"}).`,
        parameters: Type.Object({ word: Type.String({ description: "What to look for" }) }),
        annotations: { readOnlyHint: true },
        async execute(_toolCallId, { word }) {
          const hits = shared().store.search(word);
          return {
            content: [
              {
                type: "text",
                text: hits.map(({ role, text }) => `${role}: ${text}`).join("\n") || "nothing",
              },
            ],
            details: { hits: hits.length },
          };
        },
      }),
      { names: ["tide_grep"] },
    );
    api.registerTool({
      name: "tide_count",
      description: "Counts stored messages.",
      parameters: Type.Object({}),
      execute: async () => {
        const { n } = shared().store.db.prepare("SELECT COUNT(*) AS n FROM messages").get();
        return { content: [{ type: "text", text: String(n) }], details: { n } };
      },
    });
    api.registerTool({
      name: "tide_forget",
      description: "Deletes all summaries.",
      parameters: Type.Object({}),
      execute: async () => {
        shared().store.db.exec("DELETE FROM summaries");
        return { content: [{ type: "text", text: "gone" }] };
      },
    });

    api.registerCommand({
      name: "tidepool",
      nativeNames: { default: "rockpool" },
      nativeProgressMessages: { default: "Looking…" },
      description: "Shows what Tidepool holds",
      acceptsArgs: true,
      handler: async ({ args, sessionKey, config: snapshot }) => {
        const { n } = shared().store.db.prepare("SELECT COUNT(*) AS n FROM messages").get();
        const slot =
          (snapshot ?? api.runtime.config?.current() ?? api.config)?.plugins?.slots
            ?.contextEngine ?? "unset";
        return {
          text: `Tidepool holds ${n} messages (${args || "status"} for ${sessionKey}; slot ${slot}).`,
        };
      },
    });

    api.session?.controls?.registerSessionAction?.({
      id: "tide-control",
      schema: Type.Object({ operation: Type.String({ enum: ["status", "doctor"] }) }),
      handler: ({ payload }) => shared().engine.control(payload),
    });

    globalThis[EVENTS] ??= [];
    const seen = globalThis[EVENTS];
    api.on("gateway_start", () => {
      seen.push("gateway_start");
      const sessions = api.runtime.agent?.session ?? api.runtime.channel?.session;
      if (sessions === undefined) return;
      const path = sessions.resolveStorePath(undefined, { agentId: "main" });
      for (const [key, entry] of Object.entries(sessions.loadSessionStore(path))) {
        const file = sessions.resolveSessionFilePath(entry.sessionId, entry, {
          agentId: "main",
          storePath: path,
        });
        log.info(`[tidepool] knows ${key} in ${file}`);
      }
    });
    api.on("gateway_stop", ({ reason }) => seen.push(`gateway_stop ${reason}`));
    api.on("session_end", ({ reason, sessionKey }) =>
      seen.push(`session_end ${reason} ${sessionKey}`),
    );
    api.on("before_reset", ({ reason }) => seen.push(`before_reset ${reason}`));
    api.on("before_compaction", ({ messageCount }) =>
      seen.push(`before_compaction ${messageCount}`),
    );
    api.on("after_compaction", ({ compactedCount }) =>
      seen.push(`after_compaction ${compactedCount}`),
    );
    api.on(
      "before_prompt_build",
      () => ({ prependSystemContext: "Older messages can be found with tide_grep." }),
      { priority: 5 },
    );
    log.info("[tidepool] registered");
  },
};

export { plugin as default };
