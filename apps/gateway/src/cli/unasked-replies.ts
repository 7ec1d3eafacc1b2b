// Prints what a session replies to others while a person talks in it.
import { textOf } from "@clew/plugin-sdk/transcript";
import { describeSession } from "../approvals/approval.ts";
import type { UnaskedTurn } from "../gateway/turns.ts";
import type { Gateway } from "../gateway.ts";
import { type Output, printable } from "../terminal/output.ts";
import { visible } from "../text/visible.ts";
import type { TypedLine } from "./typed-line.ts";

export interface UnaskedRepliesOptions {
  gateway: Pick<Gateway, "onUnasked">;
  /** Canonical. */
  sessionKey: string;
  output: Output;
  /** One line for each, as JSON. */
  json: boolean;
  /** What a person types meanwhile stays below them. */
  line: Pick<TypedLine, "above">;
}

/** The function that it gives ends it. */
export function printUnaskedReplies(options: UnaskedRepliesOptions): () => void {
  const { gateway, sessionKey, output, json, line } = options;
  return gateway.onUnasked((turn) => {
    if (turn.key !== sessionKey) return;
    line.above(() => (json ? printAsJson(turn, output) : print(turn, output)));
  });
}

function print({ from, result: { reply, error } }: UnaskedTurn, output: Output): void {
  const who =
    from === null ? "other sessions" : `session ${describeSession({ ...from, above: [] })}`;
  output.note(visible(`(in reply to ${who})`));
  const text = reply === null ? "" : textOf(reply);
  if (text !== "") output.line(printable(text));
  if (error !== null)
    output.note(`clew: ${printable(error.message)} [${error.code ?? error.kind}]`);
}

function printAsJson({ from, result }: UnaskedTurn, output: Output): void {
  const { outcome, error, reply } = result;
  const text = reply === null ? "" : textOf(reply);
  const told = { type: "unasked", from: from?.sessionKey ?? null, outcome, error, text };
  output.write(`${JSON.stringify(told)}\n`);
}
