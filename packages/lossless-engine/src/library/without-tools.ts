// Says in views of programs that are no host what is kept, without naming tools.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { isOwn } from "../messages/own.ts";

/** What a record says of the ways back. */
const WAYS =
  /^(\d+ earlier messages stand behind this record, and every byte of them is kept:).*$/m;
const KEPT = "$1 whoever runs this session can search them, and show any of them whole.";
/** What stands where a text was cut. */
const CUT = /(\n\[\d+ characters cut here to make room;) [^\]\n]*(?=\]\n)/;
const KEPT_WHOLE = "$1 all of it is kept";

/** Pure. `given`: messages as they came, of which nothing is changed. */
export const withoutTools = (
  shown: readonly AgentMessage[],
  given: ReadonlySet<AgentMessage>,
): readonly AgentMessage[] =>
  shown.map((message) => {
    if (message.role === "compactionSummary" && isOwn(message))
      return { ...message, summary: message.summary.replace(WAYS, KEPT) };
    return given.has(message) ? message : textsWithin(message);
  });

const saysKept = (text: unknown) =>
  typeof text === "string" ? text.replace(CUT, KEPT_WHOLE) : text;

function textsWithin(message: AgentMessage): AgentMessage {
  if (message.role === "bashExecution")
    return { ...message, output: saysKept(message.output) as string };
  if (!("content" in message)) return message;
  const { content } = message;
  const said = Array.isArray(content)
    ? content.map((block) =>
        block.type === "text" ? { ...block, text: saysKept(block.text) } : block,
      )
    : saysKept(content);
  return { ...message, content: said } as AgentMessage;
}
