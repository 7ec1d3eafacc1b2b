// Decides whether a result of a tool is of a call that nobody made.
import type { AgentMessage, ToolResultMessage } from "@clew/plugin-sdk/core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { toAgentMessages } from "../transcript/agent-messages.ts";
import type { DoorAnswer, DoorRequest, DoorWire } from "../wires/door-wire.ts";

/** Pure. The refusal; undefined: each is of a call of the session, or of the request itself. */
export function planUnknownResult(
  wire: DoorWire,
  results: readonly ToolResultMessage[],
  { request, branch }: { request: DoorRequest; branch: readonly TranscriptEntry[] },
): DoorAnswer | undefined {
  const stored = branch.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
  const sent = toAgentMessages(wire.api, request.messages, { toolNames: new Map() });
  const calls = [...stored, ...sent].flatMap(callsOf);
  const ids = new Set(calls.map(({ id }) => id));
  const names = new Set(calls.map(({ name }) => name));
  // On a wire without ids it is told by the name of its tool.
  const unknown = results.find(({ toolCallId: id, toolName: name }) =>
    id === "" ? !names.has(name) : !ids.has(id),
  );
  return unknown && wire.error(400, sentenceOf(unknown));
}

const sentenceOf = ({ toolCallId: id, toolName: name }: ToolResultMessage): string =>
  id === ""
    ? `This session has no call of a tool ${JSON.stringify(name)}, so nothing waits for its result; send results by the names of tools that its replies have called.`
    : `This session has no call with the id ${JSON.stringify(id)}, so nothing waits for its result; send results under the ids of calls in its replies.`;

const callsOf = (message: AgentMessage) =>
  message.role === "assistant"
    ? message.content.flatMap((block) => (block.type === "toolCall" ? [block] : []))
    : [];
