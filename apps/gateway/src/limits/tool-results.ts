// Leaves the middle out of tool results that are too long for a session.
import type { ToolOutcome, ToolPort } from "@clew/engine-core";
import type { ToolResultBlock } from "@clew/plugin-sdk/core";
import { bytesOf, describeBytes } from "./size.ts";

export function limitToolResults(tools: ToolPort, limitBytes: number): ToolPort {
  return {
    list: (session) => tools.list(session),
    run: async (request) => limited(await tools.run(request), limitBytes),
  };
}

/** Of the text that is kept, this share is its beginning: it says most. */
const HEAD_SHARE = 0.6;

/** The very outcome when it is within the limit. */
function limited(outcome: ToolOutcome, limitBytes: number): ToolOutcome {
  const texts = outcome.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const bytes = bytesOf(texts);
  if (bytes <= limitBytes) return outcome;
  const all = Buffer.from(texts.join("\n"));
  const headBytes = Math.floor(limitBytes * HEAD_SHARE);
  const head = wholeCharacters(all.subarray(0, headBytes));
  const tail = wholeCharacters(all.subarray(all.length - (limitBytes - headBytes)));
  const left = `[… ${describeBytes(bytes - limitBytes)} of ${describeBytes(bytes)} were left out: a tool result has at most ${describeBytes(limitBytes)} (gateway.limits.toolResultBytes); ask for less at once …]`;
  const text: ToolResultBlock = { type: "text", text: `${head}\n\n${left}\n\n${tail}` };
  return { ...outcome, content: [text, ...outcome.content.filter(({ type }) => type !== "text")] };
}

/** Without the pieces of a character that was cut. */
const wholeCharacters = (bytes: Buffer): string =>
  bytes.toString("utf8").replace(/^\uFFFD{1,3}|\uFFFD{1,3}$/g, "");
