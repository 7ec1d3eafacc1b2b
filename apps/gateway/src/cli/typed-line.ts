// Lets questions and news come in between while a person types a line.
import { clearScreenDown, cursorTo, type Interface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";

export interface TypedLine {
  /** Begins a line, with what was typed already; after the input's end there is none. */
  begin(): void;
  /** Writes above what is being typed, which stays. */
  above(write: () => void): void;
  /**
   * What was typed first that `read` takes; undefined: nothing was, before `signal` was aborted or
   * the input ended. Whatever else is typed belongs to the line that was begun, and comes back;
   * where none was, it comes back with the next one.
   */
  ask<Answer>(question: Question<Answer>): Promise<Answer | undefined>;
}

export interface Question<Answer> {
  /** Writes what it is about. */
  introduce(): void;
  text: string;
  /** Undefined: that is no answer. */
  read(typed: string): Answer | undefined;
  /** Writes, below a line that was no answer, what would be one. */
  help(): void;
  signal: AbortSignal;
}

interface Draft {
  text: string;
  /** In UTF-16 units from its beginning. */
  cursor: number;
}

/** Who pauses this long has looked up, ms. */
const QUIET_MS = 1000;
const LOOK_MS = 50;

/** `lines` writes to `screen`. What is not typed at a terminal comes as whole lines. */
export function typedLine(
  lines: Interface,
  screen: NodeJS.WritableStream,
  { quietMs = QUIET_MS } = {},
): TypedLine {
  const isTerminal = lines.terminal;
  let isPrompting = false;
  let isAsking = false;
  let isClosed = false;
  /** Was typed as an answer while no line was begun, and was none. */
  let held = "";
  lines.on("line", () => {
    isPrompting = false;
  });
  lines.once("close", () => {
    isClosed = true;
  });

  /** Nothing of it is on the screen any more. */
  function take(): Draft {
    const draft = { text: lines.line, cursor: lines.cursor };
    if (!isTerminal || isClosed) return { text: "", cursor: 0 };
    const isShown = isPrompting || isAsking;
    if (!isShown && draft.text === "") return draft;
    // What a reply has written of its line so far stays.
    if (!isShown) screen.write("\n");
    lines.write(null, { ctrl: true, name: "e" });
    lines.write(null, { ctrl: true, name: "u" });
    cursorTo(screen, 0);
    clearScreenDown(screen);
    return draft;
  }
  function giveBack({ text, cursor }: Draft): void {
    if (isClosed || !isTerminal) return;
    if (isPrompting || isAsking) lines.prompt();
    if (text === "") return;
    lines.write(text);
    while (lines.cursor > cursor) lines.write(null, { name: "left" });
  }
  /** Whoever is typing is not interrupted in the middle of a word. */
  async function quiet(signal: AbortSignal): Promise<void> {
    let seen = lines.line;
    let since = performance.now();
    while (isTerminal && !signal.aborted && !isClosed && lines.line) {
      if (lines.line !== seen) since = performance.now();
      if (performance.now() - since >= quietMs) return;
      seen = lines.line;
      await delay(LOOK_MS);
    }
  }
  /** From one moment to the next: no key is taken for something else in between. */
  function untilAnswered<Answer>({ introduce, text, read, help, signal }: Question<Answer>) {
    const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
    const cancel = new AbortController();
    let draft = take();
    const isBegun = isPrompting || draft.text !== "";
    const end = (answer: Answer | undefined) => {
      isAsking = false;
      signal.removeEventListener("abort", onOver);
      lines.off("close", onOver);
      giveBack(draft);
      resolve(answer);
    };
    const onOver = () => {
      if (read(lines.line) === undefined) draft = longer(draft, lines.line);
      cancel.abort();
      end(undefined);
    };
    const put = () =>
      lines.question(text, { signal: cancel.signal }, (typed) => {
        const answer = read(typed);
        if (answer !== undefined) return end(answer);
        if (isBegun) draft = longer(draft, typed);
        else held += typed;
        if (typed.trim() !== "") help();
        put();
      });
    signal.addEventListener("abort", onOver);
    lines.once("close", onOver);
    introduce();
    isAsking = true;
    put();
    return promise;
  }
  return {
    begin() {
      if (isClosed) return;
      isPrompting = true;
      lines.prompt(true);
      const typed = { text: lines.line, cursor: lines.cursor };
      if (held === "" || !isTerminal) return;
      take();
      giveBack({ text: held + typed.text, cursor: held.length + typed.cursor });
      held = "";
    },
    above(write) {
      const draft = take();
      write();
      giveBack(draft);
    },
    async ask(question) {
      await quiet(question.signal);
      return question.signal.aborted || isClosed ? undefined : untilAnswered(question);
    },
  };
}

/** Pure. */
function longer(draft: Draft, typed: string): Draft {
  const text = draft.text + typed;
  return typed === "" ? draft : { text, cursor: text.length };
}
