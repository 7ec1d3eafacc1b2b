// Stands in for hindsight: a daemon that a service starts, and one factory of eight tools.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const NAMES = ["retain", "recall", "reflect", "banks", "list", "get", "delete", "stats"].map(
  (name) => `hindsight_${name}`,
);

const textOf = ({ content }) =>
  typeof content === "string" ? content : (content ?? []).map(({ text = "" }) => text).join("\n");

export default function register(api) {
  const { baseUrl } = api.pluginConfig;
  let isReady = false;
  const unsaved = new Map();
  const post = async (path, body, ms = 500) => {
    const signal = AbortSignal.timeout(ms);
    const sent = { method: "POST", body: JSON.stringify(body), signal };
    return (await fetch(`${baseUrl}${path}`, sent)).json();
  };
  /** One bank for each person and channel. */
  const bankOf = ({ agentId, messageProvider, channelId, senderId }) =>
    [agentId, messageProvider, channelId, senderId].join("::");
  api.registerService({
    id: "hindsight-daemon",
    async start({ stateDir }) {
      mkdirSync(join(stateDir, "hindsight"), { recursive: true });
      writeFileSync(join(stateDir, "hindsight", "daemon.pid"), "1");
      isReady = true;
    },
    stop() {
      isReady = false;
    },
  });
  api.on("before_dispatch", ({ senderId, channel, sessionKey }) => {
    if (!senderId || !channel || !sessionKey) throw new Error("nobody said it");
  });
  api.on("before_prompt_build", async ({ prompt }, ctx) => {
    if (!isReady || ctx.trigger === "heartbeat") return undefined;
    try {
      const { memories } = await post("/search", { space: bankOf(ctx), query: prompt });
      if (memories.length === 0) return undefined;
      return {
        prependContext: memories.join("\n"),
        prependSystemContext: "Memories come first.",
        appendSystemContext: "They may be old.",
      };
    } catch {
      return undefined;
    }
  });
  api.on("agent_end", async ({ success, messages }, ctx) => {
    if (!isReady || !success || !messages) return;
    if (ctx.trigger === "heartbeat" || ctx.sessionKey.includes(":subagent:")) return;
    const text = textOf(messages.findLast(({ role }) => role === "user"));
    unsaved.set(ctx.sessionKey, text);
    await post("/add", { space: bankOf(ctx), text }, 5000);
    unsaved.delete(ctx.sessionKey);
  });
  api.on("session_end", async ({ sessionKey, reason }, ctx) => {
    const text = unsaved.get(sessionKey);
    if (text !== undefined) await post("/add", { space: bankOf(ctx), text: `${reason}: ${text}` });
  });
  api.registerTool(
    (ctx) =>
      NAMES.map((name) => ({
        name,
        description: name,
        parameters: { type: "object", properties: { query: { type: "string" } } },
        execute: async (_id, { query = "" }) => ({
          content: [{ type: "text", text: `${name} ${query} on ${ctx.messageChannel}` }],
        }),
      })),
    { names: NAMES },
  );
}
