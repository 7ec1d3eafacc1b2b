// Runs `clew emulate`, emulated providers until somebody stops them.
import { readFile } from "node:fs/promises";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import {
  createEmulator,
  EMULATED_APIS,
  type Emulator,
  type EmulatorAnswer,
  type ReceivedRequest,
} from "@clew/providers/testing";
import { outliveReaders } from "../terminal/lost-reader.ts";
import { type Output, printable } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { formatTable } from "../terminal/table.ts";
import { listenForStop } from "./stop.ts";

export interface EmulateOptions {
  /** Default: all. */
  api?: readonly string[];
  /** Of the first; default: any free ones. */
  port?: number;
  script?: string;
  contextWindow?: number;
  json?: boolean;
}

/** Exit code 0 when it was stopped. */
export async function emulate(
  options: EmulateOptions,
  { output }: Pick<Shell, "output">,
): Promise<number> {
  const { api: apis = EMULATED_APIS, json = false } = options;
  const unknown = apis.find((api) => !EMULATED_APIS.includes(api));
  if (unknown !== undefined)
    throw refused(`There is no emulator of "${unknown}"; there are: ${EMULATED_APIS.join(", ")}.`);
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

async function readScript(file: string): Promise<readonly EmulatorAnswer[]> {
  const text = await readFile(file, "utf8");
  const script = parse(text);
  const isList = Array.isArray(script) && script.length > 0;
  if (!isList || !script.every((answer) => typeof answer === "object" && answer !== null))
    throw refused(
      `${file} is no JSON list of answers; write for example [{"text":"Hello."},{"fault":"overloaded"}].`,
    );
  return script as EmulatorAnswer[];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
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
