// Which tool results a later one has made useless.
import type { AgentMessage, ToolResultMessage } from "../contract/message.ts";
import { type AnyBlock, blocksOf } from "../messages/blocks.ts";
import { textOf } from "./text.ts";
import { fileAccess } from "./tool-facts.ts";
import { pairToolCalls, type ToolCallPlace } from "./tool-pairs.ts";

/**
 * Positions, rising: what was read of a file that was read again in the same way or changed since,
 * and output that came again, word for word, from the same tool. Only what went well replaces
 * anything; the newest exchange stays, and nothing before a summary is looked at. Linear.
 */
export function supersededResults(messages: readonly AgentMessage[]): number[] {
  const newest = messages.findLastIndex(({ role }) => role !== "toolResult");
  const boundary = messages.findLastIndex(({ role }) => role === "compactionSummary");
  const callAt = new Map(pairToolCalls(messages).pairs.map(({ call, result }) => [result, call]));
  const changed = new Set<string>();
  const later = new Set<string>();
  const superseded: number[] = [];
  for (let index = messages.length - 1; index > boundary; index--) {
    const message = messages[index]!;
    const call = callAt.get(index);
    if (message.role !== "toolResult" || call === undefined) continue;
    const block = blockOf(messages, call);
    const access = block && fileAccess(block);
    const output = outputOf(message);
    const said = [
      access?.changes === false && `read ${JSON.stringify(block?.arguments)}`,
      output !== undefined && `${call.name} said ${output}`,
    ].filter((key) => key !== false);
    const isOld =
      (access?.changes === false && changed.has(access.path)) || said.some((key) => later.has(key));
    if (isOld && index < newest) superseded.push(index);
    if (message.isError) continue;
    for (const key of said) later.add(key);
    if (access?.changes) changed.add(access.path);
  }
  return superseded.reverse();
}

/** The text, where that is all there is. */
function outputOf(message: ToolResultMessage): string | undefined {
  const onlyText = blocksOf(message.content).every(({ type }) => type === "text");
  return onlyText ? textOf(message) : undefined;
}

function blockOf(
  messages: readonly AgentMessage[],
  { message: at, block }: ToolCallPlace,
): AnyBlock | undefined {
  const message = messages[at];
  return message?.role === "assistant" ? blocksOf(message.content)[block] : undefined;
}
