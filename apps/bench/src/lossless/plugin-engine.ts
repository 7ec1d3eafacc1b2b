// An engine of a plugin, loaded as the gateway loads it and driven as a host drives it.
import { existsSync } from "node:fs";
import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentMessage, ContextEngine } from "@clew/plugin-sdk/core";
import { messageId } from "@clew/plugin-sdk/core";
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import { silentLog } from "../../../gateway/src/log/silent.ts";
import { bundledPlugins } from "../../../gateway/src/plugins/find/bundled.ts";
import { loadGeneration } from "../../../gateway/src/plugins/generation.ts";
import { provideStateDir } from "../../../gateway/src/plugins/load/state-dir.ts";
import { createStrays } from "../../../gateway/src/plugins/strays.ts";
import { type Contestant, MOST_HITS, TOKEN_BUDGET } from "./contestant.ts";

/** Which engine to load, and how. */
export interface EngineChoice {
  engineId: string;
  /** Of a plugin that does not come with Clew; null = it does. */
  pluginFolder: string | null;
  /** The plugin's configuration. */
  config: Record<string, unknown>;
  /** True: it reads what is told from a session file, which is written first. */
  needsFile: boolean;
}

const SESSION = { sessionId: "bench", sessionKey: "agent:main:bench" };
const GREP = "lcm_grep";

/** Loads the plugin; its engine is made later, for a process that comes back has loaded it too. */
export async function loadEngine(
  home: string,
  { engineId, pluginFolder, config, needsFile }: EngineChoice,
): Promise<() => Promise<Contestant>> {
  provideStateDir(home);
  const plugins: PluginsConfig = {
    slots: { contextEngine: engineId },
    entries: { [engineId]: { enabled: true, config } },
    ...(pluginFolder !== null && { load: { paths: [pluginFolder] }, allow: [engineId] }),
  };
  const { engines, tools, records } = await loadGeneration({
    home,
    plugins,
    bundled: bundledPlugins(),
    reservedTools: [],
    context: {
      ...{ home, mode: "full", generation: 0, log: silentLog, config: () => ({ plugins }) },
      complete: async () => ({ text: "A short summary of what was said." }) as never,
      strays: createStrays(silentLog),
    },
  });
  const owned = engines.find((engine) => engine.engineId === engineId);
  if (owned === undefined) {
    const reason = records.find(({ status }) => status !== "loaded")?.reason;
    throw new Error(
      `No plugin registered an engine "${engineId}"${reason === undefined ? "" : `: ${reason}`}; build it first.`,
    );
  }
  return async () => {
    const engine = await owned.factory({ agentDir: home, workspaceDir: home });
    const file = needsFile ? await sessionFile(home, SESSION.sessionId) : undefined;
    const tool = tools.find(({ names }) => names?.includes(GREP));
    return drive(engine, { file, grep: tool?.make(SESSION) });
  };
}

async function drive(
  engine: ContextEngine,
  { file, grep }: { file: SessionFile | undefined; grep: unknown },
): Promise<Contestant> {
  const session = { ...SESSION, ...(file !== undefined && { sessionFile: file.path }) };
  await engine.bootstrap?.(session as never);
  const made = (await grep) as
    | { execute(id: string, params: object): Promise<{ content: readonly { text?: unknown }[] }> }
    | undefined;
  let before: readonly AgentMessage[] = [];
  return {
    async hostWrites(messages) {
      await file?.append(messages);
    },
    async tell(messages) {
      const live = [...before, ...messages];
      await engine.afterTurn?.({
        ...session,
        messages: live,
        prePromptMessageCount: before.length,
        tokenBudget: TOKEN_BUDGET,
      } as never);
      before = live.slice(-LIVE);
    },
    async tidy() {
      const runtimeContext = { allowDeferredCompactionExecution: true };
      await engine.maintain?.({ ...session, runtimeContext } as never);
    },
    async assemble(messages) {
      const { messages: shown } = await engine.assemble({
        ...session,
        messages: [...messages],
        tokenBudget: TOKEN_BUDGET,
        prompt: "Go on.",
        availableTools: new Set([GREP]),
      });
      return shown.length;
    },
    async search({ mode, pattern }) {
      if (made === undefined) throw new Error(`The engine offers no tool "${GREP}".`);
      const { content } = await made.execute("1", { pattern, mode, limit: MOST_HITS });
      return content.map(({ text }) => String(text ?? "")).join("\n");
    },
    async close() {
      await engine.dispose?.();
    },
  };
}

/** Messages of earlier turns that a host hands over with a turn. */
const LIVE = 60;

interface SessionFile {
  path: string;
  append(messages: readonly AgentMessage[]): Promise<void>;
}

async function sessionFile(folder: string, id: string): Promise<SessionFile> {
  const path = join(folder, "session.jsonl");
  let parentId: string | null = null;
  const header = { type: "session", version: 3, id, timestamp: new Date(0).toISOString() };
  // After a restart it is there already.
  if (!existsSync(path)) await writeFile(path, `${JSON.stringify({ ...header, cwd: folder })}\n`);
  return {
    path,
    async append(messages) {
      const lines = messages.map((message) => {
        const entryId = messageId(message)!;
        const timestamp = new Date(Number(message.timestamp)).toISOString();
        const entry = { type: "message", id: entryId, parentId, timestamp, message };
        parentId = entryId;
        return `${JSON.stringify(entry)}\n`;
      });
      await appendFile(path, lines.join(""));
    },
  };
}
