// Which messages belong to runs that a host began by itself.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { blocksOf, textOf } from "@clew/plugin-sdk/transcript";
import { nameOf } from "../messages/name.ts";

/** A history without what only says that there was nothing to do. */
export interface Talk {
  /** Oldest first; the very list where nothing was left out. */
  readonly messages: readonly AgentMessage[];
  /** Those of `messages` that belong to such a run: nothing in them is to be held to. */
  readonly aside: ReadonlySet<AgentMessage>;
}

/** What an agent answers when there is nothing to do. */
const NOTHING_TO_DO = /^\s*HEARTBEAT_OK\b/;
const NOBODY: ReadonlySet<AgentMessage> = new Set();

/** `names`: of the messages that were told as a heartbeat's. */
export function talkOf(messages: readonly AgentMessage[], names: ReadonlySet<string>): Talk {
  const prompts = messages.flatMap((message, index) =>
    isHeartbeatPrompt(message, names) ? [index] : [],
  );
  if (prompts.length === 0) return { messages, aside: NOBODY };
  const aside = new Set<AgentMessage>();
  const idle = new Set<AgentMessage>();
  for (const start of prompts) {
    const end = messages.findIndex(({ role }, index) => index > start && role === "user");
    const turn = messages.slice(start, end < 0 ? messages.length : end);
    for (const message of turn) (isIdle(turn) ? idle : aside).add(message);
  }
  const talk = messages.filter((message) => !idle.has(message));
  // A view that holds nothing is none.
  return { messages: talk.length === 0 ? messages : talk, aside };
}

/** True: such a run began with it. `names`: see `talkOf`. */
export const isHeartbeatPrompt = (message: AgentMessage, names: ReadonlySet<string>): boolean =>
  message.role === "user" &&
  (message.__openclaw?.kind === "heartbeat" || (names.size > 0 && names.has(nameOf(message))));

const isIdle = ([, reply, ...more]: readonly AgentMessage[]): boolean =>
  reply?.role === "assistant" &&
  more.length === 0 &&
  NOTHING_TO_DO.test(textOf(reply)) &&
  !blocksOf(reply.content).some(({ type }) => type === "toolCall");
