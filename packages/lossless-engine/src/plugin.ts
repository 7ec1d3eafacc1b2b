// The plugin that offers the engine to its host, configured by the operator.
import { isAbsolute, join } from "node:path";
import {
  definePluginEntry,
  type LlmCompleteParams,
  type PluginApi,
  type PluginEntry,
  type SessionRef,
} from "@clew/plugin-sdk/core";
import { losslessCommand } from "./commands/lossless.ts";
import { type EngineParts, engineOn } from "./engine.ts";
import { forgetDeleted } from "./forget/deleted.ts";
import { LOSSLESS_ENGINE_ID } from "./id.ts";
import type { SiblingsDone } from "./ingest/siblings.ts";
import { namesSession, RECALL_SESSION } from "./sessions/patterns.ts";
import { assertSettings, type EngineSettings } from "./settings.ts";
import { createStores, type Stores } from "./stores.ts";
import { createSpendings } from "./summaries/spending.ts";
import { researchBy } from "./tools/by-session.ts";
import { createGrants, type Grants } from "./tools/grants.ts";
import { createReach } from "./tools/reach.ts";
import { type RecallTool, recallTools } from "./tools/tools.ts";

/** Hosts register more than once: a session's tools may come from another time than its engine. */
const OWN = {
  ...{ reach: createReach(), grants: createGrants(), spendings: createSpendings() },
  siblingsDone: new Set() as SiblingsDone,
};

/** To be named anew when a version's parts are of another shape. */
const SHARED = Symbol.for("clew.lossless.parts.1");

/** OpenClaw registers from a copy of the package each time, so copies have to find one another. */
function partsIn({ runtime }: PluginApi): typeof OWN {
  if (runtime?.clew !== undefined) return OWN;
  const all = globalThis as { [SHARED]?: typeof OWN };
  all[SHARED] ??= OWN;
  return all[SHARED];
}

/** What hosts load: the engine under its id, and tools and a command for what it keeps. */
const plugin: PluginEntry = definePluginEntry({
  id: LOSSLESS_ENGINE_ID,
  name: "Lossless",
  kind: "context-engine",
  register(api) {
    const { reach, grants, spendings, siblingsDone } = partsIn(api);
    const settings = (api.pluginConfig ?? {}) as EngineSettings;
    // Hosts check it against the manifest's schema, which compares no settings.
    assertSettings(settings);
    const onMovedAway = (path: string) =>
      api.logger.warn(
        `The database ${path} was moved away or deleted while it was open; a new one is filled from the session files.`,
      );
    const onApart = ({ sessionKey, sessionId }: SessionRef) =>
      api.logger.warn(
        `Messages of the session ${sessionKey ?? sessionId} have other numbers on this machine, as another session has theirs: what earlier answers of its tools named by number is to be found by words.`,
      );
    const onUnusable: EngineParts["onUnusable"] = ({ sessionKey, sessionId }, { why, isNewer }) => {
      const then = isNewer
        ? "it is made anew on this machine only, and numbers that its tools tell are others elsewhere: start a version as new as the other machines'"
        : "it is made anew, for all machines, under other numbers";
      api.logger.warn(
        `What another machine made of the session ${sessionKey ?? sessionId} cannot be used (${why}): ${then}.`,
      );
    };
    api.registerContextEngine(LOSSLESS_ENGINE_ID, ({ agentDir, workspaceDir, sharedRows } = {}) => {
      const databasePath = databaseFile(settings.databasePath, agentDir, api.resolvePath);
      const stores = createStores(agentDir, { ...settings, databasePath });
      return engineOn(reach.watching(stores, workspaceDir, sharedRows), {
        ...{ ...settings, grants, siblingsDone, spendings, sharedRows },
        ...{ onStored: reach.noteStored, onWindow: reach.noteWindow },
        ...{ onMovedAway, onApart, onUnusable },
      });
    });
    const storesOf = (agentId: string | undefined) => {
      const agentDir = agentDirOf(api, agentId);
      if (agentDir === undefined) return undefined;
      const databasePath = databaseFile(settings.databasePath, agentDir, api.resolvePath);
      return createStores(agentDir, { ...settings, databasePath });
    };
    api.on?.("session_end", (event: SessionEnd, session: EndedSession) =>
      whenDeleted(event, session, { grants, storesOf }),
    );
    // One by one: some hosts take a single tool of a factory.
    const llm = api.runtime?.llm;
    const complete = llm && ((params: LlmCompleteParams) => llm.complete(params));
    const searchMs = settings.searchSeconds && settings.searchSeconds * 1000;
    const isOffered = (sessionKey: string | undefined) =>
      isSelected(api) &&
      !namesSession(
        [...(settings.ignoreSessionPatterns ?? []), RECALL_SESSION.pattern],
        sessionKey,
      );
    const research = researchBy({ subagent: api.runtime?.subagent, grants });
    const tools = recallTools({ reach, grants, isOffered, complete, research, searchMs });
    for (const tool of tools) api.registerTool(tool.of, { names: [tool.name] });
    api.registerCommand(losslessCommand({ reach, spendings, storesOf, ask: asking(tools) }));
  },
});

interface SessionEnd {
  reason?: unknown;
}

interface EndedSession extends Partial<SessionRef> {
  agentId?: string;
}

/** Only of children: whoever deletes a session of a person's own may want it back. */
async function whenDeleted(
  { reason }: SessionEnd,
  { agentId, sessionId = "", sessionKey }: EndedSession,
  {
    grants,
    storesOf,
  }: { grants: Grants; storesOf: (agentId: string | undefined) => Stores | undefined },
): Promise<void> {
  if (reason !== "deleted" || sessionKey === undefined || !grants.isChild(sessionKey)) return;
  const stores = storesOf(agentId);
  if (stores === undefined) return;
  try {
    await forgetDeleted(stores, { sessionId, sessionKey });
  } finally {
    stores.release();
  }
}

/** What the thorough tool answers to a question of a person. */
function asking(tools: readonly RecallTool[]) {
  const tool = tools.find(({ name }) => name === "lcm_expand_query");
  return async (session: Partial<SessionRef>, prompt: string): Promise<string> => {
    const made = tool?.of(session);
    if (made === null || made === undefined) return "The lossless engine answers elsewhere.";
    const { content } = await made.execute("ask", { prompt, thorough: true });
    return content.map(({ text }) => text).join("");
  };
}

/** Undefined: this host does not say it. */
function agentDirOf(
  { runtime, config }: PluginApi,
  agentId: string | undefined,
): string | undefined {
  const agent = runtime?.agent as
    | { resolveAgentDir?: (config: unknown, agentId?: string) => unknown }
    | undefined;
  const folder = agent?.resolveAgentDir?.(config, agentId);
  return typeof folder === "string" ? folder : undefined;
}

/** Pure. A host's relative paths begin in the plugin's folder, which goes with its next update. */
function databaseFile(
  path: string | undefined,
  agentDir: string | undefined,
  resolvePath: (path: string) => string,
): string | undefined {
  const isRelative = path !== undefined && !isAbsolute(path) && !/^~(?:[/\\]|$)/.test(path);
  if (isRelative && agentDir !== undefined) return join(agentDir, path);
  return path && resolvePath(path);
}

interface HostSettings {
  plugins?: { slots?: { contextEngine?: unknown } };
  agents?: { list?: { engine?: unknown }[] };
}

/** False: the host's configuration selects another engine, and so does each of its agents. */
function isSelected({ config, runtime }: PluginApi): boolean {
  const now = (runtime?.config?.current() ?? config) as HostSettings | undefined;
  const selected = now?.plugins?.slots?.contextEngine ?? LOSSLESS_ENGINE_ID;
  const ofAgents = now?.agents?.list?.map(({ engine }) => engine) ?? [];
  return [selected, ...ofAgents].includes(LOSSLESS_ENGINE_ID);
}

export default plugin;
