// Says what came of a tool of the gateway as Codex reads it.
import type { ToolOutcome } from "@clew/engine-core";

/** Pure. */
export const toolAnswer = ({ content, isError }: Pick<ToolOutcome, "content" | "isError">) => ({
  contentItems: content.map((block) =>
    block.type === "text"
      ? { type: "inputText", text: block.text }
      : { type: "inputImage", imageUrl: `data:${block.mimeType};base64,${block.data}` },
  ),
  success: !isError,
});
