// Takes a session away with everything that belongs to it.
import type { HostSession } from "@clew/engine-core";
import type { Approvals } from "../approvals/queue.ts";
import type { Costs } from "../costs/meter.ts";
import type { RepliesUnderWay } from "../door/call/under-way.ts";
import type { Door } from "../door/serve/door.ts";
import type { Editors } from "../editors/editors.ts";
import type { Host } from "../host/host.ts";
import type { Conversations } from "../sessions/conversations.ts";
import type { SessionStore } from "../sessions/store.ts";
import { sessionInUse } from "../waiting/refusals.ts";
import type { ChildSessions } from "./child-sessions.ts";
import type { ChosenModels } from "./chosen-models.ts";
import type { WaitingMessages } from "./sending.ts";
import type { TurnReports } from "./turn-reports.ts";

export interface DeletePorts {
  conversations: Pick<Conversations, "busy" | "replace">;
  underWay: Pick<RepliesUnderWay, "busy">;
  store: Pick<SessionStore, "find" | "remove" | "notFound">;
  waiting: Pick<WaitingMessages, "clear">;
  door: Pick<Door, "forget">;
  costs: Pick<Costs, "deleted">;
  reports: Pick<TurnReports, "deleted">;
  models: Pick<ChosenModels, "forget">;
  approvals: Pick<Approvals, "forget">;
  host: Pick<Host, "forgetInHarnesses">;
  children: Pick<ChildSessions, "release">;
  editors: Pick<Editors, "remove">;
  tellDeleted(session: HostSession): Promise<void>;
}

/** Throws SESSION_NOT_FOUND for `text`, as a person named it, SESSION_BUSY, SESSION_LOCKED. */
export async function deleteSession(
  ports: DeletePorts,
  { text, key, agentId }: { text: string; key: string; agentId: string },
): Promise<void> {
  const { conversations, store } = ports;
  if (conversations.busy().has(key) || ports.underWay.busy().has(key)) throw sessionInUse(key);
  const { sessionId } = await conversations.replace(key, async () => {
    const found = await store.find(key);
    if (found === null) throw await store.notFound(text);
    // Meanwhile a client may have gone on in it.
    if (ports.underWay.busy().has(key)) throw sessionInUse(key);
    await ports.waiting.clear(key);
    await store.remove(key);
    ports.door.forget(key);
    return found;
  });
  const session = { agentId, sessionKey: key };
  await ports.costs.deleted(key);
  ports.reports.deleted(agentId);
  ports.models.forget(key);
  await ports.approvals.forget(session);
  await ports.host.forgetInHarnesses(session);
  await ports.children.release(key);
  await ports.tellDeleted({ ...session, sessionId });
  await ports.editors.remove(key);
}
