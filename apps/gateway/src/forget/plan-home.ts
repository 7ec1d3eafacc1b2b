// Decides what goes from a whole home when something is to be forgotten.
import { existsSync } from "node:fs";
import {
  backupsBeside,
  copiesHolding,
  type ElsewherePlan,
  type ForgetRequest,
  type Graves,
  type HoldingCopy,
  isNamedBackup,
  type Matcher,
  openMessageStore,
  ownerOf,
} from "@clew/lossless-engine/store";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { journalFile } from "../door/memory/journal-files.ts";
import { findSessionId } from "../sessions/change-index.ts";
import type { SessionName } from "../sessions/keys.ts";
import { sessionNotFound } from "../sessions/name-errors.ts";
import { agentFolder, agentPaths, transcriptFile } from "../sessions/paths.ts";
import { filesHolding, type LeftFile } from "./clean-files.ts";
import { copiesBelow } from "./copies.ts";
import { type CallsThatSent, callsThatSent } from "./redact-reports.ts";
import { type Traces, tracesOf } from "./traces.ts";
import {
  entriesThatGo,
  filesOfSession,
  idsThatGo,
  messageIn,
  planTranscripts,
  redacted,
  type TranscriptChange,
  wordsThatGo,
} from "./transcripts.ts";

/** What somebody asks to be forgotten. */
export type Asked =
  | { readonly kind: "message"; readonly request: ForgetRequest }
  | { readonly kind: "text"; readonly matcher: Matcher }
  | { readonly kind: "session"; readonly name: SessionName };

/** The text that is looked for. Null: none is. */
export const matcherOf = (asked: Asked): Matcher | null =>
  asked.kind === "text" ? asked.matcher : null;

/** A database file of the home. */
export interface HomeDatabase {
  readonly file: string;
  /** Ids of the agents that keep their sessions in it. */
  readonly agents: readonly string[];
}

/** What would go from one database. */
export interface PlannedDatabase extends ElsewherePlan {
  readonly file: string;
  /** True: pages that nothing uses may hold what is no longer kept, and are written anew. */
  readonly isStale: boolean;
}

/** A copy of a database, or one that is nobody's, and what of it is sought. */
export type HeldCopy = Pick<HoldingCopy, "file" | "what">;

/** What would go. */
export interface Planned {
  readonly databases: readonly PlannedDatabase[];
  readonly transcripts: readonly TranscriptChange[];
  /** Of them, those whose clients keep the whole history themselves. */
  readonly clients: readonly TranscriptChange[];
  /** Model calls of these that can be looked at, and not be made again. */
  readonly calls: readonly CallsThatSent[];
  /** Copies of databases, anywhere below the home, that hold it or cannot be read. */
  readonly backups: readonly HeldCopy[];
  /** Databases and copies that were looked into. */
  readonly lookedInto: ReadonlySet<string>;
  /** Other files of the gateway that say it, and would not any more. */
  readonly cleaned: readonly string[];
  /** Files that would hold it still. */
  readonly leftIn: readonly LeftFile[];
}

/** Reads, and changes nothing. Throws SESSION_NOT_FOUND, STORAGE_FAILED. */
export async function planHome({
  home,
  asked,
  databases,
  inUse,
  agents,
  dropsBackups,
  elsewhere,
}: {
  home: string;
  asked: Asked;
  databases: readonly HomeDatabase[];
  /** Files of all databases that agents have. */
  inUse: readonly string[];
  /** Whose session files are changed. Null: those of all agents, also of some that are gone. */
  agents: readonly string[] | null;
  /** False: backups stay. */
  dropsBackups: boolean;
  /** What goes from a database besides, so that the home need not have it. Absent: nothing. */
  elsewhere?: readonly string[] | undefined;
}): Promise<Planned> {
  const files = asked.kind === "session" ? await filesOf(home, asked.name) : null;
  const own = databases.filter(
    ({ file, agents }) =>
      existsSync(file) && (asked.kind !== "session" || agents.includes(asked.name.agentId)),
  );
  const found: InDatabase[] = [];
  for (const database of own)
    found.push(await planIn(database.file, requestOf(home, asked, database, files ?? [])));
  const transcriptsOf = async (plans: readonly ElsewherePlan[]) =>
    files ?? planTranscripts(home, agents, { messages: toldIn(plans), text: matcherOf(asked) });
  const first = await transcriptsOf(found.map(({ plan }) => plan));
  const told = await messagesOf(home, first);
  const holds = await tracesOfFound(home, { found, transcripts: first, asked, elsewhere });
  const copies = await copiesIn(home, databases, inUse);
  const holding = await copiesHolding(copies, {
    graves: found.map((each) => each.graves),
    text: matcherOf(asked),
    quotes: holds,
  });
  const graves = holding.flatMap((copy) => copy.graves);
  const planned: PlannedDatabase[] = [];
  for (const { file, plan, isStale } of found)
    planned.push({
      file,
      isStale,
      ...(await withElsewhere(file, plan, { messages: told, graves })),
    });
  if (
    elsewhere === undefined &&
    files?.length === 0 &&
    planned.every(({ messages }) => messages.length === 0)
  )
    throw sessionNotFound(asked.kind === "session" ? asked.name.key : "");
  const transcripts = await transcriptsOf(planned);
  const held = holding.map(({ file, what }) => ({ file, what }));
  const backups = held.filter(({ file }) => isNamedBackup(file));
  const strays = held.filter(({ file }) => !isNamedBackup(file));
  const lookedInto = new Set([...copies, ...own.map(({ file }) => file)]);
  const { left, cleaned } = await filesHolding(home, {
    ...{ holds, except: lookedInto, text: matcherOf(asked) },
    changes: changesOf(home, transcripts),
  });
  return {
    ...{ databases: planned, transcripts, backups, lookedInto, cleaned },
    calls: await callsOf(home, transcripts),
    clients: transcripts.filter(({ agentId, sessionId }) =>
      existsSync(journalFile(transcriptFile(home, agentId, sessionId))),
    ),
    leftIn: [
      ...(dropsBackups ? [] : backups.map((copy) => leftCopy(copy, "stays, as --no-backups says"))),
      ...strays.map((copy) => leftCopy(copy, "is no agent's database, so that it stays")),
      ...left,
    ],
  };
}

/** Of sessions that stay. */
async function callsOf(home: string, transcripts: readonly TranscriptChange[]) {
  const found: CallsThatSent[] = [];
  for (const change of transcripts) {
    if (change.entries === null) continue;
    const { reports } = agentPaths(home, change.agentId);
    const calls = await callsThatSent(reports, change, await idsThatGo(home, change));
    if (calls !== null) found.push(calls);
  }
  return found;
}

/** What a copy of a database has to do with it. */
export const WHAT_COPIES: Readonly<Record<HeldCopy["what"], string>> = {
  messages: "holds it",
  quotations: "may quote it in summaries or records",
  pages: "may hold it in pages that nothing uses",
  unknown: "cannot be read, so that nobody knows what it holds",
};

const leftCopy = ({ file, what }: HeldCopy, why: string): LeftFile => ({
  ...{ file, why: `${WHAT_COPIES[what]}, and ${why}; delete it once nobody needs it` },
});

/** What session files will say. */
function changesOf(home: string, transcripts: readonly TranscriptChange[]) {
  const changes = new Map(
    transcripts.map(({ agentId, sessionId, entries }) => [
      transcriptFile(home, agentId, sessionId),
      entries,
    ]),
  );
  return (file: string, text: string): string | null | undefined => {
    const entries = changes.get(file);
    return entries ? redacted(text, entries) : entries;
  };
}

/** Session files of a session; none where only a database has it. */
const filesOf = async (home: string, name: SessionName): Promise<readonly TranscriptChange[]> =>
  filesOfSession(home, name, await findSessionId(home, name));

function requestOf(
  home: string,
  asked: Asked,
  { file }: HomeDatabase,
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

/** What a database says by itself. */
interface InDatabase {
  readonly file: string;
  readonly plan: ElsewherePlan;
  /** Of what would go. */
  readonly graves: Graves;
  readonly texts: readonly string[];
  readonly isStale: boolean;
}

async function planIn(file: string, request: ForgetRequest): Promise<InDatabase> {
  const store = openMessageStore(file);
  try {
    const plan = await store.planForget(request);
    const numbers = plan.messages.map(({ number }) => number);
    return {
      ...{ file, plan: { ...plan, graves: [] }, isStale: await store.isStale() },
      ...{ graves: await store.gravesOf(numbers), texts: await store.textsOf(numbers) },
    };
  } finally {
    store.close();
  }
}

async function withElsewhere(
  file: string,
  plan: ElsewherePlan,
  elsewhere: { messages: readonly AgentMessage[]; graves: readonly Graves[] },
): Promise<ElsewherePlan> {
  const store = openMessageStore(file);
  try {
    return await store.planElsewhere(plan, elsewhere);
  } finally {
    store.close();
  }
}

/** By their ids: a session file still says who said what, when a database does not. */
const toldIn = (plans: readonly ElsewherePlan[]) =>
  new Map(
    plans.flatMap(({ messages }) =>
      messages.flatMap(({ id, role, time, why }) =>
        id === null || why === "quoted" ? [] : [[id, { role, time }] as const],
      ),
    ),
  );

/** Messages that go from session files. */
async function messagesOf(
  home: string,
  changes: readonly TranscriptChange[],
): Promise<AgentMessage[]> {
  const messages: AgentMessage[] = [];
  for (const change of changes)
    messages.push(...(await entriesThatGo(home, change)).flatMap(messageIn));
  return messages;
}

async function tracesOfFound(
  home: string,
  {
    found,
    transcripts,
    asked,
    elsewhere = [],
  }: {
    found: readonly InDatabase[];
    transcripts: readonly TranscriptChange[];
    asked: Asked;
    elsewhere?: readonly string[] | undefined;
  },
): Promise<Traces> {
  const texts = [...elsewhere, ...found.flatMap((each) => each.texts)];
  texts.push(...(await wordsThatGo(home, transcripts)));
  return tracesOf(texts, matcherOf(asked));
}

/** Files of copies, wherever they are, and of databases that are nobody's. */
async function copiesIn(
  home: string,
  databases: readonly HomeDatabase[],
  inUse: readonly string[],
): Promise<string[]> {
  const beside = databases.flatMap(({ file }) => backupsBeside(file).map((each) => each.file));
  return [...new Set([...beside, ...(await copiesBelow(home, new Set(inUse)))])];
}
