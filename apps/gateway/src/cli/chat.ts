// Runs `clew chat`, a streamed chat in the terminal.
import { createInterface } from "node:readline";
import type { TurnEvent, TurnResult } from "@clew/engine-core";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { parseLine } from "../commands/parse.ts";
import { createGateway, type Gateway } from "../gateway.ts";
import { prepareHome } from "../home/prepare-home.ts";
import { shownEvent } from "../http/event-stream.ts";
import { inSafeMode } from "../plugins/load/record.ts";
import { startPlugins } from "../plugins/start.ts";
import { describeThrown } from "../plugins/stray-errors.ts";
import { DEFAULT_AGENT_ID, parseSessionName } from "../sessions/keys.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import { type Output, printable } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { visible, visibleJson } from "../text/visible.ts";
import { askInTerminal } from "./approval.ts";
import { type Overrides, setUp } from "./setup.ts";
import { type TypedLine, typedLine } from "./typed-line.ts";
import { printUnaskedReplies } from "./unasked-replies.ts";
import { waitForMemory, waitForSessions } from "./wait-for-rest.ts";

export interface ChatOptions extends Overrides {
  session?: string;
  json?: boolean;
}

export async function chat(
  words: readonly string[],
  options: ChatOptions,
  shell: Shell,
): Promise<number> {
  const message = words.join(" ");
  if (words.length > 0 && message.trim() === "")
    throw new ContextEngineError(
      "REQUEST_INVALID",
      "The message is blank; write one, or leave it out to talk line by line.",
    );
  const { environment, loaded, log, output } = await setUp(shell, options, {
    showProblems: options.json !== true,
  });
  await prepareHome(environment.home);
  // Whoever is talking goes on talking.
  shell.strayErrors?.onHostError((error) =>
    log.error(`an error of Clew itself that nothing handled: ${describeThrown(error)}`),
  );
  const plugins = await startPlugins({ environment, loaded, log });
  const gateway = createGateway({ environment, loaded, log, plugins });
  const key = gateway.canonicalKey(options.session ?? loaded.config.session.mainKey);
  const asking = askInTerminal(gateway.approvals, { output, sessionKey: key });
  const talk = createTalk({ gateway, key, output, json: options.json === true });
  const leaving = new AbortController();
  const stopListening = onSignals(talk, leaving);
  let line: TypedLine | undefined;
  const stopPrinting = printUnaskedReplies({
    ...{ gateway, sessionKey: key, output, json: options.json === true },
    line: { above: (write) => (line === undefined ? write() : line.above(write)) },
  });
  const use = (now: TypedLine | undefined) => {
    line = now;
    asking.use(now);
  };
  plugins.startServices();
  try {
    const code = words.length > 0 ? exitCodeOf(await talk.say(message)) : await talkByLines();
    // What was cancelled has ended what it started.
    const isLeft =
      code !== EXIT.cancelled && !(await waitForSessions(gateway, output, leaving.signal));
    await waitForMemory(gateway, output, leaving.signal);
    return isLeft ? EXIT.cancelled : code;
  } finally {
    stopListening();
    stopPrinting();
    asking.stop();
    await gateway.close();
    log.close();
  }
  function talkByLines(): Promise<number> {
    const { name } = gateway.host.model(parseSessionName(key)?.agentId ?? DEFAULT_AGENT_ID);
    const about = `session ${key}, model ${name}`;
    return converse(talk, { output, use, about, leaving: leaving.signal });
  }
}

interface Talk {
  say(text: string): Promise<TurnResult["outcome"]>;
  /** False when nothing is running. */
  cancel(): boolean;
}

interface TalkOptions {
  gateway: Gateway;
  key: string;
  output: Output;
  json: boolean;
}

function createTalk({ gateway, key, output, json }: TalkOptions): Talk {
  let running: AbortController | undefined;
  return {
    async say(text) {
      running = new AbortController();
      try {
        const show = json ? showAsJson(output) : showEvents(output);
        const onEvent = show.take;
        const line = parseLine(text);
        if (line.kind === "command") {
          const answer = await gateway.command(key, line, {
            signal: running.signal,
            onEvent,
          });
          if (json) output.write(`${JSON.stringify({ type: "command", ...answer })}\n`);
          else output.line(printable(answer.text));
          return answer.ok ? "completed" : "failed";
        }
        const { outcome, error, report } = await gateway.send({
          key,
          content: line.text,
          signal: running.signal,
          onEvent,
        });
        const stopReason = report.modelCalls.at(-1)?.stopReason ?? null;
        const safeMode = inSafeMode(gateway.plugins?.records() ?? []);
        const told = { outcome, error, stopReason, ...(safeMode.length > 0 && { safeMode }) };
        if (json) output.write(`${JSON.stringify({ type: "done", ...told })}\n`);
        else {
          if (error === null || show.isWriting()) output.line();
          if (error !== null) output.note(describeTurnError(error));
        }
        return outcome;
      } finally {
        running = undefined;
      }
    },
    cancel() {
      running?.abort(new DOMException("Cancelled by the person.", "AbortError"));
      return running !== undefined;
    },
  };
}

/** A failure ends with its code, or else with the kind of what the provider said. */
const describeTurnError = ({ kind, code, message }: NonNullable<TurnResult["error"]>) =>
  kind === "aborted"
    ? "(cancelled; what had arrived was kept)"
    : `clew: ${printable(message)} [${code ?? kind}]`;

interface Shown {
  take(event: TurnEvent): void;
  /** A line of text is begun and not ended. */
  isWriting(): boolean;
}

function showAsJson(output: Output): Shown {
  const take = (event: TurnEvent) => {
    const shown = shownEvent(event);
    if (shown !== undefined) output.write(`${JSON.stringify(shown)}\n`);
  };
  return { take, isWriting: () => false };
}

function showEvents(output: Output): Shown {
  let isWriting = false;
  const take = (event: TurnEvent) => {
    if (event.type === "text") {
      output.write(printable(event.delta));
      isWriting = true;
    } else if (event.type === "tool_start")
      output.note(`· ${visible(event.call.name)} ${visibleJson(event.call.arguments)}`);
    else if (event.type === "tool_end" && event.isError)
      output.note(`· ${visible(event.name)} failed`);
    else if (event.type === "notice") output.note(printable(event.text));
  };
  return { take, isWriting: () => isWriting };
}

interface Conversation {
  output: Output;
  /** Lets others write while a line is typed; undefined: none is any more. */
  use(line: TypedLine | undefined): void;
  about: string;
  /** Ends it between two lines. */
  leaving: AbortSignal;
}

/** Line by line until the input ends; with a terminal there is a prompt. */
async function converse(
  talk: Talk,
  { output, use, about, leaving }: Conversation,
): Promise<number> {
  const isTerminal = process.stdin.isTTY === true;
  const lines = createInterface({
    input: process.stdin,
    output: process.stdout,
    terminal: isTerminal,
    prompt: "> ",
    signal: leaving,
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
  for await (const typed of lines) {
    const text = typed.trim();
    // Lines that had arrived still come.
    if (leaving.aborted) break;
    if (text === "/quit" || text === "/exit") break;
    if (text !== "") lastOutcome = await talk.say(text);
    if (isTerminal) line.begin();
  }
  lines.close();
  use(undefined);
  if (leaving.aborted) return EXIT.cancelled;
  return isTerminal ? 0 : exitCodeOf(lastOutcome);
}

/** SIGINT cancels a reply; with nothing to cancel, and for SIGTERM, the program ends. */
function onSignals(talk: Talk, leaving: AbortController): () => void {
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

function exitCodeOf(outcome: TurnResult["outcome"]): number {
  if (outcome === "completed") return EXIT.done;
  return outcome === "aborted" ? EXIT.cancelled : EXIT.failed;
}
