// The chat command that tells of the database, checks it and copies it.
import { isAbsolute } from "node:path";
import { ContextEngineError, type PluginCommand, type SessionRef } from "@clew/plugin-sdk/core";
import { planForget } from "../forget/plan.ts";
import { backUp, describeBackups, stampOf } from "../operating/backups.ts";
import { counted, describeStore, nothingIn } from "../operating/describe-store.ts";
import { exportSessions } from "../operating/export.ts";
import { inspectBackups } from "../operating/held.ts";
import { importSessions } from "../operating/import.ts";
import { mend } from "../operating/mend.ts";
import { patiently } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { holdingsOfSession } from "../store/health.ts";
import type { Store } from "../store/store.ts";
import type { Stores } from "../stores.ts";
import type { Spendings } from "../summaries/spending.ts";
import type { Reach } from "../tools/reach.ts";
import { verified } from "./verify.ts";

const HELP = `/lossless status    what is kept, and where
/lossless ask QUESTION   has a session look through this one's record until it can answer
/lossless doctor    reads every message, says which cannot be read, and mends the search index
/lossless verify    compares everything with its hashes and names what is not as it was stored
/lossless backup    copies the database to a file beside it, and checks the copy
/lossless backups   lists the copies beside the database
/lossless restore   how a copy takes the database's place
/lossless export [FOLDER]   writes all sessions as session files
/lossless import FILE       stores what a session file tells, or those of a folder
/lossless forget TEXT       says which messages hold a text; also #12 or an id; changes nothing`;

/** What the command works with. */
export interface CommandParts {
  readonly reach: Reach;
  /** What asking models has come to. Absent: none is asked. */
  readonly spendings?: Spendings | undefined;
  /** The database of an agent. Undefined: the host does not say where its agents keep theirs. */
  readonly storesOf?: ((agentId: string | undefined) => Stores | undefined) | undefined;
  /** Answers a question from what was said in a session. Absent: nobody does. */
  readonly ask?: ((session: Partial<SessionRef>, question: string) => Promise<string>) | undefined;
  /** The time, ms since the epoch. Absent: the system's. */
  readonly now?: (() => number) | undefined;
}

/** It needs no session in which anything was said: of the agent's database it tells at once. */
export const losslessCommand = ({
  reach,
  spendings,
  storesOf = () => undefined,
  ask,
  now = Date.now,
}: CommandParts): PluginCommand => ({
  name: "lossless",
  description:
    "what the lossless engine keeps: ask, status, doctor, verify, backup, export, import",
  acceptsArgs: true,
  async handler({ args = "", sessionId = "", sessionKey, senderIsOwner, agentId }) {
    const { word, rest } = parsed(args);
    const given = { sessionId, ...(sessionKey !== undefined && { sessionKey }) };
    if (word === "help") return { text: HELP };
    if (word === "ask" && rest === "")
      return { text: "Say what to look for: /lossless ask QUESTION" };
    if (word === "ask" && ask !== undefined && reach.hasMet(given))
      return { text: said(await ask(given, rest)) };
    const answer =
      word === "ask" && ask !== undefined
        ? async () => said(await ask(given, rest))
        : WORDS.get(word);
    if (OWNERS.has(word) && senderIsOwner !== true) return { text: OWNERS_ONLY };
    if (answer === undefined)
      return { text: `There is no "/lossless ${word.slice(0, 40)}".\n${HELP}` };
    const unfit = unfitPath(word, rest);
    if (unfit !== undefined) return { text: unfit };
    const stores = storesOf(agentId);
    const missing = stores?.missing() ?? null;
    if (missing !== null) return { text: `${sentence(nothingIn(missing))}.` };
    try {
      const store = stores?.ofAgent() ?? reach.storeOf(given);
      const session = stores === undefined ? reach.asMet(given) : { ...given, owner: stores.owner };
      const behind = reach.hasMet(given) ? reach.behind(given) : NOT_TOLD;
      if (store === undefined) return { text: NOT_MET };
      const spent = spendings?.of(store, given).told();
      const asking = { session, now, behind, spent, path: rest };
      const work = async () => ({ text: await answer(store, asking) });
      // Before its first turn no engine has met it.
      return stores === undefined ? await work() : await reach.lending(session, stores, work);
    } finally {
      stores?.release();
    }
  },
});

/** The tool answers models in JSON, and in words where there is no answer. */
function said(result: string): string {
  const [, json] = /^(\{[\s\S]*?\n\})/.exec(result) ?? [];
  if (json === undefined) return result;
  const { answer, citedIds } = JSON.parse(json) as { answer: string; citedIds: string[] };
  return citedIds.length === 0 ? answer : `${answer}\n\nFrom ${citedIds.join(", ")}.`;
}

interface Asking {
  readonly session: OwnedSession;
  readonly now: () => number;
  /** What follows the word; "": nothing. */
  readonly path: string;
  /** Since when not all of the session is stored, or who knows it. Undefined: all of it is. */
  readonly behind: string | undefined;
  /** Where asking a model for words stands. Undefined: none was asked lately. */
  readonly spent: string | undefined;
}

type Answering = (store: Store, asking: Asking) => string | Promise<string>;

const WORDS: ReadonlyMap<string, Answering> = new Map<string, Answering>([
  ["status", status],
  ["doctor", async (store) => (await mend(store)).text],
  ["verify", verified],
  ["backup", async (store, { now }) => (await backUp(store, { now: now() })).text],
  ["backups", async ({ path }) => describeBackups(path, await inspectBackups(path))],
  ["restore", ({ path }) => RESTORE(path)],
  ["export", exported],
  ["import", imported],
  ["forget", wouldForget],
]);

/** Words that only the owner of the host may say. */
const OWNERS: ReadonlySet<string> = new Set([
  "backup",
  "backups",
  "restore",
  "export",
  "import",
  "forget",
]);

const NOT_MET =
  "The lossless engine has not answered in this session since the start, or ignores it.";
/** What a process before this one could not store, only the host can know. */
const NOT_TOLD =
  "Nothing was told of it since this process began: what was said and is not stored yet, its host knows (in Clew: /engine).";
const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
const OWNERS_ONLY = "Only the owner of this host may copy the database, or change it.";
const RESTORE = (path: string) =>
  `A database that is in use is not replaced: stop the gateway, then run clew lossless restore FILE; clew lossless backups lists the copies of ${path}.`;

/** Words that a path follows. */
const WITH_PATH: ReadonlySet<string> = new Set(["export", "import"]);

function parsed(args: string): { word: string; rest: string } {
  const text = args.trim();
  const [word = ""] = text.split(/\s/, 1);
  if (WITH_PATH.has(word) || word === "forget" || word === "ask")
    return { word, rest: text.slice(word.length).trim() };
  return { word: text === "" ? "status" : text, rest: "" };
}

/** Nobody who chats knows which folder the host was started in. */
function unfitPath(word: string, path: string): string | undefined {
  if (word === "forget")
    return path === "" ? "Say what to forget: /lossless forget #12, an id, or a text" : undefined;
  if (word === "import" && path === "")
    return "Name the file: /lossless import /path/to/file.jsonl";
  return path === "" || !WITH_PATH.has(word) || isAbsolute(path)
    ? undefined
    : `Name a whole path, from / on: ${JSON.stringify(path.slice(0, 100))} is none.`;
}

/** Session files are the host's, and open as long as it runs. */
async function wouldForget(store: Store, { path: what }: Asking): Promise<string> {
  const number = /^#(\d{1,15})$/.exec(what)?.[1];
  const byName = number === undefined ? { id: what } : { number: Number(number) };
  const named = await planForget(store, byName);
  const isText = number === undefined && named.messages.length === 0;
  const { messages, refused, summaries } = isText ? await planForget(store, { text: what }) : named;
  if (refused.length > 0) return refused[0]!;
  if (messages.length + summaries.length === 0) return "Nothing of that is kept.";
  const told = messages.filter(({ why }) => why !== "quoted");
  const more = messages.length - Math.min(told.length, MOST_TOLD);
  return [
    `${counted(messages.length, "message")} would be forgotten:`,
    ...told
      .slice(0, MOST_TOLD)
      .map(({ number, role, excerpt }) => `#${number} ${role}: ${excerpt}`),
    ...(more > 0 ? [`and ${counted(more, "more message")}`] : []),
    `Nothing was changed, since session files are open while a gateway runs. Stop it, then run clew lossless forget ${isText ? "--text " : ""}${quotedForShell(what)} --yes.`,
  ].join("\n");
}

/** A number begins with what begins a comment there. */
const quotedForShell = (text: string): string =>
  /^[\w.:@/-]+$/.test(text) && !text.startsWith("-") ? text : `'${text.replaceAll("'", "'\\''")}'`;

function exported(store: Store, { path, now }: Asking): Promise<string> {
  const folder = path === "" ? `${store.path}.export-${stampOf(now())}` : path;
  return saying(() => exportSessions(store, { folder }));
}

function imported(store: Store, { path, session: { owner = "" } }: Asking): Promise<string> {
  return saying(() => importSessions(store, { files: [path], owner }));
}

/** What was typed wrong is answered like everything else. */
async function saying(work: () => Promise<{ readonly text: string }>): Promise<string> {
  try {
    return (await work()).text;
  } catch (error) {
    if (TYPED_WRONG.some((code) => ContextEngineError.is(error, code)))
      return (error as ContextEngineError).message;
    throw error;
  }
}

/** Messages that are told one by one. */
const MOST_TOLD = 10;

const TYPED_WRONG = ["FILE_NOT_FOUND", "REQUEST_INVALID"] as const;

async function status(store: Store, { session, behind, spent }: Asking): Promise<string> {
  const { messages, conversations } = await patiently(() => holdingsOfSession(store, session));
  const here = `This session: ${counted(messages, "message")} of ${counted(conversations, "conversation")}.`;
  return [`${await describeStore(store)}.`, here, behind, spent]
    .filter((line) => line !== undefined)
    .join("\n");
}
