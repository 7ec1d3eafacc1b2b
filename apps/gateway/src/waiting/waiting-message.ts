// What is known of a message that waits for its turn.
import type { UserBlock } from "@clew/plugin-sdk/core";
import { headOf } from "@clew/plugin-sdk/transcript";
import { z } from "zod";
import { bytesOf } from "../limits/size.ts";

const BlockSchema = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("text"), text: z.string() }),
  z.looseObject({ type: z.literal("image"), data: z.string(), mimeType: z.string() }),
]);

export const WaitingMessageSchema = z.object({
  id: z.string(),
  /** ISO 8601. */
  at: z.string(),
  /** "steer": the turn that runs may take it; otherwise it has a turn of its own. */
  whenBusy: z.enum(["follow", "steer"]),
  content: z.union([z.string(), z.array(BlockSchema)]),
  /** On the stored message, by which it is known again. */
  idempotencyKey: z.string(),
  /** Tools that may run unasked in its turn. Absent: none. */
  allowTools: z.array(z.string()).optional(),
  /** What began its turn. Absent: a person. */
  kind: z.enum(["cron", "heartbeat"]).optional(),
});

/** As it is kept. */
export interface WaitingMessage extends Omit<z.infer<typeof WaitingMessageSchema>, "content"> {
  content: string | UserBlock[];
}

export const WaitingViewSchema = z.object({
  id: z.string(),
  at: z.string(),
  whenBusy: z.enum(["follow", "steer"]),
  /** Its beginning. */
  text: z.string(),
  images: z.int().nonnegative(),
  /** Why it did not begin although it was its turn; null = nothing is wrong. */
  problem: z.string().nullable(),
});

/** As people see it. */
export type WaitingView = z.infer<typeof WaitingViewSchema>;

/** Whether two names of messages stay two wherever they wait: no half of a character, no NUL. */
export const isPlainName = (name: string): boolean => name.isWellFormed() && !name.includes("\0");

/** Characters of it that lists show. */
const SHOWN_CHARS = 500;

/** Pure. */
export function viewOf(message: WaitingMessage, problem: string | null = null): WaitingView {
  const { id, at, whenBusy, content } = message;
  const blocks = typeof content === "string" ? [] : content;
  const text = typeof content === "string" ? content : textsOf(blocks).join("\n");
  const images = blocks.filter(({ type }) => type === "image").length;
  return { id, at, whenBusy, text: headOf(text, SHOWN_CHARS), images, problem };
}

/** Pure. Bytes that it takes while it waits. */
export const bytesOfMessage = (content: string | UserBlock[]): number =>
  typeof content === "string"
    ? bytesOf([content])
    : bytesOf(content.map((block) => (block.type === "text" ? block.text : block.data)));

const textsOf = (blocks: readonly UserBlock[]): string[] =>
  blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
