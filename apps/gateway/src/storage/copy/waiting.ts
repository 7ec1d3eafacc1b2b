// Copies messages that wait for their turn, each of them once.
import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { FoundFile, PostgresCopy } from "@clew/store-postgres";
import { fromJson, toJson } from "../../own-json.ts";
import { parseSessionName } from "../../sessions/keys.ts";
import { waitingFile } from "../../sessions/paths.ts";
import {
  isPlainName,
  type WaitingMessage,
  WaitingMessageSchema,
} from "../../waiting/waiting-message.ts";

/** What waits in one session. */
export interface WaitingIn {
  sessionKey: string;
  messages: WaitingMessage[];
}

/** Undefined: the file is none of a gateway's. */
export function waitingOf(text: string): WaitingIn | undefined {
  try {
    const found = fromJson(text) as WaitingIn & { v: number };
    const isOwn =
      found.v === 1 &&
      parseSessionName(found.sessionKey)?.key === found.sessionKey &&
      Array.isArray(found.messages) &&
      found.messages.every((each) => WaitingMessageSchema.safeParse(each).success);
    return isOwn ? { sessionKey: found.sessionKey, messages: found.messages } : undefined;
  } catch {
    return undefined;
  }
}

/** Pure. Those of `now` that were not there when the file was copied before. */
export function newMessages(
  now: readonly WaitingMessage[],
  before: readonly WaitingMessage[],
): WaitingMessage[] {
  const known = new Set(before.map(({ idempotencyKey }) => idempotencyKey));
  return now.filter(({ idempotencyKey }) => !known.has(idempotencyKey));
}

/**
 * Pure. What waits in files: what waits in the database, and what came to the file since it was
 * copied.
 */
export const mergeWaiting = ({
  database,
  file,
  copied,
}: Record<"database" | "file" | "copied", readonly WaitingMessage[]>): WaitingMessage[] => [
  ...database,
  ...newMessages(newMessages(file, copied), database),
];

export const rowsOf = (messages: readonly WaitingMessage[]) =>
  messages.map((message) => ({
    ...{ name: nameOf(message), id: message.id, body: toJson(message) },
  }));

/** Earlier versions took names that no database keeps. */
const nameOf = ({ id, idempotencyKey: name }: WaitingMessage): string =>
  isPlainName(name) ? name : `waiting:${id}`;

/** What a file says that a kept one said when it was copied. */
export async function keptWaiting(
  copy: PostgresCopy,
  kept: FoundFile | undefined,
): Promise<{ text: string; messages: WaitingMessage[] }> {
  const text = kept === undefined ? "" : await keptText(copy, kept);
  return { text, messages: waitingOf(text)?.messages ?? [] };
}

export async function keptText(copy: PostgresCopy, kept: FoundFile): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of copy.bytesOf(kept)) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

export const formatWaiting = ({ sessionKey, messages }: WaitingIn): string =>
  `${toJson({ v: 1, sessionKey, messages })}\n`;

/** As a file of a home says now. */
export async function waitingAt(
  home: string,
  { agentId, key }: { agentId: string; key: string },
): Promise<{ file: string; text: string | null }> {
  const file = waitingFile(home, agentId, key);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  return { file, text };
}

export const shaOfText = (text: string): string => hash("sha256", text);
