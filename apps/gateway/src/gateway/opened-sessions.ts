// Does what is to be done as a session is opened, and as it is closed.
import { type LogPort, settleMaintenance } from "@clew/engine-core";
import type { Costs } from "../costs/meter.ts";
import type { Editors } from "../editors/editors.ts";
import type { Host } from "../host/host.ts";
import type { PluginHost } from "../plugins/host.ts";
import type { ConversationsOptions } from "../sessions/conversations.ts";
import { describeNote } from "../sessions/notes.ts";
import type { ChosenModels } from "./chosen-models.ts";
import { tellShutdown } from "./session-ends.ts";
import type { TurnReports } from "./turn-reports.ts";

export interface OpenedSessionsOptions {
  host: Pick<Host, "models" | "workspace">;
  editors: Pick<Editors, "forget">;
  models: Pick<ChosenModels, "note">;
  reports: Pick<TurnReports, "recallCount" | "close">;
  plugins: PluginHost | undefined;
  costs: Pick<Costs, "opened">;
  log: LogPort;
  isStopping(): boolean;
}

export interface OpenedSessions extends Pick<ConversationsOptions, "onOpened" | "onClosing"> {
  /** Sessions in memory. */
  count(): number;
}

/**
 * Time an engine's background work gets when its session closes, ms; after
 * it the work is cancelled.
 */
const MAINTENANCE_GRACE_MS = 1000;

export function createOpenedSessions(options: OpenedSessionsOptions): OpenedSessions {
  const { host, editors, models, reports, plugins, costs, log, isStopping } = options;
  let count = 0;
  return {
    count: () => count,
    async onOpened(conversation, notes) {
      count++;
      const { agentId, sessionKey } = conversation.session.session;
      for (const note of notes) log.warn(`session ${sessionKey}: ${describeNote(note)}`);
      costs.opened(sessionKey);
      editors.forget(sessionKey);
      models.note(sessionKey, conversation.session.branch());
      const { model } = host.models(agentId, sessionKey).answering;
      await reports.recallCount(conversation, model);
    },
    async onClosing(conversation) {
      count--;
      await settleMaintenance(conversation.state.maintenance, MAINTENANCE_GRACE_MS);
      if (isStopping()) {
        const { agentId, sessionKey } = conversation.session.session;
        await tellShutdown(plugins, conversation, host.workspace(agentId, sessionKey));
      }
      await reports.close(conversation);
    },
  };
}
