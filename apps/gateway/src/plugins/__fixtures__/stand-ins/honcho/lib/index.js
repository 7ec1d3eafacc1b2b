// Stands in for honcho: old hooks, tools that no manifest names, and a count of what it has taken.
const textOf = ({ content }) =>
  typeof content === "string" ? content : (content ?? []).map(({ text = "" }) => text).join("\n");

const plugin = {
  id: "stand-in-honcho",
  name: "Stand-in for honcho",
  register(api) {
    const { baseUrl } = api.pluginConfig;
    const post = async (path, body, signal) =>
      (
        await fetch(`${baseUrl}${path}`, { method: "POST", body: JSON.stringify(body), signal })
      ).json();
    const space = ({ messageProvider = "unknown" }) => `honcho-${messageProvider}`;
    const taken = new Map();
    api.on("gateway_start", async () => {
      api.logger.info("ready");
    });
    api.on("before_agent_start", async ({ prompt }, ctx) => {
      if (!prompt) return undefined;
      try {
        const asked = { space: space(ctx), query: prompt };
        const { memories } = await post("/search", asked, AbortSignal.timeout(500));
        // Only its own block: it means it to be added.
        return memories.length > 0
          ? { systemPrompt: `## User memory\n${memories.join("\n")}` }
          : undefined;
      } catch {
        return undefined;
      }
    });
    api.on("agent_end", async ({ success, messages }, ctx) => {
      if (!success || !messages?.length) return;
      if (ctx.trigger === "heartbeat" || ctx.sessionKey.includes(":subagent:")) return;
      const from = taken.get(ctx.sessionKey) ?? 0;
      for (const message of messages.slice(from))
        if (message.role === "user")
          await post("/add", { space: space(ctx), text: textOf(message) });
      taken.set(ctx.sessionKey, messages.length);
    });
    const parameters = { type: "object", properties: { query: { type: "string" } } };
    const execute = async (_id, { query }) => ({
      content: [{ type: "text", text: `asked ${query}` }],
    });
    for (const name of ["profile", "search", "recall", "analyze", "session", "context"])
      api.registerTool({ name: `honcho_${name}`, description: name, parameters, execute });
    api.registerTool(
      (ctx) => {
        const search = api.runtime.tools.createMemorySearchTool({
          config: ctx.config,
          agentSessionKey: ctx.sessionKey,
        });
        return search === null ? null : [search];
      },
      { names: ["memory_search", "memory_get"] },
    );
    api.registerCli(
      ({ program, workspaceDir }) => {
        const honcho = program.command("honcho").description("The memory's own command.");
        honcho.command("status").action(() => console.log(`works in ${workspaceDir}`));
      },
      { commands: ["honcho"] },
    );
  },
};

export default plugin;
