// Finds again the content of what was sent.
import { whatIsSaid, withCallIds } from "@clew/engine-core";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { ZERO_USAGE } from "@clew/plugin-sdk/host";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { messageInPart, messageText } from "../reports/message-text.ts";
import { contentHash } from "../text/content-hash.ts";
import { FORGOTTEN_HASH } from "../text/forgotten.ts";
import type { PlacedItem } from "./describe-items.ts";
import { messageOf } from "./stored-message.ts";

/** What an item was. */
export interface ItemContent {
  /** Of a message; null = of the system prompt or a tool, whose text is all there is. */
  message: AgentMessage | null;
  /** As a person reads it. */
  text: string;
  /** Null: it is exactly what was sent. */
  lost: string | null;
}

/**
 * `partOf`: the content that a hash names; null = it is not stored any more. `entry`: the stored
 * one it is, or is made from.
 */
export async function readContent(
  partOf: (hash: string) => Promise<string | null>,
  { part, item }: PlacedItem,
  entry: TranscriptEntry | undefined,
): Promise<ItemContent> {
  const stored = messageOf(entry);
  const { changed, callIds } = item;
  if (part === "messages" && (changed !== true || callIds) && stored !== undefined) {
    const sent = callIds === undefined ? stored : withCallIds(stored, callIds);
    const message = provenMessage(sent, item.hash);
    if (message !== undefined) return asMessage(message, null);
  }
  const text = await partOf(item.hash);
  if (part !== "messages")
    return text !== null && contentHash(text) === item.hash
      ? { message: null, text, lost: null }
      : { message: null, text: text ?? GONE, lost: "it is not stored any more" };
  const kept = text === null ? undefined : messageInPart(text);
  const whole = kept && withImages(kept, stored);
  const proven = whole && provenMessage(whole, item.hash);
  if (proven !== undefined) return asMessage(proven, null);
  const shown = kept ?? stored;
  if (shown === undefined)
    return { message: null, text: GONE, lost: "its entry is not in the transcript any more" };
  const isForgotten = item.hash.startsWith(FORGOTTEN_HASH);
  return asMessage(
    shown,
    isForgotten ? "it was forgotten" : "it does not read as it did when it was sent",
  );
}

const GONE = "(no longer stored)";

const asMessage = (message: AgentMessage, lost: string | null): ItemContent => ({
  ...{ message: withoutIdentity(message), text: messageText(message), lost },
});

const withoutIdentity = ({ __openclaw: _identity, ...content }: AgentMessage) =>
  content as AgentMessage;

/** The form of the message that has the hash. */
function provenMessage(message: AgentMessage, hash: string): AgentMessage | undefined {
  return [whatIsSaid(message), ...earlierForms(message)].find(
    (form) => contentHash(JSON.stringify(form)) === hash,
  );
}

/** What reports took their hashes of before token counts and times were left aside. */
function earlierForms(message: AgentMessage): AgentMessage[] {
  const whole = withoutIdentity(message);
  if (whole.role === "assistant") return [whole, { ...whole, usage: ZERO_USAGE }];
  if (whole.role !== "toolResult") return [whole];
  const { details: _details, ...rest } = whole;
  return [whole, rest];
}

/** Reports name the bytes of images by their hash; the entry has them. */
function withImages(message: AgentMessage, stored: AgentMessage | undefined): AgentMessage {
  const bytes = new Map<string, string>();
  JSON.stringify(stored ?? null, (key, value: unknown) => {
    if (key === "data" && typeof value === "string") bytes.set(contentHash(value), value);
    return value;
  });
  if (bytes.size === 0) return message;
  return JSON.parse(JSON.stringify(message), (key, value: unknown) => {
    if (key !== "data" || typeof value !== "object" || value === null) return value;
    return bytes.get(String((value as { contentHash?: unknown }).contentHash)) ?? value;
  }) as AgentMessage;
}
