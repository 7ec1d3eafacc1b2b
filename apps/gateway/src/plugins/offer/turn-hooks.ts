// What the hooks of plugins are told about one turn.
import type { HookPort, HostSession, TurnRequest } from "@clew/engine-core";
import type { HookRunner } from "./hook-runs.ts";

/** How many messages a compaction took is the engine's to know. */
const UNKNOWN_COUNT = -1;

export interface TurnHooks {
  port: HookPort;
  beforePromptBuild: NonNullable<TurnRequest["beforePromptBuild"]>;
}

export function turnHooks(
  hooks: HookRunner,
  { agentId, sessionId, sessionKey, sessionFile }: HostSession,
  { signal, limitBytes }: { signal: AbortSignal | undefined; limitBytes: number },
): TurnHooks {
  const context = { agentId, sessionId, sessionKey };
  return {
    port: {
      beforeCompaction: ({ messageCount, tokenCount, trigger }) =>
        hooks.emit(
          "before_compaction",
          { messageCount, tokenCount, trigger, sessionFile },
          context,
        ),
      afterCompaction: ({ session, messageCount, tokenCount, compacted, previousSessionId }) =>
        hooks.emit(
          "after_compaction",
          {
            ...{
              messageCount,
              tokenCount,
              compacted,
              compactedCount: UNKNOWN_COUNT,
              sessionFile: session.sessionFile,
            },
            ...(previousSessionId !== undefined && { previousSessionId }),
          },
          { ...context, sessionId: session.sessionId },
        ),
    },
    // A list of their own: handlers may keep or change it.
    beforePromptBuild: async ({ prompt, messages }) =>
      hooks.has("before_prompt_build")
        ? hooks.additions({ prompt, messages: [...messages] }, context, { signal, limitBytes })
        : {},
  };
}
