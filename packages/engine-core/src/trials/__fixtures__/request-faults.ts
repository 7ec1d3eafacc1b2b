// What is wrong with a model request, judged by the transcript at the moment it is made.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { contentOf, eventOf, messageEntries } from "./disk.ts";
import { outOfOrder, repeated } from "./events.ts";
import { callIds } from "./pairing-policy.ts";

/** One sentence per fault; none = the request is as it must be. */
export function requestFaults(
  messages: readonly AgentMessage[],
  branch: readonly TranscriptEntry[],
  turn: number,
  { wasRewritten = false } = {},
): string[] {
  const events = messages.map(eventOf);
  const stored = messageEntries(branch).map(({ message }) => eventOf(message));
  const prompt = `q${turn}`;
  return [
    ...(events.includes(prompt) ? [] : [`request without the prompt ${prompt}: ${events.join()}`]),
    ...missing(newestResults(branch), events).map((event) => `request without ${event}`),
    ...repeated(events).map((event) => `request holds ${event} twice`),
    ...outOfOrder(events, stored).map((event) => `request holds ${event} out of order`),
    ...pairFaults(messages),
    ...(wasRewritten ? [] : staleContents(messages, branch)),
  ];
}

const missing = (wanted: readonly string[], events: readonly string[]) =>
  wanted.filter((event) => !events.includes(event));

/** Results the model has not seen yet: those at the end of the branch. */
function newestResults(branch: readonly TranscriptEntry[]): string[] {
  const entries = messageEntries(branch);
  const last = entries.findLastIndex(({ message }) => message.role !== "toolResult");
  return entries.slice(last + 1).map(({ message }) => eventOf(message));
}

/** What a rewrite changed is sent as it is now. */
function staleContents(
  messages: readonly AgentMessage[],
  branch: readonly TranscriptEntry[],
): string[] {
  const stored = new Map(
    messageEntries(branch).map(({ message }) => [eventOf(message), contentOf(message)]),
  );
  return messages.flatMap((message) => {
    const now = stored.get(eventOf(message));
    // Calls without a result are taken out by the policy.
    return now === undefined || now === contentOf(message) || callIds(message).length > 0
      ? []
      : [`request holds ${contentOf(message)}, which is ${now}`];
  });
}

function pairFaults(messages: readonly AgentMessage[]): string[] {
  const faults: string[] = [];
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "toolResult") {
      if (!open.includes(message.toolCallId))
        faults.push(`request holds result ${message.toolCallId} without its call`);
      open = open.filter((id) => id !== message.toolCallId);
      continue;
    }
    faults.push(...open.map((id) => `request holds call ${id} without its result`));
    open = callIds(message);
  }
  return [...faults, ...open.map((id) => `request holds call ${id} without its result`)];
}
