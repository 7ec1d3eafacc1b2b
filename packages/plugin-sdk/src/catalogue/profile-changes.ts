// The schema of what a configuration may say differently of a model.
import { z } from "zod";

const CARRIERS = [
  ...(["signed", "item", "thought", "chunk"] as const),
  ...(["reasoning_content", "reasoning", "reasoning_details"] as const),
] as const;
const count = z.number().int().nonnegative();
const pattern = z.string().refine(isPattern, "must be a regular expression");

/**
 * Checks what a configuration says differently of one model, `ProfileChanges`; prices and sizes
 * have settings of their own.
 */
export const ProfileChangesSchema = z.object({
  reasoning: z
    .object({
      replay: z
        .enum(["strip", "tools", "keep", "require"])
        .describe(
          "Which earlier thinking goes back: none, a running turn's, all, all or an empty one.",
        ),
      carrier: z.enum(CARRIERS).describe("Where thinking stands on the wire."),
      reads: z
        .object({
          providers: z.array(z.string()).describe("Providers whose signatures it takes."),
          models: pattern.nullable().describe("Pattern of models whose signatures it takes."),
          sameAccount: z.boolean().describe("Whether signatures hold under one account only."),
        })
        .describe("Whose signed thinking it takes besides its own."),
      boundToPrefix: z
        .boolean()
        .describe("Whether a signature holds only while everything before it stays as it was."),
      ask: z
        .enum(["effort", "budget", "adaptive", "level", "none"])
        .describe("How a call asks for thinking."),
      efforts: z
        .array(z.enum(["minimal", "low", "medium", "high", "xhigh", "max"]))
        .describe("The words it knows for how hard to think."),
      canStop: z.boolean().describe("Whether it can be told not to think."),
    })
    .partial()
    .optional()
    .describe("Its thinking."),
  calls: z
    .object({
      ids: pattern.describe("Pattern of legal ids of tool calls."),
      idMode: z.enum(["strict", "strict9", "responses"]).describe("Form of replaced ids."),
      names: pattern.describe("Pattern of legal tool names."),
      canForce: z.boolean().describe("Whether a tool choice may force a call."),
      signed: z
        .enum(["never", "kept", "required"])
        .describe("Whether calls carry signatures: never, sent back, or refused without."),
      streamed: z.boolean().describe("Whether a reply that may hold calls is streamed."),
    })
    .partial()
    .optional()
    .describe("Its tool calls."),
  turns: z
    .object({
      startsWithUser: z.boolean().describe("Whether an assistant may not speak first."),
      endsWithAssistant: z.boolean().describe("Whether an answer may stand at the end."),
      thinkingForbidsPrefill: z
        .boolean()
        .describe("Whether an answer at the end is refused while the model thinks."),
      alternates: z
        .enum(["nobody", "assistants", "everybody"])
        .describe("Who may not follow themselves."),
    })
    .partial()
    .optional()
    .describe("The order of messages."),
  images: z
    .object({
      mimeTypes: z.array(z.string()).nullable().describe("Types; null = any."),
      maxBytes: count.describe("Bytes after decoding."),
      maxSide: count.nullable().describe("Pixels of the longer side; null = no limit."),
      maxCount: count.nullable().describe("Images of one request; null = no limit."),
      inResults: z.boolean().describe("Whether the result of a tool may hold images."),
    })
    .partial()
    .optional()
    .describe("Images it takes."),
  cache: z
    .object({
      how: z.enum(["automatic", "marks", "none"]).describe("How prompts are cached."),
      marks: count.describe("Marks one request may hold."),
      minTokens: count.nullable().describe("Shortest prefix that is kept, tokens."),
      shortMs: count.nullable().describe("How long a prompt is kept after its last use, ms."),
      longMs: count.nullable().describe("The same when asked for long; null = no choice."),
    })
    .partial()
    .optional()
    .describe("Its prompt cache."),
});

function isPattern(text: string): boolean {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}
