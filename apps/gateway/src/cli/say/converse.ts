// Talks line by line until the input ends, whoever holds the session.
import { createInterface } from "node:readline";
import type { TurnResult } from "@clew/engine-core";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { EXIT } from "../../terminal/exit-codes.ts";
import { type Output, printable } from "../../terminal/output.ts";
import { type TypedLine, typedLine } from "../typed-line.ts";
import { exitCodeOf, type Talk } from "./talk.ts";

export interface Conversation {
  output: Output;
  /** Lets others write while a line is typed; undefined: none is any more. */
  use(line: TypedLine | undefined): void;
  about: string;
  /** Ends it between two lines. */
  leaving: AbortSignal;
  /** Aborted once nobody reads what is printed; ends it between two lines, too. */
  unread: AbortSignal;
}

/** With a terminal there is a prompt. */
export async function converse(
  talk: Talk,
  { output, use, about, leaving, unread }: Conversation,
): Promise<number> {
  const isTerminal = process.stdin.isTTY === true;
  const lines = createInterface({
    input: process.stdin,
    output: process.stdout,
    terminal: isTerminal,
    prompt: "> ",
    signal: AbortSignal.any([leaving, unread]),
  });
  let lastOutcome: TurnResult["outcome"] = "completed";
  const line = typedLine(lines, process.stdout);
  use(line);
  if (isTerminal)
    output.note(`${about}\nCtrl-C cancels a reply, Ctrl-D quits, /help lists the commands.`);
  // In a terminal Ctrl-C is a key, not a signal.
  lines.on("SIGINT", () => {
    if (talk.cancel()) return;
    line.above(() => output.note("(Ctrl-D leaves)"));
  });
  if (isTerminal) line.begin();
  /** At a terminal more may be typed while a reply is written. */
  let talking: Promise<void> = Promise.resolve();
  const say = async (text: string) => {
    lastOutcome = await talk.say(text);
    await talk.settled();
    line.begin();
  };
  for await (const typed of lines) {
    const text = typed.trim();
    // Lines that had arrived still come.
    if (leaving.aborted || unread.aborted) break;
    if (text === "/quit" || text === "/exit") break;
    if (text === "") {
      if (isTerminal && !talk.isTalking()) line.begin();
    } else if (!isTerminal) lastOutcome = await talk.say(text);
    else if (talk.isTalking()) await talk.sayMeanwhile(text).catch(tellRefusal(output));
    else {
      talking = say(text);
      // Whoever waits for the next line hears of it.
      talking.catch(() => lines.close());
    }
  }
  await talking;
  lines.close();
  use(undefined);
  if (leaving.aborted) return EXIT.cancelled;
  return isTerminal ? 0 : exitCodeOf(lastOutcome);
}

/** What was typed while a reply is written may be refused; the reply goes on. */
const tellRefusal = (output: Output) => (error: unknown) => {
  if (!ContextEngineError.is(error)) throw error;
  output.note(`clew: ${printable(error.message)} [${error.code}]`);
};

/** SIGINT cancels a reply; with nothing to cancel, and for SIGTERM, the program ends. */
export function onSignals(talk: Talk, leaving: AbortController): () => void {
  const onInterrupt = () => {
    if (!talk.cancel()) leaving.abort();
  };
  const onTerminate = () => {
    talk.cancel();
    leaving.abort();
  };
  process.on("SIGINT", onInterrupt);
  process.on("SIGTERM", onTerminate);
  return () => {
    process.off("SIGINT", onInterrupt);
    process.off("SIGTERM", onTerminate);
  };
}
