// Runs `clew chat` with a message, a file, or lines that nobody types at a screen.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { parseLine } from "../commands/parse.ts";
import { defaultAgentId } from "../config/agent.ts";
import { ownFolder } from "../config/environment.ts";
import { loadConfig } from "../config/load.ts";
import type { WhenBusy } from "../config/when-busy.ts";
import { createGateway } from "../create-gateway.ts";
import { fileNotFound } from "../file-not-found.ts";
import { findOwnGateway, type OwnGateway } from "../gateway-client.ts";
import { prepareHome } from "../home/prepare-home.ts";
import { startPlugins } from "../plugins/start.ts";
import { describeThrown } from "../plugins/stray-errors.ts";
import { DEFAULT_AGENT_ID, parseSessionName } from "../sessions/keys.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import { untilUnread } from "../terminal/lost-reader.ts";
import type { Shell } from "../terminal/shell.ts";
import { askInTerminal, isAsked, tellOfQuestions } from "./approval.ts";
import { holderOf } from "./chat/holder.ts";
import { throughGateway } from "./chat/port-gateway.ts";
import { legacyInstead } from "./missing-engine.ts";
import { converse, onSignals } from "./say/converse.ts";
import { ownQuestions, toldQuestions } from "./say/questions.ts";
import { exitCodeOf } from "./say/talk.ts";
import { talkAlone } from "./say/talk-alone.ts";
import { talkThroughGateway } from "./say/talk-through-gateway.ts";
import { type Overrides, setUp } from "./setup.ts";
import type { TypedLine } from "./typed-line.ts";
import { printUnaskedReplies } from "./unasked-replies.ts";
import { waitForMemory, waitForSessions } from "./wait-for-rest.ts";

export interface ChatOptions extends Overrides {
  session?: string;
  whenBusy?: WhenBusy;
  /** Whose text is the message; "-" = the standard input. */
  file?: string;
  json?: boolean;
}

export async function chat(
  words: readonly string[],
  options: ChatOptions,
  shell: Shell,
): Promise<number> {
  const message = await messageOf(words, options.file);
  if (message?.trim() === "")
    throw new ContextEngineError(
      "REQUEST_INVALID",
      "The message is blank; write one, or leave it out to talk line by line.",
    );
  const unread = untilUnread();
  const code = await chatSomewhere(message, options, { shell, unread });
  return unread.aborted && code === EXIT.done ? (unread.reason as number) : code;
}

/** What was said is answered and stored, also where nobody reads the answer: see `unread`. */
async function chatSomewhere(
  message: string | undefined,
  options: ChatOptions,
  { shell, unread }: Pick<Through, "shell" | "unread">,
): Promise<number> {
  const { config } = await loadConfig(shell.environment.configFile);
  const find = () => findOwnGateway({ home: shell.environment.home, port: config.gateway.port });
  const gateway = holderOf(await find(), options, config, shell.output);
  if (gateway === undefined) return chatAlone(message, options, { shell, unread });
  const name = options.session ?? config.session.mainKey;
  const sessionKey = parseSessionName(name, defaultAgentId(config))?.key ?? name;
  return chatThrough(message, options, { shell, unread, gateway, find, sessionKey });
}

interface Through {
  shell: Shell;
  /** Aborted once nobody reads what is printed: then no further line is taken. */
  unread: AbortSignal;
  gateway: OwnGateway;
  find(): ReturnType<typeof findOwnGateway>;
  /** Canonical, or what is no name. */
  sessionKey: string;
}

/** What it started goes on in the gateway, which nobody waits for here. */
async function chatThrough(
  message: string | undefined,
  { json = false, whenBusy }: ChatOptions,
  { shell: { output, environment }, unread, gateway, find, sessionKey }: Through,
): Promise<number> {
  const port = throughGateway({ gateway, find, folder: ownFolder() });
  const questions = toldQuestions(port);
  const asking = askInTerminal(questions, { output, sessionKey });
  const stopTelling = isAsked() || json ? () => {} : tellOfQuestions(questions, output);
  const talk = talkThroughGateway({
    ...{ port, session: sessionKey, output, json, whenBusy, questions },
    home: environment.home,
  });
  const leaving = new AbortController();
  const stopListening = onSignals(talk, leaving);
  const about = `session ${sessionKey}, held by ${gateway.url}`;
  try {
    return message === undefined
      ? await converse(talk, { output, use: asking.use, about, leaving: leaving.signal, unread })
      : exitCodeOf(await talk.say(message));
  } finally {
    stopListening();
    stopTelling();
    asking.stop();
  }
}

async function chatAlone(
  message: string | undefined,
  options: ChatOptions,
  { shell, unread }: Pick<Through, "shell" | "unread">,
): Promise<number> {
  const { environment, loaded, log, output } = await setUp(shell, options, {
    showProblems: options.json !== true,
    showsTurns: true,
  });
  await prepareHome(environment.home);
  // Whoever is talking goes on talking.
  shell.strayErrors?.onHostError((error) =>
    log.error(`an error of Clew itself that nothing handled: ${describeThrown(error)}`),
  );
  const plugins = await startPlugins({ environment, loaded, log });
  const onMissingEngine = legacyInstead(options, log);
  const gateway = createGateway({ environment, loaded, log, plugins, onMissingEngine });
  const key = gateway.canonicalKey(options.session ?? loaded.config.session.mainKey);
  const asking = askInTerminal(ownQuestions(gateway.approvals), { output, sessionKey: key });
  const talk = talkAlone({
    ...{ gateway, key, output, json: options.json === true, whenBusy: options.whenBusy },
  });
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
  const resumed = await gateway.waiting.resume(key);
  if (resumed > 0 && options.json !== true)
    output.note(
      `(${resumed} waited from before, and come first; "/waiting clear" takes them back)`,
    );
  try {
    const code = message === undefined ? await talkByLines() : exitCodeOf(await talk.say(message));
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
    return converse(talk, { output, use, about, leaving: leaving.signal, unread });
  }
}

/** Undefined: there is none yet. */
async function messageOf(
  words: readonly string[],
  file: string | undefined,
): Promise<string | undefined> {
  if (file === undefined) return words.length === 0 ? undefined : words.join(" ");
  if (words.length > 0)
    throw new ContextEngineError(
      "REQUEST_INVALID",
      "The message is given twice; give either words or --file.",
    );
  const read = file === "-" ? text(process.stdin) : readFile(resolve(ownFolder(), file), "utf8");
  const message = await read.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") throw fileNotFound(file);
    throw error;
  });
  // A file is what is said, whatever it begins with.
  return parseLine(message).kind === "command" ? `/${message.trimStart()}` : message;
}
