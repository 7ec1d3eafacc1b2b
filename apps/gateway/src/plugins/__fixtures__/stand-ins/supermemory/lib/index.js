// Stands in for supermemory: tools under two names each, commands, and files of its own at import.
import { mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const folder = join(process.env.OPENCLAW_STATE_DIR ?? join(homedir(), ".openclaw"), "memory");
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "super.sqlite"), "");

const SKIPPED = ["heartbeat", "cron", "exec-event"];

export default {
  id: "stand-in-supermemory",
  name: "Stand-in for supermemory",
  kind: "memory",
  configSchema: { parse: (value) => value },
  register(api) {
    const { baseUrl, maxRecallResults } = api.pluginConfig;
    const post = async (path, body, ms = 5000) => {
      const signal = AbortSignal.timeout(ms);
      const sent = JSON.stringify({ space: "super", ...body });
      return (await fetch(`${baseUrl}${path}`, { method: "POST", body: sent, signal })).json();
    };
    const mayLearn = ({ trigger, sessionKey = "" }) =>
      !SKIPPED.includes(trigger) && !sessionKey.includes(":subagent:");
    const runtime = {
      getMemorySearchManager: async () => ({ manager: { status: () => ({}), close() {} } }),
    };
    if (api.registerMemoryCapability) api.registerMemoryCapability({ runtime });
    else api.registerMemoryRuntime?.(runtime);
    api.on("before_prompt_build", async (event, ctx) => {
      if (!mayLearn(ctx)) return undefined;
      try {
        const { memories } = await post("/search", { query: event.prompt }, 500);
        if (memories.length === 0) return undefined;
        return {
          prependContext: `<super>${memories.slice(0, maxRecallResults).join("\n")}</super>`,
        };
      } catch {
        return undefined;
      }
    });
    api.on("agent_end", async (event, ctx) => {
      if (!event.success || !mayLearn(ctx) || ctx.messageProvider === undefined) return;
      const last = event.messages.findLast(({ role }) => role === "user");
      const { content } = last;
      const text = typeof content === "string" ? content : content.map((b) => b.text).join("\n");
      await post("/add", { text });
    });
    const tool = (name, run) =>
      api.registerTool(
        {
          name,
          description: name,
          parameters: { type: "object", properties: { query: { type: "string" } } },
          execute: async (_id, { query = "" }) => ({
            content: [{ type: "text", text: JSON.stringify(await run(query)) }],
          }),
        },
        { name },
      );
    const runs = {
      store: (text) => post("/add", { text }),
      search: (query) => post("/search", { query }),
      forget: async () => "forgotten",
      profile: async () => "a sailor",
    };
    for (const [name, run] of Object.entries(runs)) {
      tool(`super_${name}`, run);
      tool(`super-${name}`, run);
    }
    for (const name of ["remember", "recall", "supermemory"])
      api.registerCommand({
        name,
        description: `${name} with the memory.`,
        acceptsArgs: true,
        requireAuth: true,
        handler: async ({ args, isAuthorizedSender, channel }) =>
          isAuthorizedSender ? { text: `${name} on ${channel}: ${args ?? ""}` } : { text: "no" },
      });
    api.registerCli(
      ({ program }) =>
        void program
          .command("supermemory")
          .command("status")
          .action(() => console.log("signed in")),
      { commands: ["supermemory"] },
    );
    api.registerService({ id: "supermemory", start: () => undefined, stop: () => undefined });
  },
};
