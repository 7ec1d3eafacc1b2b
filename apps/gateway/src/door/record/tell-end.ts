// Tells followers how a turn of the door has ended.
import type { EndedCall, ModelCallReport, TurnReport } from "@clew/engine-core";
import type { ModelError } from "@clew/plugin-sdk/host";
import { projectMessageForDisplay } from "@clew/transcript-policy";
import type { EventHub } from "../../events/hub.ts";
import type { DoorTurn } from "../turn/door-turn.ts";
import type { PeekedReply } from "../upstream/peek-reply.ts";

export function tellEnd(
  events: Pick<EventHub, "publish">,
  { key }: DoorTurn,
  { report, reply, ids }: { report: TurnReport; reply: PeekedReply; ids: readonly string[] },
): void {
  const [entryId] = ids;
  const [call] = report.modelCalls;
  if (call !== undefined) events.publish({ type: "call_end", session: key, call: endedCall(call) });
  if (entryId !== undefined)
    events.publish({ type: "message", session: key, entryId, ...shown(reply.message) });
  const { outcome, turnId, replyEntryId, model } = report;
  events.publish({
    ...{ type: "done", session: key, outcome, turnId, replyEntryId, model },
    error: reply.error === undefined ? null : errorOf(reply.error),
    stopReason: call?.stopReason ?? null,
    ...(call?.cache !== undefined && { cache: call.cache }),
  });
}

/** Without what was sent, which was told before. */
function endedCall(call: ModelCallReport): EndedCall {
  const { system: _system, tools: _tools, messages: _messages, size: _size, ...rest } = call;
  const { policyChanges: _changes, ...ended } = rest;
  return ended;
}

function shown(reply: PeekedReply["message"]) {
  const message = projectMessageForDisplay(reply);
  return message === undefined ? {} : { message };
}

const errorOf = ({ kind, message }: ModelError) => ({ kind, message });
