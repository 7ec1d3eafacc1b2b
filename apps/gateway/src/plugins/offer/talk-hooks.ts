// Tells plugins what is said in a session, and what came of a turn.
import type { LogPort, TurnRequest, TurnResult } from "@clew/engine-core";
import { isRecord } from "@clew/plugin-sdk/host";
import { buildContext, type TranscriptEntry, textOf } from "@clew/plugin-sdk/transcript";
import type { HookContext } from "./hook-context.ts";
import type { HookRunner } from "./hook-runs.ts";

export interface TalkHooks {
  /** Before the turn: what somebody says. */
  began(prompt: TurnRequest["prompt"]): Promise<void>;
  /** After it; nobody waits for what plugins make of it. */
  ended(
    result: TurnResult,
    branch: () => Promise<readonly TranscriptEntry[] | null>,
  ): Promise<void>;
}

export function talkHooks(
  hooks: HookRunner,
  context: HookContext,
  { log, signal }: { log: LogPort; signal: AbortSignal | undefined },
): TalkHooks {
  return {
    async began(prompt) {
      // What other sessions say is no message of the person.
      if (context.trigger !== "user" || prompt.provenance?.kind === "inter_session") return;
      const content = textOf({ ...prompt, role: "user" });
      const { senderId, channelId: channel, sessionKey } = context;
      const said = { content, timestamp: prompt.timestamp };
      const from = { from: senderId, senderId, channel, metadata: { senderId } };
      hooks.observe("message_received", () => ({ ...said, ...from }), context);
      const event = () => ({ ...said, ...from, sessionKey, isGroup: false });
      await hooks.ask("before_dispatch", { event, context, signal }, (outcome) => {
        if (outcome.ok && isRecord(outcome.given) && outcome.given.handled === true)
          log.warn(
            `[plugins] ${outcome.pluginId}: hook before_dispatch said that it had answered; this host asks the model all the same`,
          );
        return false;
      });
    },
    async ended({ outcome, error, report }, branch) {
      if (!hooks.has("agent_end")) return;
      const { items } = buildContext((await branch()) ?? []);
      const event = () => ({
        ...(context.runId !== undefined && { runId: context.runId }),
        messages: items.map(({ message }) => message),
        success: outcome === "completed",
        ...(error !== null && { error: error.message }),
        durationMs: Math.round(report.durationMs),
      });
      hooks.observe("agent_end", event, context);
    },
  };
}
