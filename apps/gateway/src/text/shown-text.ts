// What of a message's content people are shown as text.
import { projectTextForDisplay } from "@clew/transcript-policy";

/** The text blocks, one after the other; "" for what holds none. */
export function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((block) =>
      isBlock(block, "text") && typeof block.text === "string" ? [block.text] : [],
    )
    .join("\n");
}

/** A person's own words: without what hosts and channels put around them. */
export function shownPersonText(content: unknown): string {
  return projectTextForDisplay(textIn(content));
}

export function countImages(content: unknown): number {
  return Array.isArray(content) ? content.filter((block) => isBlock(block, "image")).length : 0;
}

function isBlock(block: unknown, type: string): block is Record<string, unknown> {
  return typeof block === "object" && block !== null && (block as { type?: unknown }).type === type;
}
