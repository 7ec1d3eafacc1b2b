// What is known of a session that another one started.
import { z } from "zod";
import { isArchivedKey } from "../sessions/keys.ts";

const EndSchema = z.object({
  /**
   * "timeout": its time was over · "cancelled": a person, its parent or the gateway ended it ·
   * "lost": its process died.
   */
  outcome: z.enum(["completed", "failed", "cancelled", "timeout", "lost"]),
  /** For people; null = nothing to say. */
  reason: z.string().nullable(),
  /** What engines are told. */
  notice: z.enum(["completed", "deleted", "swept", "released"]),
  /** ms since the epoch. */
  at: z.number(),
});

/** How a child session ended. */
export type ChildEnd = z.infer<typeof EndSchema>;

export const ChildSchema = z.object({
  v: z.literal(1),
  /** Canonical, as is the parent's. */
  key: z.string(),
  agentId: z.string(),
  /** Its key is `plugin:<id>` where a plugin started it outside any request. */
  parent: z.object({ key: z.string(), agentId: z.string(), sessionId: z.string() }),
  /** What people call it; null = its parent gave no name. */
  label: z.string().nullable(),
  /** The beginning of what it was asked. */
  task: z.string(),
  /** "fork": it began with its parent's history. */
  contextMode: z.enum(["isolated", "fork"]),
  /**
   * True: if it is isolated, engines are not told of it, and it is not shown the workspace's
   * instructions.
   */
  lightContext: z.boolean(),
  /** "provider/model"; null = as its agent's settings say. */
  model: z.string().nullable(),
  /** Registered id of its context engine; null = as its agent's settings say. */
  engine: z.string().nullable(),
  /** 1 = of a session that is nobody's child. */
  depth: z.number().int().positive(),
  /** "delete": its transcript goes when it ends. */
  cleanup: z.enum(["keep", "delete"]),
  /** How long it may run, ms. */
  boundMs: z.number().positive(),
  /** How many model calls one of its turns may make. */
  maxModelCalls: z.number().int().positive(),
  /** ms since the epoch. */
  startedAt: z.number(),
  /** "ending": it is over, and its parent's engine may not have been told yet. */
  state: z.enum(["starting", "running", "ending", "ended"]),
  /** Registered id of the engine that prepared for it; null = none was asked. */
  preparedBy: z.string().nullable(),
  end: EndSchema.nullable(),
  /** Its last reply; null = none, or not ended. */
  reply: z.string().nullable(),
  /** True: its parent was told how it ended, or need not be. */
  isAnnounced: z.boolean(),
  /** The plugin that started it, and its run there; null = a session's model did. */
  plugin: z.object({ id: z.string(), runId: z.string() }).nullable().default(null),
});

/** A session that another one started; kept in a file of its own. */
export type Child = z.infer<typeof ChildSchema>;

/** The key of a new child of an agent; `id` is unique. Plugins know such sessions by the mark. */
export const childKey = (agentId: string, id: string): string => `agent:${agentId}:subagent:${id}`;

/** The unique part of a child's key, which names files; undefined = it is no child's. */
export function childId(key: string): string | undefined {
  const [, id] = /^agent:[^:]+:subagent:([A-Za-z0-9_-][A-Za-z0-9._-]{0,199})$/.exec(key) ?? [];
  return isArchivedKey(key) ? undefined : id;
}

/** What stands in a parent's place where a plugin starts sessions outside any request. */
export const pluginParent = (pluginId: string): string => `plugin:${pluginId}`;

/** It runs no more. */
export const isOver = ({ end }: Pick<Child, "end">): boolean => end !== null;
