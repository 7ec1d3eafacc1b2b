// Stands in for memos: no tools, the old hook before a run, and events where they are wanted.
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export default {
  id: "stand-in-memos",
  name: "Stand-in for memos",
  kind: "lifecycle",
  register(api) {
    const { baseUrl } = api.pluginConfig;
    const settings = join(process.env.OPENCLAW_STATE_DIR ?? join(homedir(), ".openclaw"), ".env");
    api.logger.info(existsSync(settings) ? "has a key" : "has no key");
    const post = async (path, body, ms) => {
      const signal = ms === undefined ? undefined : AbortSignal.timeout(ms);
      const sent = JSON.stringify({ space: "memos", ...body });
      return (await fetch(`${baseUrl}${path}`, { method: "POST", body: sent, signal })).json();
    };
    if (api.config?.hooks?.internal?.enabled)
      api.registerHook(["command:new", "command:reset"], async () => undefined, {
        name: "memos-rollover",
        description: "Begins another conversation.",
      });
    api.on("before_agent_start", async (event) => {
      try {
        const { memories } = await post("/search", { query: event.prompt }, 500);
        return memories.length === 0 ? undefined : { prependContext: memories.join("\n") };
      } catch {
        return undefined;
      }
    });
    api.on("agent_end", async (event, ctx) => {
      if (!event?.success || !event.messages?.length) return;
      if (ctx?.trigger === "heartbeat" || ctx?.sessionKey?.includes(":subagent:")) return;
      const at = event.messages.findLastIndex(({ role }) => role === "user");
      await post("/add", { text: JSON.stringify(event.messages.slice(at)) });
    });
  },
};
