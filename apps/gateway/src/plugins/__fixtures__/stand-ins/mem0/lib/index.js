// Stands in for mem0: a memory of a server's, with tools, a command, a service and two hooks.
import { definePluginEntry, emptyPluginConfigSchema } from "openclaw/plugin-sdk/plugin-entry";

const RECALL_MS = 500;

/** Sessions of other sessions, and runs that nobody began, teach nothing. */
const isForeign = ({ sessionKey = "", trigger }) =>
  sessionKey.includes(":subagent:") || trigger === "heartbeat" || trigger === "cron";

const textOf = ({ content }) =>
  typeof content === "string"
    ? content
    : (content ?? []).flatMap(({ type, text }) => (type === "text" ? [text] : [])).join("\n");

/** What was said in the last turn, from the person's last message on. */
const lastTurn = (messages) =>
  messages.slice(messages.findLastIndex(({ role }) => role === "user"));

function createClient({ baseUrl, userId }) {
  const post = async (path, body, ms) => {
    const answer = await fetch(`${baseUrl}${path}`, {
      method: "POST",
      body: JSON.stringify({ space: userId, ...body }),
      ...(ms !== undefined && { signal: AbortSignal.timeout(ms) }),
    });
    return answer.json();
  };
  return {
    add: (text) => post("/add", { text }),
    search: async (query, ms) => (await post("/search", { query }, ms)).memories,
  };
}

export default definePluginEntry({
  id: "stand-in-mem0",
  name: "Stand-in for mem0",
  kind: "memory",
  configSchema: emptyPluginConfigSchema(),
  register(api) {
    const config = api.pluginConfig;
    const client = createClient(config);
    const isMetadata = api.registrationMode === "cli-metadata";
    api.registerCli(
      ({ program }) => {
        const mem = program.command("mem").description("What is remembered.");
        mem.configureHelp({ sortSubcommands: true });
        mem.hook("preAction", () => undefined);
        mem
          .command("status")
          .option("--json")
          .action((options, command) => {
            const parent = command.parent.name();
            console.log(options.json ? JSON.stringify({ parent }) : `${parent}: ${config.baseUrl}`);
          });
      },
      { descriptors: [{ name: "mem", description: "What is remembered.", hasSubcommands: true }] },
    );
    if (isMetadata) return;
    if (!config.apiKey) {
      api.registerService({
        id: "mem0",
        start: () => api.logger.info("waits for a key"),
        stop() {},
      });
      return;
    }
    if (typeof api.registerMemoryCapability === "function")
      api.registerMemoryCapability({
        promptBuilder: ({ availableTools }) =>
          availableTools.has("memory_search")
            ? ["What is remembered is found by memory_search."]
            : [],
        runtime: {
          getMemorySearchManager: async () => ({
            manager: {
              status: () => ({ backend: "mem0" }),
              probeEmbeddingAvailability: async () => ({ ok: true }),
              close: async () => undefined,
            },
          }),
          resolveMemoryBackendConfig: () => ({ backend: "mem0" }),
        },
      });
    const tool = (name, run) =>
      api.registerTool(
        {
          name,
          label: name,
          description: `${name} of the memory.`,
          parameters: {
            type: "object",
            properties: { query: { type: "string" }, limit: { type: "number", default: 5 } },
            required: ["query", "limit"],
          },
          execute: async (_id, { query, limit }) => ({
            content: [{ type: "text", text: JSON.stringify(await run(query, limit)) }],
            details: {},
          }),
        },
        { optional: false },
      );
    tool("memory_search", async (query, limit) => (await client.search(query)).slice(0, limit));
    tool("memory_add", (query) => client.add(query));
    for (const name of ["memory_get", "memory_list", "memory_delete"])
      tool(name, async (query) => `${name} ${query}`);
    let stateDir;
    api.registerService({
      id: "mem0",
      start(ctx) {
        stateDir = ctx.stateDir;
      },
      stop() {
        stateDir = undefined;
      },
    });
    api.on("before_prompt_build", async ({ prompt }, ctx) => {
      if (isForeign(ctx) || !prompt || prompt.length < 5 || stateDir === undefined)
        return undefined;
      try {
        const memories = await client.search(prompt, RECALL_MS);
        if (memories.length === 0) return undefined;
        return {
          prependSystemContext: "Memories are of earlier sessions.",
          prependContext: `<memories>\n${memories.join("\n")}\n</memories>`,
        };
      } catch (error) {
        api.logger.warn(`recall failed: ${error}`);
        return undefined;
      }
    });
    api.on("agent_end", async ({ success, messages }, ctx) => {
      if (isForeign(ctx) || !success || !messages?.length) return;
      const said = lastTurn(messages).filter(({ role }) => role === "user");
      if (said.length > 0) await client.add(said.map(textOf).join("\n"));
    });
  },
});
