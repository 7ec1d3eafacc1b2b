// Runs `clew inspect`, on a session's files and the turn that the running gateway is in.
import { basename, dirname, join, resolve } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { Environment } from "../../config/environment.ts";
import { paidSince } from "../../costs/paid-since.ts";
import { UNPAID } from "../../costs/unpaid.ts";
import { namedSession } from "../../demo/demo-place.ts";
import { whyUnpaid } from "../../demo/demo-usage.ts";
import { describeTurn } from "../../inspect/describe-turn.ts";
import { createInspector, type Inspector } from "../../inspect/inspector.ts";
import { sentRequest } from "../../inspect/rebuild.ts";
import type { SessionSource } from "../../inspect/session-source.ts";
import type { CallRow } from "../../inspect/shapes/calls.ts";
import type { RebuiltRequest } from "../../inspect/shapes/one-call.ts";
import { pricesIn } from "../../models/prices-in.ts";
import { reportFile, reportFiles } from "../../reports/report-files.ts";
import { agentPaths } from "../../sessions/paths.ts";
import { readAllEntries, readBranch } from "../../sessions/read-transcript.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { shellWord } from "../../text/shell-word.ts";
import { storedSessions } from "../stored-sessions.ts";
import {
  formatBisect,
  formatCall,
  formatCalls,
  formatDiff,
  formatFound,
  formatTrace,
  formatTurn,
} from "./format.ts";
import { type CallNamed, type InspectOptions, planQuestion, type Question } from "./question.ts";
import { findRunningTurn } from "./running-turn.ts";

/** So many entries that say a text are named, unless more are asked for; all are counted. */
const MOST_FOUND = 200;

/** An answer as data and for people. */
interface Answer {
  data: unknown;
  text: string;
  /** It tells what calls cost. */
  hasCost: boolean;
}

export async function inspectCommand(
  name: string,
  options: InspectOptions,
  { environment, output }: Shell,
): Promise<number> {
  const question = planQuestion(options);
  const source = await findSource(environment, name, output);
  const inspector = createInspector(source, await pricesIn(environment));
  const answer = await answerTo(inspector, question);
  if (answer === null) {
    const why = await whyNothing(inspector, name, question);
    // What is looked for may be nowhere; what is named must be there.
    if (isNamed(question)) throw new ContextEngineError("REQUEST_INVALID", why);
    output.note(printable(why));
    return EXIT.failed;
  }
  if (options.json === true) output.json(answer.data);
  else if (question.kind === "request") return printRequest(answer.data as RebuiltRequest, output);
  else {
    output.line(printable(answer.text));
    if (answer.hasCost) for (const line of await unpaidLines(environment, name)) output.line(line);
  }
  return 0;
}

function isNamed(question: Question): boolean {
  if (question.kind === "call" || question.kind === "request") return "id" in question.call;
  return ["entry", "diff", "turn"].includes(question.kind);
}

async function unpaidLines(environment: Environment, name: string): Promise<string[]> {
  if (isFile(name)) return [];
  const { home } = environment;
  const { sessions } = await storedSessions(environment);
  const named = await sessions.find(await namedSession(home, name));
  const unpaid = named === null ? null : await whyUnpaid(home, named.key);
  return unpaid === null ? [] : [UNPAID[unpaid]];
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

async function answerTo(inspector: Inspector, question: Question): Promise<Answer | null> {
  const of = <Data>(
    data: Data | null,
    format: (data: Data) => string,
    rowsOf: (data: Data) => readonly CallRow[] = () => [],
  ): Answer | null =>
    data === null ? null : { data, text: format(data), hasCost: hasCost(rowsOf(data)) };
  switch (question.kind) {
    case "find": {
      const { text, after, limit = MOST_FOUND } = question;
      const found = await inspector.find({ text, after, limit });
      const isNowhere = found.matching + found.left.length + found.shownIn.length === 0;
      return isNowhere ? null : of(found, formatFound);
    }
    case "bisect": {
      const found = await inspector.find({ text: question.text, limit: MOST_FOUND });
      const isNowhere = found.unseenIn.length + found.lost.length + found.shownIn.length === 0;
      return isNowhere ? null : of(found, formatBisect);
    }
    case "entry":
      return of(await inspector.trace(question.name), formatTrace);
    case "diff": {
      const to = await idOfCall(inspector, question.to);
      return to === null ? null : of(await inspector.diff(question.from, to), formatDiff);
    }
    case "request": {
      const id = await idOfCall(inspector, question.call);
      return id === null ? null : of(await inspector.request(id), (data) => JSON.stringify(data));
    }
    case "call": {
      const id = await idOfCall(inspector, question.call);
      return id === null ? null : of(await inspector.call(id), formatCall, ({ row }) => [row]);
    }
    case "turn": {
      const page = await inspector.calls(ALL);
      const calls = page?.calls.filter(({ turn }) => turn === question.turn) ?? [];
      return page === null || calls.length === 0
        ? null
        : of({ ...page, calls }, formatTurn, (turn) => turn.calls);
    }
    case "list": {
      const page = await inspector.calls(ALL);
      const isNothing = page === null || page.total + page.missingTurns.length === 0;
      return isNothing ? null : of(page, formatCalls, ({ calls }) => calls);
    }
  }
}

const hasCost = (rows: readonly CallRow[]): boolean =>
  rows.some(({ cost }) => (cost?.total ?? 0) > 0);

const ALL = { limit: Number.MAX_SAFE_INTEGER };

/** Null: there is none. */
async function idOfCall(inspector: Inspector, call: CallNamed): Promise<string | null> {
  if ("id" in call) return call.id;
  const page = await inspector.calls(ALL);
  if (call.by === "newest") return page?.calls.at(-1)?.id ?? null;
  return page?.peaks[call.by]?.id ?? null;
}

async function whyNothing(inspector: Inspector, name: string, question: Question): Promise<string> {
  const newest = await idOfCall(inspector, { by: "newest" });
  if (newest === null)
    return `No model call of session "${name}" is on record: nothing was asked of a model yet, or its reports were deleted.`;
  switch (question.kind) {
    case "bisect":
      return `No model call of session "${name}" showed "${question.text}"; --find says where it stands.`;
    case "find":
      return `"${question.text}" stands in no entry of session "${name}", and no model call showed it.`;
    case "entry":
      return `There is no entry "${question.name}" in session "${name}"; "clew sessions show" lists them with their ids.`;
    case "turn": {
      const { calls: rows, ...page } = (await inspector.calls(ALL))!;
      return describeTurn({ ...page, rows, turn: question.turn })!;
    }
    case "list":
      return whyNoCall(inspector, name, { asked: [], newest });
    case "diff":
      return whyNoCall(inspector, name, { asked: [{ id: question.from }, question.to], newest });
    case "call":
    case "request":
      return whyNoCall(inspector, name, { asked: [question.call], newest });
  }
}

async function whyNoCall(
  inspector: Inspector,
  name: string,
  { asked, newest }: { asked: readonly CallNamed[]; newest: string },
): Promise<string> {
  for (const call of asked) {
    const isUnknown = "by" in call && (await idOfCall(inspector, call)) === null;
    if (isUnknown && call.by === "dearest")
      return `Which call of session "${name}" is the dearest cannot be told: of none it is known what it cost.`;
    if (isUnknown)
      return `Which call of session "${name}" is the fullest cannot be told: of none its budget is known.`;
  }
  const ids = asked.flatMap((call) => ("id" in call ? [call.id] : []));
  const there = await Promise.all(ids.map((id) => inspector.has(id)));
  const absent = ids.filter((_id, at) => !there[at]);
  const missing = absent.join(" or ");
  const gone = (await Promise.all(absent.map((id) => inspector.whyGone(id)))).find(Boolean);
  const why = gone == null ? "" : `: ${gone}`;
  return `There is no call ${missing} in session "${name}"${why}; the newest is ${newest}, and "clew inspect" without --call lists all.`;
}

const isFile = (name: string): boolean => /[/\\]|\.jsonl$/.test(name) && !name.startsWith("agent:");

/** A name, or a file that stands where a home keeps its sessions. */
async function findSource(
  environment: Environment,
  name: string,
  output: Shell["output"],
): Promise<() => Promise<SessionSource>> {
  if (isFile(name)) return fileSource(resolve(name));
  const { home } = environment;
  const { sessions: store, records } = await storedSessions(environment);
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
    const folder = agentPaths(records, agentId).reports;
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
      `${file} has no reports beside it (${reportFile(folder, sessionId)}), so nobody knows what models were sent; "clew replay ${shellWord(basename(file))} --into FOLDER" plays it and keeps them.`,
    );
  return async () => ({ folder, sessionId, branch, allEntries: () => readAllEntries(file) });
}
