// Says of a stored message what reports say of it.
import { randomBytes } from "node:crypto";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import { toJson } from "../../own-json.ts";
import { messageText } from "../../reports/message-text.ts";
import { contentHash } from "../../text/content-hash.ts";
import { FORGOTTEN, FORGOTTEN_HASH } from "../../text/forgotten.ts";

/** A stored message as reports name it. */
export interface DescribedEntry {
  role: string;
  text: string;
  hash: string;
  tokens: number;
  /** True: its words were forgotten, and its client sends them all the same. */
  isForgotten: boolean;
}

/** What was forgotten is sent with other words than are kept, so that its hash says nothing. */
export function describeEntry(message: AgentMessage): DescribedEntry {
  const described = describeStored(message);
  const isForgotten = described.text.startsWith(FORGOTTEN);
  const hash = isForgotten ? `${FORGOTTEN_HASH}${randomBytes(12).toString("hex")}` : described.hash;
  return { ...described, hash, isForgotten };
}

export function describeStored(message: AgentMessage): Omit<DescribedEntry, "isForgotten"> {
  const { __openclaw: _identity, ...content } = message;
  return {
    role: message.role,
    text: messageText(message),
    hash: contentHash(toJson(content)),
    tokens: Math.ceil(estimateMessage(message).estimate),
  };
}
