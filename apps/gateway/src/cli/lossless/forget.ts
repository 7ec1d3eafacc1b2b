// Runs `clew lossless forget`, which takes words out of everything below the home.
import { type ForgetRequest, textPattern } from "@clew/lossless-engine/store";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { LeftFile } from "../../forget/clean-files.ts";
import { type Journal, readJournal } from "../../forget/journal.ts";
import {
  type Asked,
  matcherOf,
  type Planned,
  type PlannedDatabase,
  planHome,
  WHAT_COPIES,
} from "../../forget/plan-home.ts";
import { type Forgotten, resumeForgetting, runForgetting } from "../../forget/run.ts";
import { claimHome } from "../../home/claim.ts";
import type { SessionName } from "../../sessions/keys.ts";
import { requireSessionName } from "../../sessions/name-errors.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { counted } from "../../text/number.ts";
import { databasesOf } from "./databases.ts";

/** What `clew lossless forget` is given. */
export interface ForgetOptions {
  text?: string;
  pattern?: string;
  session?: string;
  agent?: string;
  yes?: boolean;
  /** False: backups of the databases stay. */
  backups?: boolean;
  resume?: boolean;
  json?: boolean;
}

/**
 * Changes nothing without `--yes`. Exit code 1 where nothing is found, or other files hold it
 * still. Throws GATEWAY_RUNNING, REQUEST_INVALID, SESSION_NOT_FOUND, SESSION_LOCKED,
 * STORAGE_FAILED.
 */
export async function losslessForget(
  message: string | undefined,
  options: ForgetOptions,
  { environment, output }: Shell,
): Promise<number> {
  const { home } = environment;
  const { yes = false, resume = false, backups: dropsBackups = true, json = false } = options;
  const claim = yes || resume ? await claimHome(home) : undefined;
  try {
    if (resume) {
      refuseMore(message, options);
      return tellResumed(await resumeForgetting(home));
    }
    const asked = askedFor(message, options);
    // What is written down of it would be lost.
    if (yes && (await resumeForgetting(home)) !== null && !json) output.line(RESUMED);
    const databases = await databasesOf(environment, options.agent);
    const planned = await planHome({
      ...{ home, asked, databases, dropsBackups },
      inUse: (await databasesOf(environment, undefined)).map(({ file }) => file),
      agents: options.agent === undefined ? null : databases.flatMap(({ agents }) => agents),
    });
    const refused = planned.databases.flatMap((database) => database.refused);
    if (refused.length > 0) throw new ContextEngineError("REQUEST_INVALID", refused[0]!);
    const tell = (lines: readonly string[]) => {
      for (const line of lines) output.line(printable(line));
    };
    const isNothing =
      planned.transcripts.length + planned.backups.length + planned.cleaned.length === 0 &&
      planned.databases.every((database) => !holds(database) && !database.isStale);
    if (isNothing) {
      if (json) output.json({ isDone: false, ...withoutGraves(planned), messages: 0 });
      else tell([nothingFound(asked, home), ...describeLeft(planned.leftIn, HOLDING)]);
      return 1;
    }
    if (!yes) {
      if (json) output.json({ isDone: false, ...withoutGraves(planned) });
      else tell(describePlan(planned, dropsBackups));
      if (!json && (await readJournal(home)) !== null) output.line(UNFINISHED);
      return 0;
    }
    const ran = await runForgetting(home, journalOf(planned, dropsBackups), {
      ...{ matcher: matcherOf(asked), except: planned.lookedInto },
    });
    const copies = planned.leftIn.filter(({ file }) => planned.lookedInto.has(file));
    const done = { ...ran, leftIn: [...copies, ...ran.leftIn] };
    if (json) output.json({ isDone: true, ...withoutGraves(planned), ...done });
    else tell(describeDone(planned, done, dropsBackups));
    return done.leftIn.length === 0 ? 0 : 1;
  } finally {
    await claim?.release();
  }

  function tellResumed(done: Forgotten | null): number {
    if (json) output.json({ isDone: done !== null, messages: done?.messages ?? 0 });
    else output.line(done === null ? "Nothing was being forgotten when a process ended." : RESUMED);
    return 0;
  }
}

const RESUMED = "What was being forgotten when a process ended is forgotten now.";
const UNFINISHED =
  "Something else was being forgotten when a process ended: it is forgotten first, or by clew lossless forget --resume.";
const HOLDING = "These files below the home hold it:";

/** Throws REQUEST_INVALID. */
function refuseMore(message: string | undefined, { text, pattern, session }: ForgetOptions): void {
  if ([message, text, pattern, session].some((each) => each !== undefined))
    throw new ContextEngineError(
      "REQUEST_INVALID",
      "--resume ends what was asked for before, and takes nothing to forget; run it alone, then ask for the rest.",
    );
}

function nothingFound(asked: Asked, home: string): string {
  if (asked.kind === "session") return `Nothing is kept of session ${asked.name.key}.`;
  if (asked.kind === "text")
    return `No message, summary, report, log or backup below ${home} holds that, as far as the gateway may change them.`;
  const { request } = asked;
  if ("number" in request)
    return `There is no message #${request.number} that says anything; --text finds messages by their words, and tells their numbers.`;
  const id = "id" in request ? request.id : "";
  return /^\d+$/.test(id)
    ? `There is no message with the id ${id}; a number is written "#${id}", in quotes.`
    : `There is no message with the id ${id} that says anything; --text finds messages by their words, and tells their numbers.`;
}

/** Throws REQUEST_INVALID where not one thing is asked for. */
function askedFor(
  message: string | undefined,
  { text, pattern, session, agent }: ForgetOptions,
): Asked {
  const given = [message, text, pattern, session].filter((each) => each !== undefined);
  if (given.length !== 1 || given[0]!.trim() === "")
    throw new ContextEngineError(
      "REQUEST_INVALID",
      'Say one thing to forget: a message (its number, "#12", or its id), --text, --pattern or --session; clew lossless forget --help tells more.',
    );
  if (text !== undefined) return { kind: "text", matcher: text };
  if (pattern !== undefined) return { kind: "text", matcher: textPattern(pattern) };
  if (session !== undefined) return { kind: "session", name: sessionOf(session, agent) };
  return { kind: "message", request: messageNamed(message!) };
}

function sessionOf(session: string, agent: string | undefined): SessionName {
  const name = requireSessionName(session, agent);
  if (agent === undefined || agent === name.agentId) return name;
  throw new ContextEngineError(
    "REQUEST_INVALID",
    `${session} is a session of ${name.agentId}, not of ${agent}; leave --agent out, or name another session.`,
  );
}

/** By its number, "#12", or by its id. */
const messageNamed = (name: string): ForgetRequest =>
  /^#\d{1,15}$/.test(name) ? { number: Number(name.slice(1)) } : { id: name };

const journalOf = (
  { databases, transcripts, backups }: Planned,
  dropsBackups: boolean,
): Journal => ({
  v: 1,
  databases: databases
    .filter(
      (database) =>
        holds(database) ||
        database.sessions.length > 0 ||
        database.isStale ||
        database.graves.some(({ hashes }) => hashes.size > 0),
    )
    .map(({ file, messages, sessions, summaries, records, graves }) => ({
      file,
      graves: graves.map(({ salt, hashes }) => ({
        ...{ salt: Buffer.from(salt).toString("hex"), hashes: [...hashes] },
      })),
      numbers: messages.map(({ number }) => number),
      summaries: [...summaries],
      records: [...records],
      sessions: sessions.map(({ sessionId, sessionKey = "", owner = "" }) => ({
        ...{ sessionId, sessionKey, owner },
      })),
    })),
  transcripts: transcripts.map(({ agentId, sessionId, entries }) => ({
    ...{ agentId, sessionId, entries: entries && [...entries] },
  })),
  backups: dropsBackups ? backups.map(({ file }) => file) : [],
});

/** For programs: hashes are of no use to them. */
const withoutGraves = ({ databases, lookedInto: _looked, ...planned }: Planned) => ({
  ...planned,
  databases: databases.map(({ graves: _graves, ...database }) => database),
});

/** Messages that are told one by one. */
const MOST_TOLD = 20;

/** Drafts of imports that were killed, logs, records of children and the like. */
function describeCleaned({ cleaned }: Planned): string[] {
  const [first] = cleaned;
  if (first === undefined) return [];
  const others = cleaned.length > 1 ? " and others" : "";
  return [
    `  what ${counted(cleaned.length, "other file")} of the gateway says of it: ${first}${others}`,
  ];
}

function describePlan(planned: Planned, dropsBackups: boolean): string[] {
  return [
    "Would be forgotten, for good:",
    ...planned.databases.flatMap(describeMessages),
    ...planned.databases.flatMap((database) =>
      database.isStale && !holds(database)
        ? [
            `  ${database.file}: no message, but pages that nothing uses may hold what is no longer kept; they would be written anew`,
          ]
        : [],
    ),
    ...planned.transcripts.map(
      ({ agentId, sessionId, entries }) =>
        `  session file ${sessionId} of ${agentId}: ${entries === null ? "all of it" : counted(entries.length, "entry", "entries")}, and what reports say of it`,
    ),
    ...planned.calls.map((calls) => `  ${describeCalls(calls, "could")}`),
    ...planned.clients.map((client) => `  ${describeClient(client)}`),
    ...describeCleaned(planned),
    ...(dropsBackups ? describeBackups(planned, "would be deleted") : []),
    ...describeLeft(planned.leftIn, "These files below the home would hold some of it still:"),
    "Nothing was changed. Do it with --yes, while no gateway runs.",
  ];
}

const describeCalls = (
  { agentId, sessionId, calls, from, to }: Planned["calls"][number],
  can: "can" | "could",
): string =>
  `${counted(calls, "model call")} of session ${sessionId} of ${agentId} (${from === to ? from : `${from} to ${to}`}) had been sent it: what became of each entry in them stays known, but ${calls === 1 ? "its request" : "their requests"} ${can} no longer be made again`;

/** A client of the door sends its whole history with each request. */
const describeClient = ({ agentId, sessionId, entries }: Planned["clients"][number]): string =>
  `session ${sessionId} of ${agentId} came by the door, and its client has the words still: ${
    entries === null
      ? "its next request begins a session anew, with all that it sends; end it there first"
      : "it goes on in this session, which stores none of them again, and sends them to its model until it ends"
  }`;

const BECAUSE: Readonly<Record<PlannedDatabase["messages"][number]["why"], string>> = {
  asked: "",
  pair: " (a tool call goes with its results)",
  quoted: "",
  elsewhere: "",
  summary: " (a summary that was made after it)",
};

const holds = ({ messages, summaries, records }: PlannedDatabase) =>
  messages.length + summaries.length + records.length > 0;

function describeMessages(database: PlannedDatabase): string[] {
  if (!holds(database)) return [];
  const { file, messages, summaries, records } = database;
  const told = messages.filter(({ why }) => why !== "quoted" && why !== "elsewhere");
  const absent = messages.length - told.length;
  const more = told.length - MOST_TOLD;
  return [
    `  ${file}: ${counted(messages.length, "message")}`,
    ...told
      .slice(0, MOST_TOLD)
      .map(({ number, role, excerpt, why }) => `    #${number} ${role}: ${excerpt}${BECAUSE[why]}`),
    ...(more > 0 ? [`    and ${counted(more, "more message")}`] : []),
    ...(absent > 0
      ? [
          `    ${counted(absent, "message")} that ${absent === 1 ? "is" : "are"} no longer kept, with the summaries and records that may quote ${absent === 1 ? "it" : "them"}`,
        ]
      : []),
    ...(summaries.length > 0
      ? [`    words that a model wrote of ${counted(summaries.length, "summary", "summaries")}`]
      : []),
    ...(records.length > 0
      ? [`    ${counted(records.length, "record")} of earlier views, which views make again`]
      : []),
  ];
}

const WHAT_IT_HELD: typeof WHAT_COPIES = {
  messages: "held it",
  quotations: "may have quoted it in summaries or records",
  pages: "may have held it in pages that nothing uses",
  unknown: "could not be read",
};

function describeBackups({ backups }: Planned, done: string, isDone = false): string[] {
  if (backups.length === 0) return [];
  return [
    `  ${counted(backups.length, "backup")} ${done}:`,
    ...backups.map(
      ({ file, what }) => `    ${file} ${isDone ? WHAT_IT_HELD[what] : WHAT_COPIES[what]}`,
    ),
  ];
}

function describeLeft(left: readonly LeftFile[], told: string): string[] {
  if (left.length === 0) return [];
  return [told, ...left.map(({ file, why }) => `  ${file} ${why}`)];
}

function describeDone(planned: Planned, { messages, leftIn }: Forgotten, dropsBackups: boolean) {
  return [
    `Forgotten: ${counted(messages, "message")}; ${counted(planned.transcripts.length, "session file")} changed.`,
    ...planned.calls.map((calls) => `  ${describeCalls(calls, "can")}`),
    ...planned.clients.map((client) => `  ${describeClient(client)}`),
    ...(dropsBackups
      ? describeBackups(planned, "were deleted; make a new one with clew lossless backup", true)
      : []),
    ...planned.databases.flatMap((database) =>
      database.isStale && !holds(database) ? [`  ${database.file} was written anew`] : [],
    ),
    ...describeLeft(leftIn, "These files below the home hold some of it still:"),
  ];
}
