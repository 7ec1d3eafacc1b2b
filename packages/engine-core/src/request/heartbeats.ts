// Leaves heartbeat turns that had nothing to say out of later views.
import { blocksOf, textOf } from "@clew/plugin-sdk/transcript";
import type { ViewItem } from "./view-item.ts";

/** What an agent answers to a heartbeat when there is nothing to do. */
const NOTHING_TO_DO = /^\s*HEARTBEAT_OK\b/;

/** True for the prompt of a heartbeat turn; such a turn's later messages do not say so. */
export const isHeartbeatPrompt = ({ message }: ViewItem): boolean =>
  message.role === "user" && message.__openclaw?.kind === "heartbeat";

/**
 * The items without heartbeat turns whose whole answer was that there is nothing to do (contract
 * §3.1 step 3). One that used a tool, or said something, is part of the conversation.
 */
export function withoutIdleHeartbeats(items: readonly ViewItem[]): readonly ViewItem[] {
  const idle = new Set<ViewItem>();
  for (let index = 0; index < items.length; index++)
    if (isHeartbeatPrompt(items[index]!) && isIdle(items, index))
      idle.add(items[index]!).add(items[index + 1]!);
  return idle.size === 0 ? items : items.filter((item) => !idle.has(item));
}

function isIdle(items: readonly ViewItem[], prompt: number): boolean {
  const reply = items[prompt + 1]?.message;
  const after = items[prompt + 2]?.message;
  return (
    reply?.role === "assistant" &&
    NOTHING_TO_DO.test(textOf(reply)) &&
    !blocksOf(reply.content).some(({ type }) => type === "toolCall") &&
    (after === undefined || after.role === "user")
  );
}
