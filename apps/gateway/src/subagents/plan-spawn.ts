// Decides whether a session may start a child, and what that child is.
import { headOf } from "@clew/plugin-sdk/transcript";
import type { SubagentsConfig } from "../config/subagents.ts";
import { type Child, childKey, isOver } from "./child.ts";

/** What a model asks for. */
export interface SpawnAsk {
  task: string;
  label?: string | undefined;
  /** Absent: the parent's. */
  agentId?: string | undefined;
  /** Absent: "isolated". */
  contextMode?: Child["contextMode"] | undefined;
  /** Absent: false. */
  lightContext?: boolean | undefined;
  /** "provider/model". Absent: the agent's. */
  model?: string | undefined;
  /** Registered id. Absent: the agent's. */
  engine?: string | undefined;
  /** Absent: as much as there is. */
  timeoutSeconds?: number | undefined;
  /** Absent: "keep". */
  cleanup?: Child["cleanup"] | undefined;
}

/** What the decision depends on. */
export interface SpawnFacts {
  parent: Child["parent"];
  /** All that are known, those that are over included. */
  children: readonly Child[];
  limits: SubagentsConfig;
  /** Of a session that is nobody's child, for one turn. */
  maxModelCalls: number;
  /** Agents that there are. */
  agents: readonly string[];
  /** Engines that there are, by registered id. */
  engines: readonly string[];
  /** Why a model cannot be asked, in words; undefined = it can. */
  whyNoModel: (name: string) => string | undefined;
  /** Unique. */
  id: string;
  /** ms since the epoch. */
  now: number;
}

export type SpawnPlan = { kind: "spawn"; child: Child } | { kind: "refused"; reason: string };

/** Of a task, what a list shows. */
const TASK_CHARS = 200;
const SECTION = "agents.defaults.subagents";

export function planSpawn(ask: SpawnAsk, facts: SpawnFacts): SpawnPlan {
  const reason = whyNotNow(facts) ?? whyNotSo(ask, facts);
  return reason === undefined
    ? { kind: "spawn", child: childOf(ask, facts) }
    : { kind: "refused", reason };
}

/** 0 = it is nobody's child. */
export const depthOf = (key: string, children: readonly Child[]): number =>
  children.find((child) => child.key === key)?.depth ?? 0;

/** Where there are too many already; undefined = there are not. */
function whyNotNow({ parent, children, limits, now }: SpawnFacts): string | undefined {
  const running = children.filter((child) => !isOver(child));
  const own = running.filter((child) => child.parent.key === parent.key);
  if (depthOf(parent.key, children) >= limits.maxSpawnDepth)
    return `Sessions at this depth start no others (${SECTION}.maxSpawnDepth is ${limits.maxSpawnDepth}); do the work here.`;
  if (own.length >= limits.maxChildrenPerAgent)
    return `${own.length} sessions that this one started are running, as many as may at once (${SECTION}.maxChildrenPerAgent); wait for one of them to end.`;
  if (running.length >= limits.maxConcurrent)
    return `${running.length} child sessions are running, as many as may at once (${SECTION}.maxConcurrent); try again when one has ended.`;
  return timeLeft(parent.key, children, now) <= 0
    ? "This session's own time is over; answer with what there is."
    : undefined;
}

/** What cannot be had; undefined = all of it can. */
function whyNotSo(
  { task, agentId, contextMode, timeoutSeconds, model, engine }: SpawnAsk,
  { parent, limits, agents, engines, whyNoModel }: SpawnFacts,
): string | undefined {
  if (task.trim() === "") return "The task is blank; say what the new session shall do.";
  if (agentId !== undefined && !agents.includes(agentId))
    return `There is no agent "${agentId}"; there is: ${agents.join(", ")}.`;
  if (contextMode === "fork" && agentId !== undefined && agentId !== parent.agentId)
    return `A fork goes on with this session's history, so it is of agent "${parent.agentId}" too; leave out agentId, or ask for an isolated session.`;
  if (timeoutSeconds !== undefined && timeoutSeconds > limits.runTimeoutSeconds)
    return `A child session may run ${limits.runTimeoutSeconds} seconds at most (${SECTION}.runTimeoutSeconds), not ${timeoutSeconds}.`;
  if (engine !== undefined && !engines.includes(engine))
    return `There is no context engine "${engine}"; there is: ${engines.join(", ")}.`;
  return model === undefined ? undefined : whyNoModel(model);
}

function childOf(ask: SpawnAsk, facts: SpawnFacts): Child {
  const { parent, children, limits, id, now } = facts;
  const { agentId = parent.agentId, label = "", contextMode = "isolated" } = ask;
  const askedMs = (ask.timeoutSeconds ?? limits.runTimeoutSeconds) * 1000;
  return {
    ...{ v: 1, key: childKey(agentId, id), agentId, parent, contextMode },
    label: label.trim() === "" ? null : label.trim(),
    task: headOf(ask.task, TASK_CHARS).toWellFormed(),
    lightContext: ask.lightContext ?? false,
    ...{ model: ask.model ?? null, engine: ask.engine ?? null },
    depth: depthOf(parent.key, children) + 1,
    cleanup: ask.cleanup ?? "keep",
    boundMs: Math.min(askedMs, timeLeft(parent.key, children, now)),
    maxModelCalls: shareOfCalls(facts),
    ...{ startedAt: now, state: "starting", preparedBy: null, end: null, reply: null },
    ...{ isAnnounced: false, plugin: null },
  };
}

/** A child ends before its parent does, where that one has an end. */
function timeLeft(parentKey: string, children: readonly Child[], now: number): number {
  const parent = children.find(({ key }) => key === parentKey);
  if (parent === undefined || isOver(parent)) return Number.POSITIVE_INFINITY;
  return parent.startedAt + parent.boundMs - now;
}

/** Those that may run at once share what their parent may call. */
function shareOfCalls({ parent, children, limits, maxModelCalls }: SpawnFacts): number {
  const own = children.find(({ key }) => key === parent.key)?.maxModelCalls ?? maxModelCalls;
  return Math.max(1, Math.floor(own / limits.maxChildrenPerAgent));
}
