// Runs `clew inspect`, which reads a session's files beside whoever writes them.
import { basename, dirname, join, resolve } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { namedSession } from "../../demo/demo-place.ts";
import { createInspector, type Inspector } from "../../inspect/inspector.ts";
import type { SessionSource } from "../../inspect/session-source.ts";
import { pricesIn } from "../../models/prices-in.ts";
import { reportFile, reportFiles } from "../../reports/report-files.ts";
import { sessionNotFound } from "../../sessions/name-errors.ts";
import { agentPaths } from "../../sessions/paths.ts";
import { readAllEntries, readBranch } from "../../sessions/read-transcript.ts";
import { createSessionStore } from "../../sessions/store.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import {
  formatBisect,
  formatCall,
  formatCalls,
  formatDiff,
  formatFound,
  formatTrace,
} from "./format.ts";

export interface InspectOptions {
  call?: string;
  diff?: string;
  entry?: string;
  find?: string;
  bisect?: string;
  request?: boolean;
  json?: boolean;
}

/** An answer as data and for people. */
interface Answer {
  data: unknown;
  text: string;
}

export async function inspectCommand(
  name: string,
  options: InspectOptions,
  { environment, output }: Shell,
): Promise<number> {
  if (options.request === true && (options.call === undefined || options.diff !== undefined))
    throw new ContextEngineError(
      "REQUEST_INVALID",
      "--request prints the request of one call; name it with --call, as in: clew inspect main --call 58.3 --request",
    );
  const source = await findSource(environment.home, name);
  const inspector = createInspector(source, await pricesIn(environment));
  const answer = await answerTo(inspector, options);
  if (answer === null) {
    output.note(await whyNothing(inspector, name, options));
    return EXIT.failed;
  }
  if (options.json === true || options.request === true) output.json(answer.data);
  else output.line(printable(answer.text));
  return 0;
}

async function answerTo(inspector: Inspector, options: InspectOptions): Promise<Answer | null> {
  const { call, diff, entry, find, bisect, request } = options;
  const of = <Data>(data: Data | null, format: (data: Data) => string): Answer | null =>
    data === null ? null : { data, text: format(data) };
  if (find !== undefined) {
    const found = await inspector.find(find);
    const isNowhere = found.entries.length === 0 && found.shownIn.length === 0;
    return isNowhere ? null : of(found, formatFound);
  }
  if (bisect !== undefined) {
    const found = await inspector.find(bisect);
    return found.lost.length === 0 && found.shownIn.length === 0 ? null : of(found, formatBisect);
  }
  if (entry !== undefined) return of(await inspector.trace(entry), formatTrace);
  if (diff !== undefined) {
    const to = call ?? (await newestOf(inspector));
    return to === null ? null : of(await inspector.diff(diff, to), formatDiff);
  }
  if (call !== undefined && request === true)
    return of(await inspector.request(call), (data) => JSON.stringify(data));
  if (call !== undefined) return of(await inspector.call(call), formatCall);
  const page = await inspector.calls({ limit: Number.MAX_SAFE_INTEGER });
  return page === null || page.total === 0 ? null : of(page, formatCalls);
}

async function newestOf(inspector: Inspector): Promise<string | null> {
  const page = await inspector.calls({ limit: Number.MAX_SAFE_INTEGER });
  return page?.calls.at(-1)?.id ?? null;
}

async function whyNothing(
  inspector: Inspector,
  name: string,
  { call, diff, entry, find, bisect }: InspectOptions,
): Promise<string> {
  const newest = await newestOf(inspector);
  if (newest === null)
    return `No model call of session "${name}" is on record: nothing was asked of a model yet, or its reports were deleted.`;
  if (bisect !== undefined)
    return `No model call of session "${name}" showed "${bisect}"; --find says where it stands.`;
  if (find !== undefined)
    return `"${find}" stands in no entry of session "${name}", and no model call showed it.`;
  if (entry !== undefined)
    return `There is no entry "${entry}" in session "${name}"; "clew sessions show" lists them with their ids.`;
  const asked = [diff, call].filter((id) => id !== undefined);
  const there = await Promise.all(asked.map((id) => inspector.has(id)));
  const missing = asked.filter((_id, at) => !there[at]).join(" or ");
  return `There is no call ${missing} in session "${name}"; the newest is ${newest}, and "clew inspect" without --call lists all.`;
}

/** A name, or a file that stands where a home keeps its sessions. */
async function findSource(home: string, name: string): Promise<() => Promise<SessionSource>> {
  const isFile = /[/\\]|\.jsonl$/.test(name) && !name.startsWith("agent:");
  if (isFile) return fileSource(resolve(name));
  const store = createSessionStore({ home });
  const key = await namedSession(home, name);
  return async () => {
    const found = await store.read(key);
    if (found === null) throw sessionNotFound(name);
    const { agentId, sessionId, branch, file } = found;
    const folder = agentPaths(home, agentId).reports;
    return { folder, sessionId, branch, allEntries: () => readAllEntries(file) };
  };
}

async function fileSource(file: string): Promise<() => Promise<SessionSource>> {
  const folder = join(dirname(dirname(file)), "reports");
  const sessionId = basename(file, ".jsonl");
  const { branch } = await readBranch(file);
  if ((await reportFiles(folder, sessionId)).length === 0)
    throw new ContextEngineError(
      "FILE_NOT_FOUND",
      `${file} has no reports beside it (${reportFile(folder, sessionId)}), so nobody knows what models were sent; "clew replay ${basename(file)} --into FOLDER" plays it and keeps them.`,
    );
  return async () => ({ folder, sessionId, branch, allEntries: () => readAllEntries(file) });
}
