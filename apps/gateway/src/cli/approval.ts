// Asks the person at the terminal, if there is one, whether tools may run.
import { createInterface, type Interface } from "node:readline";
import {
  type Approval,
  type ApprovalAnswer,
  describeAsker,
  describeEnd,
} from "../approvals/approval.ts";
import type { Approvals } from "../approvals/queue.ts";
import { type Output, printable } from "../terminal/output.ts";

export interface Asking {
  /**
   * The line reader of a conversation: two readers of one terminal would steal each other's keys.
   */
  use(lines: Interface): void;
  stop(): void;
}

/** Without a terminal nobody is asked here. One question is asked at a time. */
export function askInTerminal(
  approvals: Approvals,
  output: Output,
  isTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true,
): Asking {
  let shared: Interface | undefined;
  if (!isTerminal) return { use: () => {}, stop: () => {} };
  const open = new Map<string, AbortController>();
  let asking = Promise.resolve();
  async function ask(approval: Approval, over: AbortSignal): Promise<void> {
    if (over.aborted) return;
    const { id, asker, name, grants } = approval;
    const given = JSON.stringify(approval.arguments, null, 2);
    output.note(`\n${printable(`${describeAsker(asker)} asks to run ${name} ${given}`)}`);
    const lines = shared ?? createInterface({ input: process.stdin, output: process.stderr });
    const text = printable(`Allow it? [y] once  [s] in this session (${grants})  [N] no: `);
    const answer = await question(lines, text, over).finally(() => {
      if (lines !== shared) lines.close();
    });
    if (!over.aborted) approvals.answer(id, answer, "terminal");
  }
  const stop = approvals.attach({
    canAnswer: true,
    asked(approval) {
      const over = new AbortController();
      open.set(approval.id, over);
      asking = asking.then(() => ask(approval, over.signal));
    },
    over({ id }, end) {
      open.get(id)?.abort();
      open.delete(id);
      if (end.kind !== "answered") output.note(`\n(${describeEnd(end)})`);
    },
  });
  return {
    stop,
    use: (lines) => {
      shared = lines;
    },
  };
}

/** Anything else is a no, an abort and the end of the input too. */
export function question(
  lines: Interface,
  text: string,
  signal: AbortSignal,
): Promise<ApprovalAnswer> {
  return new Promise((resolve) => {
    const no = () => resolve("no");
    signal.addEventListener("abort", no, { once: true });
    lines.once("close", no);
    lines.question(text, { signal }, (answer) => {
      signal.removeEventListener("abort", no);
      lines.off("close", no);
      resolve(answerIn(answer));
    });
  });
}

function answerIn(text: string): ApprovalAnswer {
  if (/^\s*y(es)?\s*$/i.test(text)) return "once";
  return /^\s*s(ession)?\s*$/i.test(text) ? "session" : "no";
}
