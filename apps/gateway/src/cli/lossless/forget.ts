// Runs `clew lossless forget`, which takes words out of everything below the home.
import { existsSync } from "node:fs";
import {
  backupsBeside,
  copiesHolding,
  type ForgetPlan,
  type ForgetRequest,
  type Graves,
  isNamedBackup,
  type Matcher,
  openMessageStore,
  ownerOf,
  textPattern,
} from "@clew/lossless-engine/store";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { copiesBelow } from "../../forget/copies.ts";
import type { Journal } from "../../forget/journal.ts";
import { type Forgotten, resumeForgetting, runForgetting } from "../../forget/run.ts";
import {
  filesOfSession,
  planTranscripts,
  type TranscriptChange,
} from "../../forget/transcripts.ts";
import { claimHome } from "../../home/claim.ts";
import { findSessionId } from "../../sessions/change-index.ts";
import type { SessionName } from "../../sessions/keys.ts";
import { requireSessionName, sessionNotFound } from "../../sessions/name-errors.ts";
import { agentFolder } from "../../sessions/paths.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { counted } from "../../text/number.ts";
import { type Database, databasesOf } from "./databases.ts";

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

/** What would go from one database. */
interface PlannedDatabase extends ForgetPlan {
  readonly file: string;
  /** True: pages that nothing uses may hold what is no longer kept, and are written anew. */
  readonly isStale: boolean;
}

interface Planned {
  readonly databases: readonly PlannedDatabase[];
  readonly transcripts: readonly TranscriptChange[];
  /** Copies of databases, anywhere below the home, that hold it or cannot be read. */
  readonly backups: readonly string[];
  /** Databases below the home that hold it and are no agent's: they stay. */
  readonly strays: readonly string[];
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
    if (resume) return tellResumed(await resumeForgetting(home));
    const asked = askedFor(message, options);
    const planned = await plan({
      ...{ home, asked, databases: await databasesOf(environment, options.agent) },
      inUse: (await databasesOf(environment, undefined)).map(({ file }) => file),
    });
    const refused = planned.databases.flatMap((database) => database.refused);
    if (refused.length > 0) throw new ContextEngineError("REQUEST_INVALID", refused[0]!);
    const isNothing =
      planned.transcripts.length + planned.backups.length + planned.strays.length === 0 &&
      planned.databases.every((database) => !holds(database) && !database.isStale);
    if (isNothing) {
      if (json) output.json({ isDone: false, ...planned, messages: 0, leftIn: [] });
      else output.line("Nothing of that is kept.");
      return 1;
    }
    if (!yes) {
      if (json) output.json({ isDone: false, ...planned });
      else for (const line of describePlan(planned, dropsBackups)) output.line(printable(line));
      return 0;
    }
    const ran = await runForgetting(home, journalOf(planned, dropsBackups), {
      matcher: matcherOf(asked),
    });
    const done = { ...ran, leftIn: [...new Set([...ran.leftIn, ...planned.strays])] };
    if (json) output.json({ isDone: true, ...planned, ...done });
    else for (const line of describeDone(planned, done, dropsBackups)) output.line(printable(line));
    return done.leftIn.length === 0 ? 0 : 1;
  } finally {
    await claim?.release();
  }

  function tellResumed(done: Forgotten | null): number {
    if (json) output.json({ isDone: done !== null, messages: done?.messages ?? 0 });
    else
      output.line(
        done === null
          ? "Nothing was being forgotten."
          : "What was being forgotten when a process ended is forgotten now.",
      );
    return 0;
  }
}

type Asked =
  | { readonly kind: "message"; readonly request: ForgetRequest }
  | { readonly kind: "text"; readonly matcher: Matcher }
  | { readonly kind: "session"; readonly name: SessionName };

/** Throws REQUEST_INVALID where not one thing is asked for. */
function askedFor(message: string | undefined, { text, pattern, session }: ForgetOptions): Asked {
  const given = [message, text, pattern, session].filter((each) => each !== undefined);
  if (given.length !== 1 || given[0]!.trim() === "")
    throw new ContextEngineError(
      "REQUEST_INVALID",
      'Say one thing to forget: a message (its number, "#12", or its id), --text, --pattern or --session; clew lossless forget --help tells more.',
    );
  if (text !== undefined) return { kind: "text", matcher: text };
  if (pattern !== undefined) return { kind: "text", matcher: textPattern(pattern) };
  if (session !== undefined) return { kind: "session", name: requireSessionName(session) };
  return { kind: "message", request: messageNamed(message!) };
}

/** By its number, "#12", or by its id. */
const messageNamed = (name: string): ForgetRequest =>
  /^#\d{1,15}$/.test(name) ? { number: Number(name.slice(1)) } : { id: name };

const matcherOf = (asked: Asked): Matcher | null => (asked.kind === "text" ? asked.matcher : null);

async function plan({
  home,
  asked,
  databases,
  inUse,
}: {
  home: string;
  asked: Asked;
  databases: readonly Database[];
  /** Files of all databases that agents have. */
  inUse: readonly string[];
}): Promise<Planned> {
  const sessionId = asked.kind === "session" ? await findSessionId(home, asked.name) : undefined;
  const files =
    asked.kind === "session" ? await filesOfSession(home, asked.name, sessionId) : undefined;
  if (asked.kind === "session" && files!.length === 0) throw sessionNotFound(asked.name.key);
  const planned: PlannedDatabase[] = [];
  const graves: Graves[] = [];
  for (const database of databases) {
    if (!existsSync(database.file)) continue;
    if (asked.kind === "session" && !database.agents.includes(asked.name.agentId)) continue;
    const request = requestOf(home, asked, database, files ?? []);
    const found = await planIn(database.file, request);
    planned.push({ file: database.file, ...found.plan, isStale: found.isStale });
    graves.push(found.graves);
  }
  const messages = new Map(
    planned.flatMap((each) =>
      // A session file still says who said it.
      each.messages.flatMap(({ id, role, time, why }) =>
        id === null || why === "quoted" ? [] : [[id, { role, time }] as const],
      ),
    ),
  );
  const transcripts = files ?? (await planTranscripts(home, { messages, text: matcherOf(asked) }));
  const copies = new Set([
    ...databases.flatMap(({ file }) => backupsBeside(file).map((backup) => backup.file)),
    ...(await copiesBelow(home, new Set(inUse))),
  ]);
  const holding = await copiesHolding([...copies], { graves, text: matcherOf(asked) });
  return {
    ...{ databases: planned, transcripts },
    backups: holding.filter((file) => isNamedBackup(file)),
    strays: holding.filter((file) => !isNamedBackup(file)),
  };
}

function requestOf(
  home: string,
  asked: Asked,
  { file }: Database,
  files: readonly TranscriptChange[],
): ForgetRequest {
  if (asked.kind === "message") return asked.request;
  if (asked.kind === "text") return { text: asked.matcher };
  const { agentId, key } = asked.name;
  return {
    session: {
      ...{ sessionId: files[0]?.sessionId ?? "", sessionKey: key },
      owner: ownerOf(agentFolder(home, agentId), file),
    },
  };
}

async function planIn(
  file: string,
  request: ForgetRequest,
): Promise<{ plan: ForgetPlan; graves: Graves; isStale: boolean }> {
  const store = openMessageStore(file);
  try {
    const plan = await store.planForget(request);
    const graves = await store.gravesOf(plan.messages.map(({ number }) => number));
    return { plan, graves, isStale: await store.isStale() };
  } finally {
    store.close();
  }
}

const journalOf = (
  { databases, transcripts, backups }: Planned,
  dropsBackups: boolean,
): Journal => ({
  v: 1,
  databases: databases
    .filter((database) => holds(database) || database.sessions.length > 0 || database.isStale)
    .map(({ file, messages, sessions, summaries }) => ({
      file,
      numbers: messages.map(({ number }) => number),
      summaries: [...summaries],
      sessions: sessions.map(({ sessionId, sessionKey = "", owner = "" }) => ({
        ...{ sessionId, sessionKey, owner },
      })),
    })),
  transcripts: transcripts.map(({ agentId, sessionId, entries }) => ({
    ...{ agentId, sessionId, entries: entries && [...entries] },
  })),
  backups: dropsBackups ? [...backups] : [],
});

/** Messages that are told one by one. */
const MOST_TOLD = 20;

function describePlan(planned: Planned, dropsBackups: boolean): string[] {
  return [
    "Would be forgotten, for good:",
    ...planned.databases.flatMap(describeMessages),
    ...planned.databases.flatMap(({ file, messages, summaries, isStale }) =>
      isStale && messages.length + summaries.length === 0
        ? [
            `  ${file}: no message, but pages that nothing uses may hold what is no longer kept; they would be written anew`,
          ]
        : [],
    ),
    ...planned.transcripts.map(
      ({ agentId, sessionId, entries }) =>
        `  session file ${sessionId} of ${agentId}: ${entries === null ? "all of it" : counted(entries.length, "entry", "entries")}, and its reports`,
    ),
    ...describeBackups(
      planned,
      dropsBackups,
      "would be deleted, as they hold it or cannot be read",
    ),
    ...planned.strays.map((file) => `  ${file} holds it, is no agent's database, and would stay`),
    "Nothing was changed. Do it with --yes, while no gateway runs.",
  ];
}

const BECAUSE: Readonly<Record<PlannedDatabase["messages"][number]["why"], string>> = {
  asked: "",
  pair: " (a tool call goes with its results)",
  quoted: "",
  summary: " (a summary that was made after it)",
};

const holds = ({ messages, summaries }: PlannedDatabase) => messages.length + summaries.length > 0;

function describeMessages({ file, messages, summaries }: PlannedDatabase): string[] {
  if (messages.length + summaries.length === 0) return [];
  const quoted = messages.filter(({ why }) => why === "quoted").length;
  const told = messages.filter(({ why }) => why !== "quoted");
  const more = told.length - MOST_TOLD;
  return [
    `  ${file}: ${counted(messages.length, "message")}`,
    ...told
      .slice(0, MOST_TOLD)
      .map(({ number, role, excerpt, why }) => `    #${number} ${role}: ${excerpt}${BECAUSE[why]}`),
    ...(more > 0 ? [`    and ${counted(more, "more message")}`] : []),
    ...(quoted > 0
      ? [
          `    ${counted(quoted, "message")} that ${quoted === 1 ? "is" : "are"} no longer kept, with the summaries and records that quote them`,
        ]
      : []),
    ...(summaries.length > 0
      ? [`    words that a model wrote of ${counted(summaries.length, "summary", "summaries")}`]
      : []),
  ];
}

function describeBackups({ backups }: Planned, dropsBackups: boolean, what: string): string[] {
  if (backups.length === 0) return [];
  return dropsBackups
    ? [`  ${counted(backups.length, "backup")} ${what}: ${backups.join(", ")}`]
    : [`  These backups stay, and hold it or cannot be read: ${backups.join(", ")}`];
}

function describeDone(planned: Planned, { messages, leftIn }: Forgotten, dropsBackups: boolean) {
  return [
    `Forgotten: ${counted(messages, "message")}; ${counted(planned.transcripts.length, "session file")} changed.`,
    ...describeBackups(
      planned,
      dropsBackups,
      "were deleted; make a new one with clew lossless backup",
    ),
    ...(leftIn.length === 0
      ? []
      : [
          "These files below the home hold some of it still, and are yours to change:",
          ...leftIn.map((file) => `  ${file}`),
        ]),
  ];
}
