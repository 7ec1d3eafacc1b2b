// Runs `clew inspect`, on a session's files and the turn that the running gateway is in.
import { basename, dirname, join, resolve } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { paidSince } from "../../costs/paid-since.ts";
import { namedSession } from "../../demo/demo-place.ts";
import { createInspector, type Inspector } from "../../inspect/inspector.ts";
import { sentRequest } from "../../inspect/rebuild.ts";
import type { SessionSource } from "../../inspect/session-source.ts";
import type { RebuiltRequest } from "../../inspect/shapes.ts";
import { pricesIn } from "../../models/prices-in.ts";
import { reportFile, reportFiles } from "../../reports/report-files.ts";
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
import { findRunningTurn } from "./running-turn.ts";

export interface InspectOptions {
  call?: string;
  diff?: string;
  entry?: string;
  find?: string;
  /** Of `find`. */
  after?: number;
  limit?: number;
  bisect?: string;
  request?: boolean;
  json?: boolean;
}

/** So many entries that say a text are named, unless more are asked for; all are counted. */
const MOST_FOUND = 200;

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
  if (options.find === undefined && (options.after !== undefined || options.limit !== undefined))
    throw new ContextEngineError(
      "REQUEST_INVALID",
      "--after and --limit page through what --find finds; name the text, as in: clew inspect main --find KEY-4711 --after 250",
    );
  if (options.limit === 0)
    throw new ContextEngineError(
      "REQUEST_INVALID",
      "--limit says how many entries are named at once, so it is at least 1; absent it is 200",
    );
  if (options.request === true && (options.call === undefined || options.diff !== undefined))
    throw new ContextEngineError(
      "REQUEST_INVALID",
      "--request prints the request of one call; name it with --call, as in: clew inspect main --call 58.3 --request",
    );
  const source = await findSource(environment.home, name, output);
  const inspector = createInspector(source, await pricesIn(environment));
  const answer = await answerTo(inspector, options);
  if (answer === null) {
    output.note(await whyNothing(inspector, name, options));
    return EXIT.failed;
  }
  if (options.json === true) output.json(answer.data);
  else if (options.request === true) return printRequest(answer.data as RebuiltRequest, output);
  else output.line(printable(answer.text));
  return 0;
}

/** The request alone, to the byte, or nothing. */
function printRequest(rebuilt: RebuiltRequest, output: Shell["output"]): number {
  const sent = sentRequest(rebuilt);
  if (sent === null) {
    output.note(`${rebuilt.why} With --json it is printed as far as it is known.`);
    return EXIT.failed;
  }
  output.line(sent);
  return 0;
}

async function answerTo(inspector: Inspector, options: InspectOptions): Promise<Answer | null> {
  const { call, diff, entry, find, bisect, request } = options;
  const of = <Data>(data: Data | null, format: (data: Data) => string): Answer | null =>
    data === null ? null : { data, text: format(data) };
  if (find !== undefined) {
    const { after, limit = MOST_FOUND } = options;
    const found = await inspector.find({ text: find, after, limit });
    const isNowhere = found.matching === 0 && found.shownIn.length === 0;
    return isNowhere ? null : of(found, formatFound);
  }
  if (bisect !== undefined) {
    const found = await inspector.find({ text: bisect, limit: MOST_FOUND });
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
  const isNothing = page === null || page.total + page.missingTurns.length === 0;
  return isNothing ? null : of(page, formatCalls);
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
  const absent = asked.filter((_id, at) => !there[at]);
  const missing = absent.join(" or ");
  const gone = (await Promise.all(absent.map((id) => inspector.whyGone(id)))).find(Boolean);
  const why = gone == null ? "" : `: ${gone}`;
  return `There is no call ${missing} in session "${name}"${why}; the newest is ${newest}, and "clew inspect" without --call lists all.`;
}

/** A name, or a file that stands where a home keeps its sessions. */
async function findSource(
  home: string,
  name: string,
  output: Shell["output"],
): Promise<() => Promise<SessionSource>> {
  const isFile = /[/\\]|\.jsonl$/.test(name) && !name.startsWith("agent:");
  if (isFile) return fileSource(resolve(name));
  const store = createSessionStore({ home });
  const key = await namedSession(home, name);
  // One question is answered from what there was when it was asked.
  const readOnce = async (): Promise<SessionSource> => {
    const named = await store.find(key);
    if (named === null) throw await store.notFound(name);
    // Before the files are read: what it tells of is in them then, and a report may come meanwhile.
    const { turn: underWay, trouble } = await findRunningTurn(home, named.key);
    if (trouble !== undefined) output.note(trouble);
    const found = await store.read(key);
    if (found === null) throw await store.notFound(name);
    const { agentId, sessionId, branch, file } = found;
    const folder = agentPaths(home, agentId).reports;
    return {
      ...{ folder, sessionId, branch, underWay },
      allEntries: () => readAllEntries(file),
      paidSince: (at) => paidSince(home, named.key, at),
    };
  };
  let known: Promise<SessionSource> | undefined;
  return () => (known ??= readOnce());
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
