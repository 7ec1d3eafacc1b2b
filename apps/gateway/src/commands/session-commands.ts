// Answers the commands of people in the sessions of a gateway.
import type { TurnEvent } from "@clew/engine-core";
import type { Approvals } from "../approvals/queue.ts";
import type { Costs } from "../costs/meter.ts";
import type { Editors } from "../editors/editors.ts";
import { tellerOf } from "../events/turn-events.ts";
import type { ChosenModels } from "../gateway/chosen-models.ts";
import type { KnownSessions } from "../gateway/known-sessions.ts";
import type { WaitingMessages } from "../gateway/sending.ts";
import type { SessionViews } from "../gateway/session-views.ts";
import { successorsOf } from "../gateway/successors.ts";
import { cancellable, type TurnParts } from "../gateway/turns.ts";
import type { McpSources } from "../mcp/client/mcp-sources.ts";
import type { PluginHost } from "../plugins/host.ts";
import type { CommandAnswer, CommandSession } from "./answer.ts";
import { type CompactRequest, runCompact } from "./compact.ts";
import type { CommandLine } from "./parse.ts";
import { runCommand } from "./run.ts";
import { createCommandSession } from "./session.ts";
import type { StatusFacts } from "./status.ts";

/** What is asked in one session, by its key or a short name. */
export interface SessionCommands {
  /**
   * The answer to a command ("/status", or one of a plugin). `onEvent` is told of a compaction's
   * progress. Throws like `send`.
   */
  command(
    key: string,
    command: CommandLine,
    options?: {
      signal?: AbortSignal | undefined;
      onEvent?: ((event: TurnEvent) => void) | undefined;
    },
  ): Promise<CommandAnswer>;
  /** What `/status` tells, asked for as data; nobody else is told of it. Throws like `send`. */
  status(key: string): Promise<StatusFacts>;
  /** What `/compact` does, asked for as data. */
  compact(key: string, request: CompactRequest): Promise<Omit<CommandAnswer, "command">>;
}

export interface SessionCommandsOptions
  extends Pick<TurnParts, "host" | "store" | "log" | "reports" | "conversations">,
    Pick<TurnParts, "cancellation" | "children" | "events" | "isStopping"> {
  home: string;
  /** As of its storage. */
  records: string;
  known: KnownSessions;
  plugins: PluginHost | undefined;
  costs: Costs;
  models: Pick<ChosenModels, "note">;
  approvals: Approvals;
  editors: Pick<Editors, "copy">;
  mcp: Pick<McpSources, "status">;
  waiting: WaitingMessages;
  engineStatus: SessionViews["engine"];
  canonicalKey(text: string): string;
  agentOf(key: string): string;
}

export function createSessionCommands(parts: SessionCommandsOptions): SessionCommands {
  const { approvals, children, events, canonicalKey } = parts;
  return {
    async command(text, command, options) {
      const key = canonicalKey(text);
      const answer = await inCommandSession(parts, { ...options, key }, (session) =>
        runCommand(command, session),
      );
      const { ok } = answer;
      events.publish({ type: "command", session: key, command: command.name, ok });
      if (ok && command.name === "new") {
        await approvals.forget({ agentId: parts.agentOf(key), sessionKey: key });
        await children.release(key);
        events.publish({ type: "session", session: key, change: "renewed" });
      }
      return answer;
    },
    status: (text) =>
      inCommandSession(parts, { key: canonicalKey(text) }, (session) => session.status()),
    compact: (text, request) =>
      inCommandSession(parts, { key: canonicalKey(text) }, (session) =>
        runCompact(request, session),
      ),
  };
}

interface Asked {
  /** Canonical. */
  key: string;
  signal?: AbortSignal | undefined;
  onEvent?: ((event: TurnEvent) => void) | undefined;
}

function inCommandSession<Result>(
  parts: SessionCommandsOptions,
  { key, signal: given, onEvent }: Asked,
  work: (session: CommandSession) => Promise<Result>,
): Promise<Result> {
  const { home, records, host, store, known, conversations, plugins, costs, approvals } = parts;
  const { reports, events, engineStatus } = parts;
  const tell = tellerOf(events, { key });
  return cancellable(parts, key, given, (signal) =>
    work(
      createCommandSession({
        ...{ key, signal, host, store, known, conversations, plugins, home, records },
        ...{ costs, approvals, engineStatus },
        onEvent(event) {
          tell(event);
          onEvent?.(event);
        },
        agentId: parts.agentOf(key),
        waiting: {
          list: () => parts.waiting.list(key),
          takeBack: (id) => parts.waiting.takeBack(key, id),
          clear: () => parts.waiting.clear(key),
        },
        children: parts.children.list,
        toolServers: () => parts.mcp.status(key),
        noteModel: (branch) => parts.models.note(key, branch),
        onForked(session) {
          events.publish({ type: "session", session, change: "created" });
          parts.editors.copy(key, session).catch((error: Error) => parts.log.warn(error.message));
        },
        successorsOf: (conversation) => successorsOf(parts, conversation),
        storeReport: (conversation, report) => reports.store(conversation, { report }),
      }),
    ),
  );
}
