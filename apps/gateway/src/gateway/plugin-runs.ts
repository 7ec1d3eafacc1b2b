// Runs what plugins ask for in sessions of their own, and keeps others' from them.
import { randomUUID } from "node:crypto";
import type { SubagentRun, SubagentRunStatus } from "@clew/plugin-sdk/core";
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import type { SessionSettings } from "../host/session-settings.ts";
import type { PluginScope } from "../plugins/load/scope.ts";
import type { RunAsk, SubagentCaller, SubagentsPort } from "../plugins/load/subagents.ts";
import { parseSessionName, type SessionName } from "../sessions/keys.ts";
import { type Child, childId, isOver, pluginParent } from "../subagents/child.ts";
import type { ChildRun } from "../subagents/child-run.ts";
import { planOverride } from "../subagents/plan-override.ts";
import { notItsOwn } from "../subagents/plan-plugin-run.ts";
import type { Subagents } from "../subagents/subagents.ts";
import { ToolRefusal } from "../tools/tool.ts";

/** What the gateway lends. */
export interface PluginRunsOptions {
  subagents: Subagents;
  /** False: sessions start no others here. */
  isEnabled: boolean;
  isStopping(): boolean;
  /** The `plugins` section in force. */
  settings(): PluginsConfig;
  /** The newest messages of a session as people see them; null = it has none. */
  messages(key: string, limit: number): Promise<unknown[] | null>;
  /** Throws where it is too long. */
  requireFits(message: string): void;
}

export interface PluginRuns extends SubagentsPort {
  /** What differs in a session while a plugin's run is in it. */
  settingsOf(key: string): Pick<SessionSettings, "extraSystemPrompt" | "isToolless"> | undefined;
}

interface Begun {
  caller: SubagentCaller;
  run: ChildRun;
}

/** Of runs that are over, how many are remembered here; of others their records tell. */
const MOST_REMEMBERED = 1_000;
/** Of a timer. */
const MOST_MS = 2 ** 31 - 1;

export function createPluginRuns(options: PluginRunsOptions): PluginRuns {
  const { subagents, messages } = options;
  const begun = new Map<string, Promise<Begun>>();
  const live = new Set<Begun>();
  const extras = new Map<string, Pick<SessionSettings, "extraSystemPrompt" | "isToolless">>();

  const endRetired = () => {
    for (const { caller, run } of live) if (isNobodys(caller)) run.stop("reloaded");
  };
  const ownOf = async ({ pluginId }: SubagentCaller, text: string): Promise<Child> => {
    const { key } = nameOf(text);
    const child = (await subagents.list()).find((each) => each.key === key);
    if (child?.plugin?.id !== pluginId) throw new ToolRefusal(notItsOwn(pluginId, key));
    return child;
  };
  const isNowhere = async (key: string): Promise<boolean> =>
    childId(key) !== undefined &&
    !(await subagents.list()).some((child) => child.key === key) &&
    (await messages(key, 1)) === null;
  async function begin(caller: SubagentCaller, runId: string, ask: RunAsk): Promise<Begun> {
    const { pluginId, scope } = caller;
    const { key, agentId } = nameOf(ask.sessionKey, scope?.agentId);
    requireMayBegin(options, caller, ask);
    const override = planOverride(ask, { pluginId, plugins: options.settings() });
    if (override.kind === "refused") throw new ToolRefusal(override.reason);
    const children = await subagents.list();
    const earlier = children.find((child) => isRun(child, pluginId, runId));
    if (earlier !== undefined) return { caller, run: asRun(earlier) };
    const isKnown = childId(key) === undefined || children.some((child) => child.key === key);
    if (!isKnown && !(await isNowhere(key))) throw new ToolRefusal(notItsOwn(pluginId, key));
    const { extraSystemPrompt, disableTools: isToolless, lightContext } = ask;
    const run = await subagents.spawnForPlugin(
      parentOf(caller, agentId),
      {
        ...{ pluginId, runId, key, agentId, task: ask.message, delivers: ask.deliver },
        ...{ lightContext, model: override.kind === "override" ? override.model : undefined },
      },
      () => extras.set(key, { extraSystemPrompt, isToolless }),
    );
    const one = { caller, run };
    live.add(one);
    const onOver = () => endRetired();
    scope?.over?.addEventListener("abort", onOver, { once: true });
    void run.ended.then(() => {
      live.delete(one);
      extras.delete(key);
      scope?.over?.removeEventListener("abort", onOver);
    });
    // It may have been loaded again meanwhile.
    endRetired();
    return one;
  }
  return {
    endRetired,
    settingsOf: (key) => extras.get(key),
    async run(caller, ask) {
      const runId = ask.idempotencyKey ?? randomUUID();
      const id = idOf(caller, runId);
      const known = begun.get(id);
      const one = known ?? begin(caller, runId, ask);
      begun.set(id, one);
      one.catch(() => begun.delete(id));
      forgetOldest(begun, live);
      const { key } = (await one).run.child;
      if (key !== nameOf(ask.sessionKey, caller.scope?.agentId).key)
        throw new ToolRefusal(`Run "${runId}" of plugin "${caller.pluginId}" is in ${key}.`);
      return { runId, sessionKey: key } satisfies SubagentRun;
    },
    async wait(caller, { runId, timeoutMs }) {
      const here = await begun.get(idOf(caller, runId));
      if (here !== undefined) return statusWithin(here.run.ended, timeoutMs);
      const { pluginId } = caller;
      const child = (await subagents.list()).find((each) => isRun(each, pluginId, runId));
      if (child === undefined)
        throw new ToolRefusal(`Plugin "${pluginId}" has begun no run "${runId}".`);
      return isOver(child) ? statusOf(child) : { status: "pending" };
    },
    async messages(caller, { sessionKey, limit }) {
      const { key } = await ownOf(caller, sessionKey);
      return { messages: (await messages(key, limit)) ?? [] };
    },
    async remove(caller, { sessionKey, deleteTranscript }) {
      const { key } = nameOf(sessionKey);
      // Plugins tidy up whatever became of a run.
      if (await isNowhere(key)) return;
      await ownOf(caller, key);
      const run = subagents.runIn(key);
      run?.stop("cancelled");
      await run?.ended;
      const child = await ownOf(caller, key);
      if (!isOver(child)) throw new ToolRefusal(`Another process runs session ${key}.`);
      if (deleteTranscript) await subagents.remove(child);
    },
  };
}

/** Whoever began it will not ask for it any more. */
const isNobodys = ({ isRetired, scope }: SubagentCaller): boolean =>
  isRetired() && scope?.over?.aborted !== false;

const isRun = ({ plugin }: Child, pluginId: string, runId: string): boolean =>
  plugin?.id === pluginId && plugin.runId === runId;

/** One that is known by its record alone. */
function asRun(child: Child): ChildRun {
  if (!isOver(child)) throw new ToolRefusal(`Another process runs session ${child.key}.`);
  return { child, stop() {}, ended: Promise.resolve(child) };
}

const idOf = ({ pluginId }: SubagentCaller, runId: string): string => `${pluginId}\0${runId}`;

function nameOf(text: string, agentId?: string): SessionName {
  const name = parseSessionName(text, agentId);
  if (name !== undefined) return name;
  throw new ToolRefusal(`"${text.slice(0, 80)}" names no session.`);
}

function requireMayBegin(
  { isEnabled, isStopping, requireFits }: PluginRunsOptions,
  caller: SubagentCaller,
  { message, deliver }: RunAsk,
): void {
  const { pluginId, scope } = caller;
  const refuse = (reason: string) => {
    throw new ToolRefusal(reason);
  };
  if (!isEnabled)
    refuse("Sessions start no others here: agents.defaults.subagents.enabled is false.");
  if (isStopping()) refuse("The gateway is stopping; nothing new begins.");
  if (isNobodys(caller))
    refuse(
      `Plugin "${pluginId}" was loaded again or stopped, and what it was before begins nothing.`,
    );
  if (deliver && scope?.sessionKey === undefined)
    refuse(
      `Plugin "${pluginId}" runs for no session to which the reply could be said; leave out deliver.`,
    );
  requireFits(message);
}

function parentOf(
  { pluginId, scope }: { pluginId: string; scope: PluginScope | undefined },
  agentId: string,
): Child["parent"] {
  return scope?.sessionKey === undefined
    ? { key: pluginParent(pluginId), agentId, sessionId: "" }
    : { key: scope.sessionKey, agentId: scope.agentId, sessionId: scope.sessionId ?? "" };
}

async function statusWithin(
  ended: Promise<Child>,
  timeoutMs: number | undefined,
): Promise<SubagentRunStatus> {
  if (timeoutMs === undefined) return statusOf(await ended);
  const { promise, resolve } = Promise.withResolvers<SubagentRunStatus>();
  const timer = setTimeout(() => resolve({ status: "timeout" }), Math.min(timeoutMs, MOST_MS));
  return Promise.race([ended.then(statusOf), promise]).finally(() => clearTimeout(timer));
}

function statusOf({ end }: Child): SubagentRunStatus {
  const { outcome, reason } = end!;
  if (outcome === "completed") return { status: "ok" };
  const status = outcome === "timeout" ? "timeout" : "error";
  return { status, error: reason ?? ENDED[outcome] };
}

const ENDED = {
  failed: "The run failed.",
  cancelled: "The run was cancelled.",
  timeout: "The run was ended, because its time was over.",
  lost: "The run was lost, because the program that ran it ended.",
} as const;

/** Those that run are never forgotten. */
function forgetOldest(begun: Map<string, Promise<Begun>>, live: ReadonlySet<Begun>): void {
  if (begun.size <= MOST_REMEMBERED + live.size) return;
  const running = new Set([...live].map(({ run }) => run.child.plugin?.runId));
  for (const id of begun.keys()) {
    if (begun.size <= MOST_REMEMBERED + live.size) return;
    if (!running.has(id.slice(id.indexOf("\0") + 1))) begun.delete(id);
  }
}
