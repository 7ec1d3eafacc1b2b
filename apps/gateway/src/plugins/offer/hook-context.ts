// What every hook of a plugin is told about where and for whom something happens.
import type { HostSession } from "@clew/engine-core";

/** What began a turn, in the words of plugins. */
export type Trigger = "user" | "heartbeat" | "cron";

export interface HookContext {
  agentId: string;
  sessionId: string;
  sessionKey: string;
  /** Folder the agent works in. */
  workspaceDir: string;
  trigger: Trigger;
  /** This host has one channel, its own. */
  messageProvider: string;
  channelId: string;
  conversationId: string;
  /** Whoever may talk to this host is its person. */
  senderId: string;
  /** Id of the turn; absent outside turns. */
  runId?: string;
}

export const CHANNEL = "clew";
export const PERSON = "owner";

export function hookContext(
  { agentId, sessionId, sessionKey }: HostSession,
  about: { workspaceDir: string; trigger?: Trigger | undefined; runId?: string | undefined },
): HookContext {
  const { workspaceDir, trigger = "user", runId } = about;
  return {
    ...{ agentId, sessionId, sessionKey, workspaceDir, trigger },
    ...{ messageProvider: CHANNEL, channelId: CHANNEL, conversationId: sessionKey },
    senderId: PERSON,
    ...(runId !== undefined && { runId }),
  };
}

/** An event as `registerHook` has them: "command:new" is the action "new" of the type "command". */
export function internalEvent(
  type: string,
  action: string,
  { sessionKey = "", context = {} }: { sessionKey?: string; context?: object } = {},
) {
  return { type, action, sessionKey, context, timestamp: new Date(), messages: [] as string[] };
}
