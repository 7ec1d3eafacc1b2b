// Says to people what is forgotten, or would be.
import type { LeftFile } from "../../forget/clean-files.ts";
import { holds } from "../../forget/journal-of.ts";
import {
  type Asked,
  type Planned,
  type PlannedDatabase,
  WHAT_COPIES,
} from "../../forget/plan-home.ts";
import type { Forgotten } from "../../forget/run.ts";
import { counted } from "../../text/number.ts";

export function nothingFound(asked: Asked, home: string): string {
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

export function describePlan(planned: Planned, dropsBackups: boolean): string[] {
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

export function describeLeft(left: readonly LeftFile[], told: string): string[] {
  if (left.length === 0) return [];
  return [told, ...left.map(({ file, why }) => `  ${file} ${why}`)];
}

export function describeDone(
  planned: Planned,
  { messages, leftIn }: Forgotten,
  dropsBackups: boolean,
): string[] {
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
