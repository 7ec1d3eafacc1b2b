// Refuses a message whose text is too long to be part of a session.
import { ContextEngineError, type UserBlock } from "@clew/plugin-sdk/core";
import { bytesOf, describeBytes } from "./size.ts";

/** Pictures have a limit of their own: that of the request. Throws REQUEST_INVALID. */
export function requireMessageFits(content: string | UserBlock[], limitBytes: number): void {
  const texts =
    typeof content === "string"
      ? [content]
      : content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const bytes = bytesOf(texts);
  if (bytes <= limitBytes) return;
  throw new ContextEngineError(
    "REQUEST_INVALID",
    `The message has ${describeBytes(bytes)} of text, and at most ${describeBytes(limitBytes)} are taken (gateway.limits.messageBytes); put it into a file of the workspace and name the file.`,
  );
}
