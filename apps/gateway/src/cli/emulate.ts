// Runs `clew emulate`, emulated providers until somebody stops them.
import { readFile } from "node:fs/promises";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import {
  createEmulator,
  EMULATED_APIS,
  type Emulator,
  type EmulatorAnswer,
  emulatedFlavors,
  type ReceivedRequest,
  readEmulatorScript,
} from "@clew/providers/testing";
import { outliveReaders } from "../terminal/lost-reader.ts";
import { type Output, printable } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { formatTable } from "../terminal/table.ts";
import { nearestOf } from "../text/nearest.ts";
import { listenForStop } from "./stop.ts";

export interface EmulateOptions {
  /** Default: all. */
  api?: readonly string[];
  /** Of the first; default: any free ones. */
  port?: number;
  script?: string;
  contextWindow?: number;
  /** Whose rules count, where servers of one api differ. Default: those that all share. */
  flavor?: string;
  /** The only key that is let in. Default: any, and none. */
  requireKey?: string;
  /** Rules of older models and other servers are told, not enforced. Default: false. */
  tolerant?: boolean;
  json?: boolean;
}

/** Exit code 0 when it was stopped. */
export async function emulate(
  options: EmulateOptions,
  { output }: Pick<Shell, "output">,
): Promise<number> {
  const { json = false } = options;
  const apis = chosenApis(options);
  const answers = options.script === undefined ? undefined : await readScript(options.script);
  const servers: Emulator[] = [];
  try {
    for (const [place, api] of apis.entries()) {
      const port = options.port ? options.port + place : 0;
      const settings = {
        port,
        onRequest: (request: ReceivedRequest) => tell(output, { api, request, json }),
        ...(answers !== undefined && { answers }),
        ...(options.contextWindow !== undefined && { contextWindow: options.contextWindow }),
        // Whose rules count says nothing of a proxy's address.
        exactAddress: options.flavor === undefined,
        ...(options.flavor !== undefined && { flavor: options.flavor }),
        ...(options.requireKey !== undefined && { keys: [options.requireKey] }),
        ...(options.tolerant === true && { tolerant: true }),
      };
      servers.push(await createEmulator(api, settings).catch((error) => inUse(error, port)));
    }
    const stop = listenForStop();
    outliveReaders(() => {});
    greet(output, servers, json);
    return (await stop.ending).exitCode;
  } finally {
    for (const server of servers) await server.close();
  }
}

const refused = (words: string) => new ContextEngineError("REQUEST_INVALID", words);

/** Those asked for; with a flavor and no api, those that have the flavor. */
function chosenApis({ api, flavor }: EmulateOptions): readonly string[] {
  const unknown = api?.find((each) => !EMULATED_APIS.includes(each));
  if (unknown !== undefined)
    throw refused(`There is no emulator of "${unknown}"; there are: ${EMULATED_APIS.join(", ")}.`);
  if (flavor === undefined) return api ?? EMULATED_APIS;
  const having = EMULATED_APIS.filter((each) => emulatedFlavors(each).includes(flavor));
  const without = api?.find((each) => !having.includes(each));
  if (having.length > 0 && without === undefined) return api ?? having;
  const known = namedFlavors(api ?? EMULATED_APIS);
  const nearest = nearestOf(flavor, known);
  const guess = nearest === null ? "" : ` Did you mean "${nearest}"?`;
  throw refused(
    `There is no flavor "${flavor}"${without === undefined ? "" : ` of ${without}`}.${guess} There are: ${known.map((name) => `${name} (${WHOSE[name]})`).join(", ") || "none"}.`,
  );
}

/** Whose rules a flavor is, for people; those that only tests ask for have no name here. */
const WHOSE: Readonly<Record<string, string>> = {
  openai: "OpenAI itself",
  groq: "Groq",
  deepseek: "DeepSeek",
  kimi: "Kimi by Moonshot",
  openrouter: "OpenRouter, with the rules of each maker behind it",
  minimax: "MiniMax",
  gemini: "Gemini at its address for OpenAI's clients",
  vllm: "vLLM",
  proxy: "a proxy in front of Anthropic or Bedrock",
  compatible: "any server that takes OpenAI's requests",
};

/** The flavors of these apis that a person may ask for. */
export const namedFlavors = (apis: readonly string[]): readonly string[] =>
  [...new Set(apis.flatMap((api) => emulatedFlavors(api)))].filter((name) =>
    Object.hasOwn(WHOSE, name),
  );

async function readScript(file: string): Promise<readonly EmulatorAnswer[]> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") throw error;
    throw new ContextEngineError(
      "FILE_NOT_FOUND",
      `The script ${file} does not exist; name a file that holds a JSON list of answers.`,
      { cause: error },
    );
  });
  try {
    return readEmulatorScript(JSON.parse(text));
  } catch (error) {
    const why = error instanceof SyntaxError ? `It is no JSON: ${error.message}.` : error;
    throw refused(`${file}: ${why instanceof Error ? why.message : String(why)}`);
  }
}

function inUse(error: unknown, port: number): never {
  if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
  throw new ContextEngineError(
    "PORT_UNAVAILABLE",
    `Port ${port} is in use; choose another with --port, or leave it out for any free one.`,
    { cause: error },
  );
}

function greet(output: Output, servers: readonly Emulator[], json: boolean): void {
  const emulators = servers.map(({ api, url, baseUrl }) => ({ api, url, baseUrl }));
  if (json) output.line(JSON.stringify({ emulators }));
  else {
    output.line(
      formatTable(
        ["api", "for a driver", "for an official client"],
        emulators.map(({ api, baseUrl, url }) => [api, baseUrl, url]),
      ),
    );
    output.note("Requests are told here. Ctrl-C ends the servers.");
  }
}

interface Told {
  api: string;
  request: ReceivedRequest;
  json: boolean;
}

function tell(output: Output, { api, request: { path, violations, changes }, json }: Told): void {
  if (json) output.line(JSON.stringify({ request: { api, path, violations, changes } }));
  else {
    const faults = violations.map(({ rule, text }) => `\n  ${rule}: ${text}`);
    const words = `${api} ${path}: ${faults.length === 0 ? "ok" : "broken rules"}`;
    output.line(
      printable([words, ...faults, ...changes.map((change) => `\n  ${change}`)].join("")),
    );
  }
}
