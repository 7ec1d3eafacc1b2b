// What the hooks of plugins are told about one turn.
import type {
  HookPort,
  HostSession,
  LogPort,
  ModelPort,
  ToolPort,
  TranscriptPort,
  TurnRequest,
} from "@clew/engine-core";
import type { Approve } from "../../tools/tool.ts";
import type { HookContext } from "./hook-context.ts";
import type { HookRunner } from "./hook-runs.ts";
import { withModelHooks } from "./model-hooks.ts";
import { type TalkHooks, talkHooks } from "./talk-hooks.ts";
import { withToolHooks } from "./tool-hooks.ts";
import { withWriteHooks } from "./write-hooks.ts";

/** How many messages a compaction took is the engine's to know. */
const UNKNOWN_COUNT = -1;

export interface TurnHooks extends TalkHooks {
  port: HookPort;
  beforePromptBuild: NonNullable<TurnRequest["beforePromptBuild"]>;
  tools(tools: ToolPort, approve: Approve | undefined): ToolPort;
  model(model: ModelPort): ModelPort;
  transcript(transcript: TranscriptPort): TranscriptPort;
}

export interface TurnHooksOptions {
  context: HookContext;
  session: HostSession;
  log: LogPort;
  signal: AbortSignal | undefined;
  limitBytes: number;
}

export function turnHooks(hooks: HookRunner, options: TurnHooksOptions): TurnHooks {
  const { context, session, log, signal, limitBytes } = options;
  const { sessionFile } = session;
  return {
    ...talkHooks(hooks, context, { log, signal }),
    tools: (tools, approve) => withToolHooks(tools, { hooks, context, approve, limitBytes }),
    model: (model) => withModelHooks(model, { hooks, context }),
    transcript: (transcript) => withWriteHooks(transcript, { hooks, context, log, limitBytes }),
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
      hooks.has("before_prompt_build") || hooks.has("before_agent_start")
        ? hooks.additions({ prompt, messages: [...messages] }, context, { signal, limitBytes })
        : {},
  };
}
