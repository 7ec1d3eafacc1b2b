// Stands in for lossless-claw 1.0: durable turns, its own store, and views made from that alone.
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS conversations (id INTEGER PRIMARY KEY, session_key TEXT UNIQUE NOT NULL);
  CREATE TABLE IF NOT EXISTS commits (key TEXT PRIMARY KEY);
  CREATE TABLE IF NOT EXISTS messages (
    conversation INTEGER NOT NULL, seq INTEGER NOT NULL, entry TEXT NOT NULL, role TEXT NOT NULL,
    json TEXT NOT NULL, tokens INTEGER NOT NULL, PRIMARY KEY (conversation, entry));
  CREATE TABLE IF NOT EXISTS summaries (
    id INTEGER PRIMARY KEY, conversation INTEGER NOT NULL, upto INTEGER NOT NULL, text TEXT NOT NULL);
`;

/** What it assumes where no host says how large a window is. */
const ASSUMED_BUDGET = 128_000;

const tokensOf = (value) => Math.ceil(JSON.stringify(value).length / 3.5) + 8;

function textOf({ content }) {
  if (typeof content === "string") return content;
  return (content ?? []).map((block) => block.text ?? block.name ?? "").join("\n");
}

/** Of a message, all that a model reads, and nothing by which a host would know it again. */
function bare({ role, content, toolCallId, toolName, isError, stopReason, provider, model, api }) {
  const known = { toolCallId, toolName, isError, stopReason, provider, model, api };
  return { role, content, ...JSON.parse(JSON.stringify(known)) };
}

function openStore(path) {
  mkdirSync(dirname(path), { recursive: true });
  const db = new DatabaseSync(path);
  db.exec("PRAGMA journal_mode = WAL");
  db.exec(SCHEMA);
  const one = (sql, ...values) => db.prepare(sql).get(...values);
  const all = (sql, ...values) => db.prepare(sql).all(...values);
  const find = (key) => one("SELECT id FROM conversations WHERE session_key = ?", key)?.id;
  const known = (key) => {
    db.prepare("INSERT OR IGNORE INTO conversations (session_key) VALUES (?)").run(key);
    return find(key);
  };
  const inTransaction = (work) => {
    db.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      db.exec("COMMIT");
      return result;
    } catch (error) {
      db.exec("ROLLBACK");
      throw error;
    }
  };
  const add = (id, entries) => {
    const insert = db.prepare("INSERT OR IGNORE INTO messages VALUES (?, ?, ?, ?, ?, ?)");
    let next = one("SELECT COUNT(*) AS n FROM messages WHERE conversation = ?", id).n;
    let added = 0;
    for (const { entryId, message } of entries) {
      const kept = bare(message);
      const row = [id, next, entryId, kept.role, JSON.stringify(kept), tokensOf(kept)];
      const { changes } = insert.run(...row);
      next += Number(changes);
      added += Number(changes);
    }
    return added;
  };
  return {
    find,
    importAll: (key, entries) => inTransaction(() => add(known(key), entries)),
    commit: (key, advancementKey, entries) =>
      inTransaction(() => {
        const mark = db.prepare("INSERT OR IGNORE INTO commits VALUES (?)").run(advancementKey);
        if (Number(mark.changes) === 0) return false;
        add(known(key), entries);
        return true;
      }),
    covered: (id) => one("SELECT MAX(upto) AS n FROM summaries WHERE conversation = ?", id).n ?? 0,
    summaries: (id) => all("SELECT * FROM summaries WHERE conversation = ? ORDER BY upto", id),
    since: (id, seq) =>
      all("SELECT * FROM messages WHERE conversation = ? AND seq >= ? ORDER BY seq", id, seq),
    summarised: (id, upto, text) =>
      db
        .prepare("INSERT INTO summaries (conversation, upto, text) VALUES (?, ?, ?)")
        .run(id, upto, text),
    count: (id) => one("SELECT COUNT(*) AS n FROM messages WHERE conversation = ?", id).n,
    orphans: () =>
      one(
        "SELECT COUNT(*) AS n FROM messages WHERE conversation NOT IN (SELECT id FROM conversations)",
      ).n,
    grep: (word) => all("SELECT role, json FROM messages WHERE json LIKE ? LIMIT 10", `%${word}%`),
  };
}

function createEngine(api, config, store) {
  const keyOf = ({ sessionKey, sessionId }) => sessionKey ?? sessionId;
  const entriesOf = (messages, prefix) =>
    messages.map((message, at) => ({
      entryId: message.__openclaw?.id ?? `${prefix}:${at}`,
      message,
    }));

  async function summarise(id, { llm, target }) {
    const rows = store.since(id, store.covered(id));
    let end = rows.length - config.freshTailCount;
    while (end > 0 && rows[end]?.role !== "user") end--;
    const total = rows.reduce((sum, { tokens }) => sum + tokens, 0);
    if (end <= 0 || total <= target) return false;
    const chunk = [];
    for (let at = 0, tokens = 0; at < end && tokens < config.leafTokens; at++) {
      chunk.push(rows[at]);
      tokens += rows[at].tokens;
    }
    while (chunk.length < end && rows[chunk.length].role !== "user") chunk.push(rows[chunk.length]);
    const said = chunk.map(({ role, json }) => `${role}: ${textOf(JSON.parse(json))}`).join("\n");
    const { text } = await (llm ?? api.runtime.llm).complete({
      messages: [{ role: "user", content: `Summarise, keeping names and numbers:\n\n${said}` }],
      maxTokens: 300,
      purpose: "strata.leaf",
    });
    store.summarised(id, chunk.at(-1).seq + 1, text.slice(0, 1200));
    return true;
  }

  async function summariseTo(id, { llm, target }) {
    let did = false;
    for (let pass = 0; pass < 12 && (await summarise(id, { llm, target })); pass++) did = true;
    return did;
  }

  return {
    // No version, no turn-bound operations: a real one leaves out what it does not need.
    info: {
      id: "strata",
      name: "Strata",
      ownsCompaction: true,
      turnMaintenanceMode: "background",
      transcriptSemantics: {
        currentTurnFence: "before-current-turn-entry-v1",
        turnAdvancementIdempotency: "atomic-idempotent-v1",
      },
      acceptedHostParams: ["sessionKey", "prompt", "runtimeSettings", "runtimeContext"],
      hostRequirements: {
        "agent-run": { requiredCapabilities: ["bootstrap", "assemble-before-prompt", "compact"] },
        "subagent-spawn": { requiredCapabilities: ["thread-bootstrap-projection"] },
      },
    },
    async bootstrap(params) {
      const { sessionId, sessionKey } = params;
      const sdk = await import("openclaw/plugin-sdk/session-transcript-runtime");
      const entries = await sdk.readVisibleSessionTranscriptMessageEntries({
        ...{ sessionId, sessionKey, agentId: "main" },
      });
      const importedMessages = store.importAll(
        keyOf(params),
        entries.map(({ entryId, message }) => ({
          entryId: message.__openclaw?.id ?? entryId,
          message,
        })),
      );
      return importedMessages > 0
        ? { bootstrapped: true, importedMessages }
        : { bootstrapped: false, importedMessages: 0, reason: "already bootstrapped" };
    },
    async ingest() {
      return { ingested: false };
    },
    async commitTurn({ advancementKey, messages, ...params }) {
      const isNew = store.commit(
        keyOf(params),
        advancementKey,
        entriesOf(messages, advancementKey),
      );
      return { status: isNew ? "committed" : "duplicate" };
    },
    async assemble({ messages, tokenBudget = ASSUMED_BUDGET, ...params }) {
      const id = store.find(keyOf(params));
      if (id === undefined || store.count(id) === 0)
        return { messages, estimatedTokens: messages.reduce((sum, m) => sum + tokensOf(m), 0) };
      const summaries = store.summaries(id).map(({ id: number, text }) => ({
        role: "user",
        content: `<summary id="s${number}" kind="leaf" trust="untrusted">\n${text}\n</summary>`,
      }));
      const cost = (list) => list.reduce((sum, message) => sum + tokensOf(message), 0);
      while (summaries.length > 1 && cost(summaries) > tokenBudget / 3) summaries.shift();
      const tail = store.since(id, store.covered(id));
      let room = tokenBudget - cost(summaries);
      let start = tail.length;
      while (start > 0 && room - tail[start - 1].tokens >= 0) room -= tail[--start].tokens;
      while (start < tail.length && tail[start].role !== "user") start++;
      const view = [...summaries, ...tail.slice(start).map(({ json }) => JSON.parse(json))];
      return {
        messages: view,
        estimatedTokens: cost(view),
        contextProjection: { mode: "thread_bootstrap", epoch: `strata:${id}:${summaries.length}` },
      };
    },
    async maintain({ runtimeContext, ...params }) {
      const nothing = { changed: false, bytesFreed: 0, rewrittenEntries: 0 };
      const id = store.find(keyOf(params));
      if (id === undefined || runtimeContext?.allowDeferredCompactionExecution !== true)
        return { ...nothing, reason: "not now" };
      const budget = runtimeContext.tokenBudget ?? ASSUMED_BUDGET;
      await summariseTo(id, { llm: runtimeContext.llm, target: config.contextThreshold * budget });
      return nothing;
    },
    async compact({ tokenBudget, runtimeContext, currentTokenCount, force, ...params }) {
      const id = store.find(keyOf(params));
      if (id === undefined)
        return { ok: true, compacted: false, reason: "no real conversation messages" };
      const target = force ? 0 : (tokenBudget ?? runtimeContext?.tokenBudget ?? ASSUMED_BUDGET);
      const size = () => store.since(id, store.covered(id)).reduce((sum, m) => sum + m.tokens, 0);
      const tokensBefore = size();
      const did = await summariseTo(id, { llm: runtimeContext?.llm, target });
      return did
        ? { ok: true, compacted: true, result: { tokensBefore, tokensAfter: size() } }
        : { ok: true, compacted: false, reason: "nothing is older than the fresh tail" };
    },
    async prepareSubagentSpawn() {
      return { rollback: () => undefined };
    },
    async onSubagentEnded() {},
    getControlCapabilities: () => ({ operations: ["status", "doctor", "rotate"] }),
    async control({ operation, sessionKey }) {
      const id = sessionKey === undefined ? undefined : store.find(sessionKey);
      if (id === undefined) return { ok: false, text: "current conversation unavailable" };
      const orphans = store.orphans();
      return {
        ok: orphans === 0,
        text: `${operation}: ${store.count(id)} messages, ${store.summaries(id).length} summaries, ${orphans} orphans`,
      };
    },
    async dispose() {},
  };
}

const plugin = {
  id: "strata",
  name: "Strata",
  kind: "context-engine",
  register(api) {
    if (api.registrationMode === "cli-metadata") return;
    const config = { freshTailCount: 64, contextThreshold: 0.75, leafTokens: 8000 };
    Object.assign(config, api.pluginConfig);
    const home = process.env.OPENCLAW_STATE_DIR || join(homedir(), ".openclaw");
    let opened;
    const store = () => {
      opened ??= openStore(config.databasePath ?? join(home, "strata.db"));
      return opened;
    };
    let engine;
    const shared = () => {
      engine ??= createEngine(api, config, store());
      return engine;
    };

    // A thin wrapper each time, whose members may be there and undefined.
    api.registerContextEngine("strata", () => ({ ...shared(), afterTurn: undefined }));

    const tool = (name, description, run) =>
      api.registerTool(
        (context) => ({
          name,
          label: name,
          description,
          parameters: {
            type: "object",
            properties: {
              query: { type: "string" },
              limit: { type: "number", default: 5 },
            },
            required: ["query", "limit"],
          },
          execute: async (_id, args) => ({
            content: [{ type: "text", text: await run(args, context) }],
            details: {},
          }),
        }),
        { names: [name] },
      );
    const found = ({ query, limit }) =>
      store()
        .grep(query)
        .slice(0, limit)
        .map(({ role, json }) => `${role}: ${textOf(JSON.parse(json))}`)
        .join("\n") || "nothing";
    tool("strata_grep", "Finds old messages by a word.", async (args) => found(args));
    tool("strata_describe", "Says what a summary stands for.", async ({ query }) => query);
    tool("strata_expand", "Shows what a summary stands for.", async (args) => found(args));
    tool("strata_expand_query", "Asks a session of its own.", async (args, { sessionKey = "" }) => {
      const { subagent } = api.runtime;
      const child = `agent:main:subagent:strata-${Date.now()}`;
      const { runId } = await subagent.run({
        ...{ sessionKey: child, message: `Answer from the record: ${args.query}` },
        ...{ deliver: false, idempotencyKey: child },
      });
      const { status, error } = await subagent.waitForRun({ runId, timeoutMs: 20_000 });
      const { messages } = await subagent.getSessionMessages({ sessionKey: child, limit: 20 });
      await subagent.deleteSession({ sessionKey: child, deleteTranscript: true });
      const last = messages.at(-1);
      return `${status}${error ? ` (${error})` : ""} for ${sessionKey}: ${last ? textOf(last) : ""}`;
    });

    api.registerCommand({
      name: "strata",
      description: "Shows what Strata holds.",
      acceptsArgs: true,
      handler: async ({ sessionKey }) => {
        const { text } = await shared().control({ operation: "status", sessionKey });
        return { text };
      },
    });
    api.session.controls.registerSessionAction({
      id: "strata-control",
      handler: ({ payload, sessionKey }) => shared().control({ ...payload, sessionKey }),
    });
    api.on("before_prompt_build", () => ({
      prependSystemContext: "What is no longer shown can be found with strata_grep.",
    }));
    for (const name of ["before_reset", "session_end", "gateway_start", "gateway_stop"])
      api.on(name, () => undefined);
  },
};

export default plugin;
