// The body of a message sent over HTTP.
import type { UserBlock } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import { z } from "zod";

const TextBlock = z.object({ type: z.literal("text"), text: z.string() });
const ImageBlock = z.object({
  type: z.literal("image"),
  data: z.base64(),
  mimeType: z.string().regex(/^image\/[\w.+-]+$/),
});

export const MessageBodySchema = z
  .object({
    text: z.string().optional().describe("The message; or `content`."),
    content: z.array(z.discriminatedUnion("type", [TextBlock, ImageBlock])).optional(),
    allowTools: z
      .array(z.string())
      .optional()
      .describe('Tools that may run unasked in this turn, "*" = all; needs the token.'),
    onDisconnect: z
      .enum(["continue", "abort"])
      .default("continue")
      .describe("What happens to the run when the client goes away."),
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
}

/** The message, or what is wrong with the body, as half a sentence. */
export function parseMessageBody(body: unknown): { message: SentMessage } | { problem: string } {
  if (!isRecord(body)) return { problem: "the body must be a JSON object" };
  const parsed = MessageBodySchema.safeParse(body);
  if (!parsed.success) return { problem: parsed.error.issues.map(describeIssue).join("; ") };
  const { text, content, onDisconnect, allowTools = [] } = parsed.data;
  return { message: { content: content ?? text ?? "", onDisconnect, allowTools } };
}

const describeIssue = ({ path, message }: z.core.$ZodIssue) =>
  path.length === 0 ? message : `${path.join(".")}: ${message}`;
