// Carries what lossless-claw keeps into databases of this engine.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { withMessageId } from "@clew/plugin-sdk/transcript";
import { isNameless, type NamedMessage } from "../../messages/name.ts";
import { patiently } from "../../patiently.ts";
import { catchUp } from "../../search/catch-up.ts";
import { type OwnedSession, ownerOf } from "../../sessions/owner.ts";
import {
  type ClawConversation,
  type ClawMessage,
  type ClawSource,
  readLosslessClaw,
} from "../../store/lossless-claw/rows.ts";
import { storeMessages } from "../../store/messages.ts";
import { type Store, useStore } from "../../store/store.ts";
import { othersTurn } from "../../turns.ts";
import type { OperatingOptions } from "../progress.ts";
import { readSession } from "../read-session.ts";
import { describeMigration } from "./describe.ts";
import { contentsOf } from "./files.ts";
import { type FileContents, messageOf } from "./message.ts";
import { type ForeignMessage, planMerge } from "./plan-merge.ts";
import { planSettings, type SettingsPlan } from "./plan-settings.ts";
import { quotedSummary } from "./summary.ts";

/** Where an agent's sessions are kept. */
export interface MigrationPlace {
  /** Path of the agent's database. */
  readonly file: string;
  /** The agent's folder. */
  readonly agentDir: string;
  /** Path of a session's file, which tells more of a message. Absent: there is none. */
  readonly sessionFile?: ((sessionId: string) => string | undefined) | undefined;
  /** See `OpenOptions`. Absent: false. */
  readonly compress?: boolean | undefined;
}

/** What is to be carried, and where. */
export interface MigrateOptions extends OperatingOptions {
  /** Path of lossless-claw's database, which is not changed. */
  readonly from: string;
  /** Folder for a copy of it, where it cannot be read in its place without a trace. */
  readonly scratch: string;
  /** Where a session of this key belongs. Undefined: nowhere here. */
  readonly placeOf: (sessionKey: string) => MigrationPlace | undefined;
  /** Its settings. Absent: none were given. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
  /** Folder of its long texts. Absent: `lcm-files` beside the database. */
  readonly filesFolder?: string | undefined;
  /** False: its summaries are left behind. Absent: they are kept, quoted. */
  readonly summaries?: boolean | undefined;
  /** True: only told of. Absent: false. */
  readonly dryRun?: boolean | undefined;
}

/** What was carried, and what was not. */
export interface Migration {
  /** Conversations that were read. */
  readonly conversations: number;
  /** Messages in them. */
  readonly messages: number;
  /** How many of them their session files tell, too, and were taken from there. */
  readonly fromTranscripts: number;
  /** What was stored that was not there before: messages and summaries, of session files too. */
  readonly added: number;
  /** Summaries that are kept, quoted. */
  readonly summaries: number;
  /** Messages without the id of an entry: told again by a session file they are stored again. */
  readonly withoutId: number;
  /** Parts that became texts, as no message has any of their kind. */
  readonly rewritten: number;
  /** Ids of files that are not there: their references stand in the messages. */
  readonly missingFiles: readonly string[];
  /** What was left behind, a sentence each. */
  readonly left: readonly string[];
  /** What becomes of the settings. */
  readonly settings: SettingsPlan;
  /** All of it for people. */
  readonly text: string;
}

/**
 * Once more carries nothing twice, so a migration that was interrupted is begun anew. Throws
 * FILE_NOT_FOUND, REQUEST_INVALID where that is no database of lossless-claw, STORAGE_FAILED.
 */
export async function migrateLosslessClaw(options: MigrateOptions): Promise<Migration> {
  const source = readLosslessClaw(options.from, options.scratch);
  const stores = openPlaces(options.dryRun === true);
  try {
    const folder = options.filesFolder ?? join(dirname(options.from), "lcm-files");
    const contents = contentsOf(source.files(), folder);
    const total = startTotal();
    const conversations = source.conversations();
    const sessions = sessionIds(conversations);
    for (const [at, conversation] of conversations.entries()) {
      const place = options.placeOf(conversation.sessionKey);
      if (place === undefined) total.strangers.push(conversation);
      else {
        const read = await readConversation(source, conversation, contents, options);
        const unread = source.count(conversation.id) - (read.messages.length - read.summaries);
        if (unread > 0)
          total.refused.push(
            `${unread} messages of the session ${conversation.sessionKey || conversation.sessionId} have no number by which they are found`,
          );
        const session = {
          ...{ sessionId: sessions.get(conversation)!, sessionKey: conversation.sessionKey },
          owner: ownerOf(place.agentDir, place.file),
        };
        await carry({
          read,
          session,
          place,
          conversation,
          total,
          options,
          store: stores.at(place),
        });
      }
      options.onProgress?.({ part: "conversations", done: at + 1, of: conversations.length });
    }
    for (const store of stores.all()) await catchUp(store, options.signal);
    return reported(total, source, options);
  } finally {
    source.close();
    stores.release();
  }
}

interface Total {
  conversations: number;
  messages: number;
  fromTranscripts: number;
  added: number;
  summaries: number;
  withoutId: number;
  rewritten: number;
  missingFiles: Set<string>;
  refused: string[];
  strangers: ClawConversation[];
}

const startTotal = (): Total => ({
  ...{ conversations: 0, messages: 0, fromTranscripts: 0, added: 0, summaries: 0, withoutId: 0 },
  ...{ rewritten: 0, missingFiles: new Set(), refused: [], strangers: [] },
});

/** The stores that something is carried into; none where nothing is to be. */
function openPlaces(isDryRun: boolean) {
  const uses = new Map<string, ReturnType<typeof useStore>>();
  return {
    at({ file, compress = false }: MigrationPlace): Store | undefined {
      if (isDryRun) return undefined;
      const use = uses.get(file) ?? useStore(file, { compresses: compress });
      uses.set(file, use);
      return use.store;
    },
    all: () => [...uses.values()].map(({ store }) => store),
    release() {
      for (const { release } of uses.values()) release();
    },
  };
}

/** Of several conversations of one transcript the active one keeps its id. */
function sessionIds(
  conversations: readonly ClawConversation[],
): ReadonlyMap<ClawConversation, string> {
  const keepers = new Map<string, ClawConversation>();
  const key = ({ sessionId, sessionKey }: ClawConversation) =>
    JSON.stringify([sessionId, sessionKey]);
  for (const each of conversations) {
    const keeper = keepers.get(key(each));
    if (keeper === undefined || each.isActive || !keeper.isActive) keepers.set(key(each), each);
  }
  return new Map(
    conversations.map((each) => [
      each,
      keepers.get(key(each)) === each ? each.sessionId : `${each.sessionId}#${each.id}`,
    ]),
  );
}

/** Messages that are read at once. */
const PAGE = 64;

interface Read {
  readonly messages: readonly ForeignMessage[];
  readonly summaries: number;
  readonly rewritten: number;
  readonly missing: readonly string[];
}

/** Its messages, and each summary behind the last of those that it was made of. */
async function readConversation(
  source: ClawSource,
  { id: conversation }: ClawConversation,
  contents: FileContents,
  { summaries: keepsSummaries = true, signal }: MigrateOptions,
): Promise<Read> {
  const summaries = keepsSummaries ? source.summaries(conversation) : [];
  const bySeq = Map.groupBy(summaries, ({ lastMessage }) => lastMessage ?? -1);
  const quoted = (seq: number): ForeignMessage[] =>
    (bySeq.get(seq) ?? []).map((summary) => ({ ...quotedSummary(summary), entryId: null }));
  const [messages, missing]: [ForeignMessage[], string[]] = [quoted(-1), []];
  let rewritten = 0;
  for (let after: ClawMessage | null = null; ; ) {
    signal?.throwIfAborted();
    const page: ClawMessage[] = source.messages({ conversation, after, limit: PAGE });
    for (const stored of page) {
      const carried = messageOf(stored, contents);
      rewritten += carried.rewritten;
      missing.push(...carried.missing);
      messages.push(named(conversation, stored, carried.message));
      if (after?.seq !== stored.seq) messages.push(...quoted(stored.seq));
      after = stored;
    }
    if (page.length < PAGE) break;
    await othersTurn();
  }
  return { messages, summaries: summaries.length, rewritten, missing };
}

/** Stored without the id of its entry it is known by its number there. */
function named(
  conversation: number,
  { id, entryId }: ClawMessage,
  message: ForeignMessage["message"],
): ForeignMessage {
  const name =
    entryId === null || isNameless(entryId) ? `lossless-claw:${conversation}:${id}` : entryId;
  return { name, message: withMessageId(message, name), entryId };
}

/** Messages that are stored in one transaction. */
const BATCH = 32;

async function carry({
  read,
  session,
  place,
  conversation,
  total,
  store,
  options: { signal },
}: {
  read: Read;
  session: OwnedSession;
  place: MigrationPlace;
  conversation: ClawConversation;
  total: Total;
  store: Store | undefined;
  options: MigrateOptions;
}): Promise<void> {
  const told = await toldIn(place, conversation, signal);
  const { messages, shared } = planMerge(read.messages, told);
  total.conversations++;
  total.messages += read.messages.length - read.summaries;
  total.summaries += read.summaries;
  total.fromTranscripts += shared;
  total.rewritten += read.rewritten;
  for (const id of read.missing) total.missingFiles.add(id);
  total.withoutId += messages.filter(
    ({ name, isHeartbeat }) => isHeartbeat !== true && name.startsWith("lossless-claw:"),
  ).length;
  if (store === undefined) return;
  for (let at = 0; at < messages.length; at += BATCH) {
    const batch = messages.slice(at, at + BATCH);
    const storing = await patiently(
      () => storeMessages(store, { session, messages: batch, from: "told" }),
      signal,
    );
    total.added += storing.added;
    total.refused.push(...storing.refused.map(({ name, why }) => `message ${name} (${why})`));
    await othersTurn();
    signal?.throwIfAborted();
  }
}

/** What its session file tells; nothing where there is none, or none that can be read. */
async function toldIn(
  { sessionFile }: MigrationPlace,
  { sessionId }: ClawConversation,
  signal: AbortSignal | undefined,
): Promise<readonly NamedMessage[]> {
  const file = sessionFile?.(sessionId);
  if (file === undefined || !existsSync(file)) return [];
  const { messages } = await readSession(file, signal);
  return messages;
}

function reported(total: Total, source: ClawSource, options: MigrateOptions): Migration {
  const { strangers, refused, missingFiles, ...counts } = total;
  const settings = planSettings(options.settings ?? {});
  const left = [
    ...strangers.map(
      ({ sessionKey, sessionId }) =>
        `the session ${sessionKey === "" ? sessionId : sessionKey} is of an agent that is not configured here`,
    ),
    ...refused,
    ...source.others().map(({ table, rows }) => `${rows} rows of ${table} have no counterpart`),
  ];
  const migration = { ...counts, missingFiles: [...missingFiles], left, settings };
  return { ...migration, text: describeMigration(migration, options) };
}
