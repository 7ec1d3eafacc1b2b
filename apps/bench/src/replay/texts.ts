// Which texts a message shows to a model, each as one piece.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { blocksOf, toModelMessage } from "@clew/plugin-sdk/transcript";
import { allTexts } from "../shared/evidence.ts";

/** Texts and the texts in the arguments of calls; thinking is nobody's to look things up in. */
export function textsOf(message: AgentMessage): string[] {
  const shown = toModelMessage(message);
  if (shown === undefined) return [];
  return blocksOf(shown.content).flatMap((block) => {
    if (block.type === "toolCall") return allTexts(block.arguments);
    return block.type === "text" && typeof block.text === "string" ? [block.text] : [];
  });
}
