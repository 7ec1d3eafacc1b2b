// Shows plugins each message before it is stored, and takes other texts for it.
import { isDeepStrictEqual } from "node:util";
import type { LogPort, TranscriptPort } from "@clew/engine-core";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import type { NewTranscriptEntry } from "@clew/plugin-sdk/transcript";
import { bytesOf, describeBytes } from "../../limits/size.ts";
import type { HookContext } from "./hook-context.ts";
import type { HookRunner } from "./hook-runs.ts";

/**
 * A handler may put other words in place of the message's own, as when it hides a secret. Whether a
 * message is stored, and what its calls and results are, is not for it to say: a history with holes
 * would be sent to no model.
 */
export function withWriteHooks(
  transcript: TranscriptPort,
  about: {
    hooks: HookRunner;
    context: HookContext;
    log: LogPort;
    /** How much text a handler may put in a message's place, where that has less. */
    limitBytes: number;
  },
): TranscriptPort {
  const { hooks } = about;
  const { appendStep, deliveries } = transcript;
  const shown = (entries: readonly NewTranscriptEntry[]) =>
    hooks.has("before_message_write")
      ? entries.map((entry) =>
          entry.type === "message" ? { ...entry, message: show(entry.message, about) } : entry,
        )
      : entries;
  return {
    get session() {
      return transcript.session;
    },
    exists: () => transcript.exists(),
    read: (part) => transcript.read(part),
    append: (entries) => transcript.append(shown(entries)),
    ...(appendStep !== undefined && {
      appendStep: (step) => appendStep.call(transcript, { ...step, entries: shown(step.entries) }),
    }),
    rewrite: (request) => transcript.rewrite(request),
    ...(deliveries !== undefined && { deliveries }),
  };
}

function show(
  message: AgentMessage,
  { hooks, context, log, limitBytes }: Parameters<typeof withWriteHooks>[1],
): AgentMessage {
  let current = message;
  hooks.askNow(
    "before_message_write",
    { event: () => ({ message: current }), context },
    (outcome) => {
      if (!outcome.ok || outcome.given === undefined || outcome.given === null) return;
      const decided = planWrite(current, outcome.given, limitBytes);
      if (typeof decided !== "string") current = decided;
      else if (decided === NOT_BLOCKED)
        hooks.refused(outcome.pluginId, `hook before_message_write: ${decided}`);
      else log.warn(`[plugins] ${outcome.pluginId}: hook before_message_write: ${decided}`);
    },
  );
  return current;
}

const NOT_BLOCKED = "a message cannot be kept from being stored; it was stored";

/** Pure. The message to store, or why what a handler gave is not followed. */
export function planWrite(
  message: AgentMessage,
  given: unknown,
  limitBytes: number,
): AgentMessage | string {
  if (!isRecord(given)) return "what it returned is no object; the message is stored as it was";
  if (given.block === true) return NOT_BLOCKED;
  if (given.message === undefined) return message;
  const wanted = isRecord(given.message) ? given.message.content : undefined;
  const content = withTexts((message as { content?: unknown }).content, wanted);
  if (content === undefined)
    return "what it returned is not the message with other texts; it was stored as it was";
  const bytes = bytesOf(textsIn(content));
  if (bytes > limitBytes && bytes > bytesOf(textsIn((message as { content?: unknown }).content)))
    return `what it returned has ${describeBytes(bytes)} of text, and at most ${describeBytes(limitBytes)} are taken (gateway.limits.messageBytes); it was stored as it was`;
  return { ...message, content } as AgentMessage;
}

function textsIn(content: unknown): string[] {
  if (typeof content === "string") return [content];
  const blocks: unknown[] = Array.isArray(content) ? content : [];
  return blocks.flatMap((block) =>
    isRecord(block) && typeof block.text === "string" ? [block.text] : [],
  );
}

/** Undefined: it differs in more than its texts. */
function withTexts(before: unknown, after: unknown): unknown {
  if (typeof before === "string") return typeof after === "string" ? after : undefined;
  if (!Array.isArray(before) || !Array.isArray(after) || before.length !== after.length)
    return undefined;
  const blocks = before.map((block: unknown, index) => {
    const wanted: unknown = after[index];
    const isText = isRecord(block) && block.type === "text" && isRecord(wanted);
    if (isText && wanted.type === "text" && typeof wanted.text === "string")
      return { ...block, text: wanted.text };
    return isDeepStrictEqual(block, wanted) ? block : undefined;
  });
  return blocks.includes(undefined) ? undefined : blocks;
}
