// Decides whether what is sent under a name is what was sent under it before.
import type { UserBlock } from "@clew/plugin-sdk/core";
import { keyReused } from "./refusals.ts";

type Content = string | readonly UserBlock[];

/**
 * Who sends again hears what came of it; who sends something else would hear of that, too, and
 * take it for an answer. Throws IDEMPOTENCY_KEY_REUSED.
 */
export function requireSame(key: string, { sent, before }: { sent: Content; before: Content }) {
  if (formOf(sent) !== formOf(before)) throw keyReused(key);
}

/** A text is the same however it was sent. */
const formOf = (content: Content): string =>
  JSON.stringify(
    (typeof content === "string" ? [{ type: "text" as const, text: content }] : content).map(
      (block) =>
        block.type === "text" ? [block.type, block.text] : [block.type, block.mimeType, block.data],
    ),
  );
