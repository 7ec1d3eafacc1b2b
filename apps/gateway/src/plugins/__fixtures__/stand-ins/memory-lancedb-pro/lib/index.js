// Stands in for memory-lancedb-pro: a memory of its own, in memory, that looks on everywhere.
import { homedir } from "node:os";

const textOf = ({ content }) =>
  typeof content === "string" ? content : (content ?? []).map(({ text = "" }) => text).join("\n");

/** Stands in for vectors: words in common. */
const score = (query, text) => {
  const words = new Set(text.toLowerCase().split(/\W+/));
  return query
    .toLowerCase()
    .split(/\W+/)
    .filter((word) => word.length > 3 && words.has(word)).length;
};

const plugin = {
  id: "stand-in-lancedb-pro",
  name: "Stand-in for memory-lancedb-pro",
  kind: "memory",
  register(api) {
    const { autoCapture, sessionMemory } = api.pluginConfig;
    const rows = [];
    const received = new Map();
    const seen = { tools: [], written: 0, ends: 0 };
    const search = (query, limit = 5) =>
      rows
        .map((text, at) => ({ text, at, score: score(query, text) }))
        .filter((row) => row.score > 0)
        .sort((a, b) => b.score - a.score)
        .slice(0, limit);
    const manager = {
      status: () => ({ rows: rows.length }),
      probeEmbeddingAvailability: async () => ({ ok: true }),
      search: async (query, { maxResults } = {}) =>
        search(query, maxResults).map(({ text, at, score: fits }) => ({
          ...{ path: `lancedb/${at}`, startLine: 1, endLine: 1, score: fits, snippet: text },
        })),
      readFile: async ({ relPath }) => ({ text: rows[Number(relPath.split("/")[1])] ?? "" }),
      close: async () => undefined,
    };
    const runtime = { getMemorySearchManager: async () => ({ manager }) };
    const promptBuilder = ({ availableTools }) =>
      availableTools.has("memory_recall") ? ["Ask memory_recall for what was said before."] : [];
    const flushPlanResolver = () => null;
    if (typeof api.registerMemoryCapability === "function")
      api.registerMemoryCapability({ promptBuilder, flushPlanResolver, runtime });
    else {
      api.registerMemoryPromptSection?.(promptBuilder);
      api.registerMemoryFlushPlan?.(flushPlanResolver);
      api.registerMemoryRuntime?.(runtime);
    }

    api.on("message_received", (event, ctx) => {
      const channel = ctx.conversationId ? `${ctx.channelId}:${ctx.conversationId}` : ctx.channelId;
      received.set(channel, [...(received.get(channel) ?? []), event.content].slice(-6));
    });
    api.on("before_message_write", () => void seen.written++);
    api.on("before_prompt_build", async ({ prompt }, ctx) => {
      if (ctx.sessionKey.includes(":subagent:")) return undefined;
      const found = search(prompt);
      return found.length === 0
        ? undefined
        : { prependContext: found.map(({ text }) => text).join("\n"), ephemeral: true };
    });
    api.on("agent_end", async (event, ctx) => {
      if (!autoCapture || !event.success || !event.messages) return;
      if (ctx.trigger === "heartbeat" || ctx.sessionKey.includes(":subagent:")) return;
      const last = received.get(`${ctx.channelId}:${ctx.conversationId}`)?.at(-1);
      const own = event.messages.findLast(({ role }) => role === "user");
      rows.push(last ?? textOf(own));
    });
    api.on("after_tool_call", ({ toolName, error }) => void seen.tools.push([toolName, error]));
    api.on("before_reset", () => void seen.ends++);
    api.on("session_end", () => void seen.ends++);
    api.on("gateway_start", () => undefined);
    if (sessionMemory)
      api.registerHook("command:new", async () => undefined, { name: "lancedb.session-memory" });

    const parameters = {
      type: "object",
      properties: { query: { type: "string" }, limit: { type: "number" } },
    };
    const tools = {
      memory_recall: ({ query, limit }) => search(query, limit).map(({ text }) => text),
      memory_store: ({ query }) => rows.push(query),
      memory_forget: () => "forgotten",
      memory_update: () => "updated",
      memory_list: () => rows,
      memory_stats: () => ({ ...seen, home: homedir().length > 0, rows: rows.length }),
      self_improvement_log: () => "logged",
    };
    for (const [name, run] of Object.entries(tools))
      api.registerTool(
        ({ agentId, workspaceDir, sessionKey }) => ({
          name,
          label: name,
          description: `${name} of ${agentId ?? "nobody"} (${workspaceDir ?? "nowhere"}, ${sessionKey})`,
          parameters,
          async execute(_id, params) {
            // An agent run of the host's, where it has one; older hosts name it otherwise.
            const asked =
              api.runtime.agent?.runEmbeddedPiAgent ?? api.runtime.agent?.runEmbeddedAgent;
            const details = { reflects: typeof asked === "function" };
            return { content: [{ type: "text", text: JSON.stringify(run(params)) }], details };
          },
        }),
        { name },
      );
    api.registerCli(
      ({ program }) => {
        const memory = program.command("memory-pro").description("The memory's own command.");
        memory.command("stats").action(() => console.log(`${rows.length} memories`));
      },
      { commands: ["memory-pro"] },
    );
    api.registerService({
      id: "stand-in-lancedb-pro",
      start: async () => {
        // Its embedder is probed for seconds.
        await new Promise((resolve) => setTimeout(resolve, 8000).unref());
      },
      stop: () => api.logger.info("stopped"),
    });
  },
};

export default plugin;
