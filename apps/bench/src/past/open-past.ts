// Tells the lossless engine a session, looks at a view, and asks its tools.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentMessage, PluginTool } from "@clew/plugin-sdk/core";
import { bundledPlugins } from "../../../gateway/src/plugins/find/bundled.ts";
import { loadGeneration } from "../../../gateway/src/plugins/generation.ts";
import { provideStateDir } from "../../../gateway/src/plugins/load/state-dir.ts";
import { createStrays } from "../../../gateway/src/plugins/strays.ts";

/** A session that was told. */
export interface OpenPast {
  /** What stands for the messages that a view of this budget does not show. */
  record(tokenBudget: number): Promise<string>;
  describe(id: string): Promise<string>;
  close(): Promise<void>;
}

const ENGINE = "lossless";
const SESSION = { sessionId: "past", sessionKey: "agent:main:past" };
const silent = { info: () => {}, warn: () => {}, error: () => {} };

/** The plugin as a gateway loads it, without a model. `summaries`: its setting. */
export async function openPast(
  messages: readonly AgentMessage[],
  summaries: string,
): Promise<OpenPast> {
  const home = await mkdtemp(join(tmpdir(), "clew-past-"));
  provideStateDir(home);
  const plugins = {
    slots: { contextEngine: ENGINE },
    entries: { [ENGINE]: { enabled: true, config: { summaries } } },
  };
  const { engines, tools } = await loadGeneration({
    ...{ home, plugins, bundled: bundledPlugins(), reservedTools: [] },
    context: {
      ...{ home, mode: "full", generation: 0, log: silent, config: () => ({ plugins }) },
      complete: () => Promise.reject(new Error("There is no model here.")),
      strays: createStrays(silent),
    },
  });
  const engine = await engines
    .find(({ engineId }) => engineId === ENGINE)!
    .factory({ agentDir: home, workspaceDir: home });
  await engine.ingestBatch?.({ ...SESSION, messages: [...messages] });
  await engine.maintain?.({ ...SESSION, sessionFile: join(home, "none.jsonl") });
  const tool = tools
    .find(({ names }) => names?.includes("lcm_describe"))!
    .make(SESSION) as PluginTool;
  return {
    async record(tokenBudget) {
      const view = await engine.assemble({ ...SESSION, messages: [...messages], tokenBudget });
      const [first] = view.messages;
      return first?.role === "compactionSummary" ? first.summary : "";
    },
    async describe(id) {
      const { content } = await tool.execute("bench", { id });
      return content.map((block) => (block.type === "text" ? block.text : "")).join("");
    },
    async close() {
      await engine.dispose?.();
      await rm(home, { recursive: true, force: true });
    },
  };
}
