// Runs `clew init`, which asks three questions and writes the first settings of a home.
import { copyFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { PROVIDERS } from "@clew/plugin-sdk/host";
import { changingConfig } from "../../config/change.ts";
import { writeConfigText } from "../../config/commands.ts";
import { type Environment, keyNames } from "../../config/environment.ts";
import { checkConfigText, loadConfig, readConfigText } from "../../config/load.ts";
import { checkModel } from "../../doctor/check-host.ts";
import { checkReply } from "../../doctor/check-reply.ts";
import type { Finding } from "../../doctor/finding.ts";
import { findOwnGateway } from "../../gateway-client.ts";
import { OFFLINE_MODEL } from "../../models/resolve.ts";
import { describeOtherSettings, otherSettings } from "../../running-settings.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { interruptible } from "../interruptible.ts";
import { isOnPath, isProgram } from "../on-path.ts";
import { asCalled, ownCommand } from "../own-command.ts";
import { type FirstSettings, firstConfigText } from "./config-text.ts";
import { completeAddresses, findLocalServers, type LocalServer } from "./local-servers.ts";
import { type KeyQuestions, settleAddress, settleKey } from "./own-server.ts";
import {
  type Ask,
  bareWord,
  modelChoices,
  nameServer,
  readAddress,
  readEngine,
  readKey,
  readModel,
  readModelOf,
} from "./questions.ts";

export interface InitOptions {
  /** Answers the first question. */
  model?: string;
  /** Answers the third question. */
  engine?: string;
  /** "provider=address". */
  lookAt?: string[];
  force?: boolean;
  json?: boolean;
}

/** Exit code 1 when the model cannot be asked; the settings are written all the same. */
export async function init(options: InitOptions, shell: Shell): Promise<number> {
  const { environment, output } = shell;
  const { configFile } = environment;
  await refuseToReplace(configFile, options);
  const given = readAddresses(options.lookAt ?? []);
  const { elsewhere, moved, servers } = await interruptible(output, async ({ signal, says }) => {
    says("looking for model servers on this machine");
    const { elsewhere, moved } = await completeAddresses(given, signal);
    return { elsewhere, moved, servers: await findLocalServers(elsewhere, signal) };
  });
  for (const text of moved) output.note(printable(text));
  const lines = questions(output.note);
  let settings: FirstSettings;
  try {
    settings = await answers(options, { servers, elsewhere, environment, ...lines });
  } finally {
    lines.close();
  }
  const text = firstConfigText(settings);
  checkConfigText(text, configFile);
  await changingConfig(configFile, async () => {
    const exists = await refuseToReplace(configFile, options);
    if (exists) await copyFile(configFile, `${configFile}.bak`);
    await writeConfigText(configFile, text);
  });
  const findings = await tryModel(environment, output);
  const warning = await describeRunning(environment);
  const isFine = findings.every(({ level }) => level === "ok");
  if (options.json) output.json({ file: configFile, ...settings, findings, warning });
  else tell(findings, { settings, configFile, isFine, warning, shell });
  return isFine ? EXIT.done : EXIT.failed;
}

/** Whether it is there. Throws REQUEST_INVALID for one that is not to be replaced. */
async function refuseToReplace(configFile: string, { force }: InitOptions): Promise<boolean> {
  const exists = (await readConfigText(configFile)) !== null;
  if (!exists || force === true) return exists;
  throw refused(
    `${configFile} exists already; "clew config set" changes it, and --force replaces it (it is kept as ${configFile}.bak).`,
  );
}

/** Models of a server that are listed; the others can be typed. */
const SHOWN_OF_ONE = 20;

interface Asking {
  servers: readonly LocalServer[];
  /** Addresses by provider, in the place of the usual ones. */
  elsewhere: Readonly<Record<string, string>>;
  environment: Environment;
  ask: Ask;
  note: (text: string) => void;
}

async function answers(
  { model: given, engine }: InitOptions,
  asking: Asking,
): Promise<FirstSettings> {
  const { environment } = asking;
  const { model, baseUrl, key } = await answerModel(given, asking);
  const provider = model.split("/")[0]!;
  const needsKey = PROVIDERS.find(({ id }) => id === provider)?.needsKey !== undefined;
  const isSet = environment.providerKey(provider) !== undefined;
  const isThere = key === undefined ? !needsKey || isSet : isHeld(key, environment);
  const isUsual = key !== undefined && "variable" in key && keyNames(provider)[0] === key.variable;
  return {
    model,
    baseUrl,
    // A setting that names a variable which is not set would be refused.
    key: isUsual || (key !== undefined && "variable" in key && !isThere) ? undefined : key,
    substitute: isThere ? undefined : OFFLINE_MODEL,
    engine: engine ?? (await askEngine(asking)),
  };
}

type Key = NonNullable<FirstSettings["key"]>;

const isHeld = (key: Key, { variable }: Pick<Environment, "variable">): boolean =>
  "command" in key || variable(key.variable) !== undefined;

type AnsweredModel = Pick<FirstSettings, "model" | "baseUrl" | "key">;

/** A server of a person's own is asked for its models, for which it may want the key. */
async function answerModel(given: string | undefined, asking: Asking): Promise<AnsweredModel> {
  const { elsewhere, environment } = asking;
  const answer = given === undefined ? await askModel(asking) : givenModel(given, asking);
  if ("address" in answer) return askOwnServer(answer.address, asking);
  const { model } = answer;
  const provider = model.split("/")[0]!;
  const known = PROVIDERS.find(({ id, aliases = [] }) => [id, ...aliases].includes(provider));
  const mayAsk = given === undefined && environment.providerKey(provider) === undefined;
  const baseUrl = elsewhere[provider];
  if (!mayAsk) return { model, baseUrl };
  if (known?.needsKey !== undefined) return { model, baseUrl, key: await askKey(provider, asking) };
  if (known !== undefined || baseUrl === undefined) return { model, baseUrl };
  const { key } = await settleKey({ provider, baseUrl }, serverQuestions(provider, asking));
  return { model, baseUrl, key };
}

const serverQuestions = (provider: string, asking: Asking): KeyQuestions => ({
  environment: asking.environment,
  note: (text) => asking.note(printable(text)),
  askAddress: (baseUrl) => askAddress(baseUrl, asking),
  askKey: (isAgain) => askWhetherKey(provider, { isAgain, asking }),
});

/** Undefined: the one that was typed is meant. */
async function askAddress(baseUrl: string, { ask, note }: Asking): Promise<string | undefined> {
  for (;;) {
    const typed = need(await ask(printable(`   Address [${baseUrl} all the same]: `)), "--look-at");
    if (typed.trim() === "") return undefined;
    const read = readAddress(typed) ?? {
      problem: "An address looks like http://HOST:PORT/v1.",
    };
    if ("address" in read) return read.address;
    note(printable(`   ${read.problem}`));
  }
}

async function askOwnServer(typed: string, asking: Asking): Promise<AnsweredModel> {
  const { elsewhere, ask, note } = asking;
  const baseUrl = await settleAddress(typed, serverQuestions("", asking));
  const provider = nameServer(baseUrl, Object.keys(elsewhere));
  note(`   It is called "${provider}" in the settings.`);
  const { key, models } = await settleKey({ provider, baseUrl }, serverQuestions(provider, asking));
  if (models === null) note("   No list of its models came; type the name of one.");
  const shown = (models ?? []).slice(0, SHOWN_OF_ONE);
  for (const [index, name] of shown.entries()) note(printable(`   ${index + 1}) ${name}`));
  for (;;) {
    const hint = shown.length === 0 ? "" : " [1]";
    const typed = need(await ask(`   Which of its models answers?${hint}: `), "--model");
    const read = readModelOf(provider, typed, shown);
    if ("model" in read) return { model: read.model, baseUrl, key };
    note(`   ${read.problem}`);
  }
}

function givenModel(given: string, { elsewhere }: Asking): { model: string } {
  const read = readModel(given, [], Object.keys(elsewhere));
  if ("model" in read) return read;
  const why =
    "problem" in read
      ? read.problem
      : `Name the server and a model of it, as in: --look-at own=${read.address} --model own/NAME.`;
  throw refused(`--model ${JSON.stringify(given)}: ${why}`);
}

async function askModel({
  servers,
  elsewhere,
  environment,
  ask,
  note,
}: Asking): Promise<{ model: string } | { address: string }> {
  const keyed = PROVIDERS.flatMap(({ id }) => {
    const variable = keyNames(id).find((name) => environment.variable(name) !== undefined);
    return variable === undefined ? [] : [{ provider: id, variable }];
  });
  const choices = modelChoices(servers, keyed);
  for (const { provider, baseUrl, models } of servers)
    if (models.length === 0) note(`${provider} runs at ${baseUrl} and has no model yet.`);
  note("1. Which model answers?");
  for (const [index, { name, about }] of choices.entries())
    note(printable(`   ${index + 1}) ${name} (${about})`));
  for (;;) {
    const question = '   Number, "provider/model", or the address of a server [1]: ';
    const read = readModel(need(await ask(question), "--model"), choices, Object.keys(elsewhere));
    if (!("problem" in read)) return read;
    note(printable(`   ${read.problem}`));
  }
}

/** Undefined: it wants none, or nothing else than before is meant. */
async function askWhetherKey(
  provider: string,
  { isAgain, asking }: { isAgain: boolean; asking: Asking },
): Promise<FirstSettings["key"]> {
  const { environment, note } = asking;
  if (!isAgain) note(`2. Does ${provider} want a key? It is written into no file.`);
  const key = await askForKey(provider, {
    asking,
    onEnter: isAgain ? "go on all the same" : "it wants none",
  });
  if (key !== undefined && "variable" in key && !isHeld(key, environment))
    note(
      `   ${key.variable} is not set here; once it is: clew config set models.providers.${provider}.apiKey '\${${key.variable}}'`,
    );
  return key;
}

async function askKey(provider: string, asking: Asking): Promise<Key> {
  const [usual = ""] = keyNames(provider);
  asking.note(`2. Where is the key of ${provider}? It is written into no file.`);
  return (await askForKey(provider, { asking, onEnter: usual })) ?? { variable: usual };
}

/** Undefined: nothing was typed. A key itself is asked for again. */
async function askForKey(
  provider: string,
  { asking, onEnter }: { asking: Asking; onEnter: string },
): Promise<FirstSettings["key"]> {
  const { environment, ask, note } = asking;
  const [usual = ""] = keyNames(provider);
  for (;;) {
    const question = `   Variable that holds it, or command that prints it [${onEnter}]: `;
    const typed = need(await ask(question), "--model");
    if (typed.trim() === "") return undefined;
    const isKnown = await isNamed(bareWord(typed), environment);
    const read = readKey(typed, { isKnown, usual });
    if (!("problem" in read)) return read;
    note(`   ${read.problem}`);
  }
}

/** Whether a variable or a program is called so. */
const isNamed = async (word: string, environment: Environment): Promise<boolean> =>
  environment.variable(word) !== undefined ||
  (/[/\\]/.test(word) && (await isProgram(word))) ||
  isOnPath(word, environment);

async function askEngine({ ask, note }: Asking): Promise<string> {
  note("3. What is shown of a session that grows too long?");
  note("   lossless keeps every message and shows what fits; legacy sums up what is older.");
  for (;;) {
    const engine = readEngine(need(await ask("   Use lossless? [Y/n]: "), "--engine"));
    if (engine !== undefined) return engine;
    note("   Type y for lossless or n for legacy.");
  }
}

function need(typed: string | undefined, flag: string): string {
  if (typed !== undefined) return typed;
  throw refused(
    `Nobody is there to answer; say it with ${flag}, as in: clew init --model offline/offline --engine lossless.`,
  );
}

const refused = (text: string) => new ContextEngineError("REQUEST_INVALID", text);

/** Questions go to the error output, so that --json is alone on the other. */
function questions(note: (text: string) => void) {
  const lines = createInterface({ input: process.stdin, terminal: false });
  const typed = lines[Symbol.asyncIterator]();
  const ask: Ask = async (question) => {
    process.stderr.write(question);
    const { value, done } = await typed.next();
    if (process.stdin.isTTY !== true) process.stderr.write("\n");
    return done === true ? undefined : (value as string);
  };
  return { ask, note, close: () => lines.close() };
}

function readAddresses(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((text) => {
      const [, provider, typed = ""] = /^([\w.-]+)=(\S+)$/.exec(text) ?? [];
      const read = readAddress(typed);
      if (provider === undefined || read === undefined || "problem" in read)
        throw refused(
          `--look-at ${JSON.stringify(text)} must name a provider and its address, as in ollama=http://HOST:PORT/v1.`,
        );
      return [provider, read.address];
    }),
  );
}

/** A list of models is given out to everybody: only an answer shows that the key is good. */
async function tryModel(environment: Environment, output: Shell["output"]): Promise<Finding[]> {
  const loaded = await loadConfig(environment.configFile);
  const found = await checkModel(environment, loaded);
  if (found.some(({ level, code }) => level !== "ok" && code !== "model-not-listed")) return found;
  return interruptible(output, async ({ signal, says }) => {
    says("asking the model whether it answers");
    const replied = await checkReply(environment, loaded, signal);
    return withReply(found, replied);
  });
}

/** Pure. What a server is worth is decided by a reply, where one came or was refused. */
function withReply(found: readonly Finding[], replied: readonly Finding[]): Finding[] {
  const isRefused = replied.some(({ level }) => level === "failure");
  const isAnswered = replied.length > 0 && replied.every(({ level }) => level === "ok");
  const kept = found.filter(
    ({ code }) => !isRefused && !(isAnswered && code === "model-not-listed"),
  );
  return [...kept, ...replied];
}

/** Null: no gateway answers by other settings than those that were written. */
async function describeRunning({ home, configFile }: Environment): Promise<string | null> {
  const { config } = await loadConfig(configFile);
  const found = await findOwnGateway({ home, port: config.gateway.port });
  return found.kind === "running"
    ? describeOtherSettings(otherSettings(found.gateway, config))
    : null;
}

function tell(
  findings: readonly Finding[],
  {
    settings: { model, engine },
    configFile,
    isFine,
    warning,
    shell: { environment, output },
  }: {
    settings: FirstSettings;
    configFile: string;
    isFine: boolean;
    warning: string | null;
    shell: Shell;
  },
): void {
  const command = ownCommand(import.meta.dirname, environment);
  output.line(printable(`Wrote ${configFile}: model ${model}, engine ${engine}.`));
  for (const { level, text } of findings)
    output.line(
      asCalled(printable(level === "ok" && isFine ? `${text}.` : `${level}: ${text}`), command),
    );
  if (warning !== null) output.line(asCalled(printable(`warning: ${warning}.`), command));
  output.line(
    isFine
      ? `Next: "${command} chat" to talk in the terminal, "${command} start" for the page.`
      : `Next: see to what is said above, then "${command} doctor" says whether all works.`,
  );
}
