// The body of a message sent over HTTP.
import type { UserBlock } from "@clew/plugin-sdk/core";
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
  .refine(
    ({ text, content }) =>
      (text !== undefined && text.trim() !== "") || (content !== undefined && content.length > 0),
    {
      error: "needs `text` or `content`",
      path: ["text"],
    },
  );

export interface SentMessage {
  content: string | UserBlock[];
  allowTools: readonly string[];
  onDisconnect: "continue" | "abort";
}

/** The message, or what is wrong with the body. */
export function parseMessageBody(body: unknown): { message: SentMessage } | { problem: string } {
  const parsed = MessageBodySchema.safeParse(body);
  if (!parsed.success) return { problem: z.prettifyError(parsed.error) };
  const { text, content, onDisconnect, allowTools = [] } = parsed.data;
  return { message: { content: content ?? text ?? "", onDisconnect, allowTools } };
}
