// Asks the person at the terminal, if there is one, whether tools may run.
import { createInterface } from "node:readline";
import {
  type Approval,
  type ApprovalAnswer,
  describeAsker,
  describeSession,
} from "../approvals/approval.ts";
import { shortName } from "../sessions/keys.ts";
import type { Output } from "../terminal/output.ts";
import { visible, visibleJson } from "../text/visible.ts";
import type { Questions, ToldQuestions } from "./say/questions.ts";
import { type TypedLine, typedLine } from "./typed-line.ts";

export interface Asking {
  /**
   * The line of a conversation, as long as there is one: two readers of one terminal would steal
   * each other's keys. Undefined: it is over.
   */
  use(line: TypedLine | undefined): void;
  stop(): void;
}

export interface AskingOptions {
  output: Output;
  /** Canonical; of other sessions a question says in which it is asked. */
  sessionKey: string;
  /** Absent: what the process knows of its streams. */
  isTerminal?: boolean;
}

/** Whether somebody sits at a terminal. */
export const isAsked = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true;

/** Where nobody can be asked, it is told who may answer a question of the gateway's. */
export function tellOfQuestions(questions: ToldQuestions, output: Output): () => void {
  return questions.watch({
    asked: ({ name, sessionKey }) =>
      output.note(
        `(${name} waits for leave in session ${shortName(sessionKey)}: answer on the page, or by "clew approvals")`,
      ),
    over: (_id, why) => {
      if (why !== null) output.note(`(${why})`);
    },
  });
}

/** Without a terminal nobody is asked here. One question is asked at a time. */
export function askInTerminal(
  questions: Questions,
  { output, sessionKey, isTerminal = isAsked() }: AskingOptions,
): Asking {
  let shared: TypedLine | undefined;
  if (!isTerminal) return { use: () => {}, stop: () => {} };
  const open = new Map<string, AbortController>();
  let asking = Promise.resolve();
  async function ask(approval: Approval, over: AbortSignal): Promise<void> {
    if (over.aborted) return;
    const { line, close } = shared === undefined ? ownLine() : { line: shared, close: () => {} };
    const answer = await askOn(line, { approval, over, output, sessionKey }).finally(close);
    if (!over.aborted) questions.answer(approval.id, answer);
  }
  const stop = questions.watch({
    asked(approval) {
      const over = new AbortController();
      open.set(approval.id, over);
      asking = asking.then(() => ask(approval, over.signal));
    },
    over(id, why) {
      open.get(id)?.abort();
      open.delete(id);
      if (why === null) return;
      const tell = () => output.note(`(${why})`);
      if (shared === undefined) tell();
      else shared.above(tell);
    },
  });
  return {
    stop,
    use: (line) => {
      shared = line;
    },
  };
}

function ownLine(): { line: TypedLine; close(): void } {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C is a key meanwhile, and means what the signal does.
  lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  return { line: typedLine(lines, process.stderr), close: () => lines.close() };
}

/** An abort and the end of the input are a no. */
async function askOn(
  line: TypedLine,
  {
    approval,
    over,
    output,
    sessionKey,
  }: { approval: Approval; over: AbortSignal; output: Output; sessionKey: string },
): Promise<ApprovalAnswer> {
  const { asker, name, grants } = approval;
  const given = visibleJson(approval.arguments, 2);
  const where =
    approval.sessionKey === sessionKey ? "" : ` in session ${describeSession(approval)}`;
  const about = `${visible(`${describeAsker(asker)} asks${where} to run ${name}`)} ${given}`;
  const answer = await line.ask({
    introduce: () => output.note(about),
    text: visible(`Allow it? [y] once  [s] in this session (${grants})  [n] no: `),
    read: answerIn,
    help: () => output.note("(only y, s and n answer it)"),
    signal: over,
  });
  return answer ?? "no";
}

/** Only a word that was meant for it. */
function answerIn(text: string): ApprovalAnswer | undefined {
  const answers = { once: /^\s*y(es)?\s*$/i, session: /^\s*s(ession)?\s*$/i, no: /^\s*no?\s*$/i };
  if (answers.once.test(text)) return "once";
  if (answers.session.test(text)) return "session";
  return answers.no.test(text) ? "no" : undefined;
}
