// The body of a message sent over HTTP.
import type { UserBlock } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import { z } from "zod";
import { WHEN_BUSY, WHEN_BUSY_NAMES, type WhenBusy } from "../config/when-busy.ts";
import { isPlainName } from "../waiting/waiting-message.ts";

const TextBlock = z.object({ type: z.literal("text"), text: z.string() });
const ImageBlock = z.object({
  type: z.literal("image"),
  data: z.base64(),
  mimeType: z.string().regex(/^image\/[\w.+-]+$/),
});

const NAME_RULE =
  "must be a text of 1 to 256 characters, all of them whole (no half of an emoji, as where one is cut in two), and none of them NUL";

export const MessageBodySchema = z
  .object({
    text: z.string().optional().describe("The message; or `content`."),
    content: z.array(z.discriminatedUnion("type", [TextBlock, ImageBlock])).optional(),
    allowTools: z
      .array(z.string())
      .optional()
      .describe('Tools that may run unasked in this turn, "*" = all; needs the token.'),
    onDisconnect: z
      .enum(["continue", "abort"], { error: 'must be "continue" or "abort"' })
      .default("continue")
      .describe("What happens to the run, or the message that waits, when the client goes away."),
    whenBusy: z
      .enum(WHEN_BUSY, { error: `must be ${WHEN_BUSY_NAMES}` })
      .optional()
      .describe(
        "While a reply is being written: have its turn afterwards, be shown to the model after its next tool result, or be refused (409). Default: `session.whenBusy`.",
      ),
    idempotencyKey: z
      .string({ error: NAME_RULE })
      .min(1, { error: NAME_RULE })
      .max(256, { error: NAME_RULE })
      .refine(isPlainName, { error: NAME_RULE })
      .optional()
      .describe("Your name for the message: sent again under it, it is not said again."),
  })
  .refine(({ text, content }) => isSaid(text) || (content ?? []).some(isBlockSaid), {
    error: "`text` or `content` has to say something",
  });

const isSaid = (text: string | undefined) => text !== undefined && text.trim() !== "";
const isBlockSaid = (block: z.infer<typeof TextBlock> | z.infer<typeof ImageBlock>) =>
  block.type === "image" || isSaid(block.text);

export interface SentMessage {
  content: string | UserBlock[];
  allowTools: readonly string[];
  onDisconnect: "continue" | "abort";
  whenBusy?: WhenBusy | undefined;
  idempotencyKey?: string | undefined;
}

/** The message, or what is wrong with the body, as half a sentence. */
export function parseMessageBody(body: unknown): { message: SentMessage } | { problem: string } {
  if (!isRecord(body)) return { problem: "the body must be a JSON object" };
  const parsed = MessageBodySchema.safeParse(body);
  if (!parsed.success) return { problem: parsed.error.issues.map(describeIssue).join("; ") };
  const { text, content, allowTools = [], ...given } = parsed.data;
  return { message: { ...given, content: content ?? text ?? "", allowTools } };
}

const describeIssue = ({ path, message }: z.core.$ZodIssue) =>
  path.length === 0 ? message : `${path.join(".")}: ${message}`;
