// Tells how an answer begins, for the record of runs.
import type { AssistantMessage } from "@clew/plugin-sdk/core";
import { headOf, textOf } from "@clew/plugin-sdk/transcript";

const ANSWER_CHARS = 300;

/** Pure. Nothing where it is empty. */
export function answerHead(reply: AssistantMessage | null): { answer?: string } {
  const answer = reply === null ? "" : headOf(textOf(reply).trim(), ANSWER_CHARS);
  return answer === "" ? {} : { answer };
}
