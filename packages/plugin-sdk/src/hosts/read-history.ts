// Reads a session's messages from a host that keeps no file of them.
import type { AgentMessage } from "../contract/message.ts";
import type { SessionRef, SessionTarget } from "../contract/session.ts";
import { runtimeCompactionSlot } from "../delegate.ts";
import { isRecord } from "../is-record.ts";
import { functionOf, loadTranscripts } from "../other-host.ts";
import { messageId, withMessageId } from "../transcript/message-id.ts";
import { withDerivedIds } from "./derived-ids.ts";

/** Whose messages; the parameters of any method of an engine will do. */
export interface HistoryRequest extends SessionRef {
  /** Whose session it is. Absent: `sessionTarget.agentId`, else the host decides. */
  agentId?: string;
  /** Where the session is stored. Absent: not known. */
  sessionTarget?: SessionTarget;
}

/**
 * What was said in a session, oldest first, with the ids that the messages have in `assemble`: for
 * methods that were given no `sessionFile`. Undefined: there is no such session, or this host lets
 * no plugin read one.
 * @example
 * ```ts
 * import { readHistory } from "@clew/plugin-sdk/core";
 *
 * const messages = await readHistory({ sessionId: "s", sessionKey: "agent:main:main" });
 * console.log(messages); // no host is running here
 * ```
 *
 * ```text
 * undefined
 * ```
 */
export async function readHistory(request: HistoryRequest): Promise<AgentMessage[] | undefined> {
  const { sessionId, sessionKey, sessionTarget } = request;
  const agentId = request.agentId ?? sessionTarget?.agentId;
  const read = functionOf(await loadTranscripts(), "readVisibleSessionTranscriptMessageEntries");
  if (read === undefined || sessionKey === undefined) return undefined;
  const entries = await read({ sessionId, sessionKey, ...(agentId !== undefined && { agentId }) });
  if (!Array.isArray(entries)) return undefined;
  // Elsewhere messages are given without ids, and the same derived ones have to come of these.
  const isClew = runtimeCompactionSlot() !== undefined;
  const messages = entries.flatMap((entry) => messageOf(entry, isClew));
  return isClew ? messages : withDerivedIds(messages);
}

function messageOf(entry: unknown, isClew: boolean): AgentMessage[] {
  if (!isRecord(entry) || !isRecord(entry.message)) return [];
  const message = entry.message as unknown as AgentMessage;
  const isNamed = messageId(message) !== undefined || (!isClew && message.timestamp !== undefined);
  const { entryId } = entry;
  return [isNamed || typeof entryId !== "string" ? message : withMessageId(message, entryId)];
}
