// Carries what lossless-claw keeps into databases of this engine.
import { catchUp } from "../../search/catch-up.ts";
import { ownerOf } from "../../sessions/owner.ts";
import { readLosslessClaw } from "../../store/lossless-claw/read.ts";
import type { ClawConversation, ClawSource } from "../../store/lossless-claw/source.ts";
import { type Store, useStore } from "../../store/store.ts";
import type { OperatingOptions } from "../progress.ts";
import { type Carried, carryConversation } from "./carry.ts";
import { describeMigration } from "./describe.ts";
import { contentsOf, filesFolderOf } from "./files.ts";
import type { FileContents } from "./message.ts";
import { planSettings, type SettingsPlan } from "./plan-settings.ts";

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
  /** Messages that stay forgotten, as they were here. */
  readonly forgotten: number;
  /** Messages without the id of an entry: told again by a session file they are stored again. */
  readonly withoutId: number;
  /** Parts that became texts, as no message has any of their kind. */
  readonly rewritten: number;
  /** Ids of files that are not there, or too large: their references stand in the messages. */
  readonly missingFiles: readonly string[];
  /** Sessions without a key, by their ids: only recall in all conversations finds them. */
  readonly withoutKey: readonly string[];
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
  const { from, scratch, signal, onProgress, summaries: keepsSummaries = true } = options;
  const source = await readLosslessClaw(from, scratch, signal);
  const stores = openPlaces(options.dryRun === true);
  try {
    const { contents, left } = contentsIn(source, options);
    const carried: Carried[] = [];
    const withoutKey: string[] = [];
    const strangers: ClawConversation[] = [];
    const sessions = sessionIds(source.conversations);
    for (const [at, conversation] of source.conversations.entries()) {
      const { sessionKey, sessionId } = conversation;
      const place = options.placeOf(sessionKey);
      if (place === undefined) strangers.push(conversation);
      else {
        const owner = ownerOf(place.agentDir, place.file);
        const session = { sessionId: sessions.get(conversation)!, sessionKey, owner };
        const sessionFile = place.sessionFile?.(sessionId);
        const carrying = { source, contents, conversation, session, sessionFile, signal };
        const { store, taken } = stores.at(place);
        if (sessionKey === "") withoutKey.push(sessionId);
        carried.push(await carryConversation({ ...carrying, keepsSummaries, store, taken }));
      }
      onProgress?.({ part: "conversations", done: at + 1, of: source.conversations.length });
    }
    for (const store of stores.all()) await catchUp(store, signal);
    return reported({ carried, withoutKey, strangers, left, source }, options);
  } finally {
    source.close();
    stores.release();
  }
}

/** What was moved to files, for each message anew; and a clause where it is left behind. */
function contentsIn(
  source: ClawSource,
  { from, filesFolder }: MigrateOptions,
): { contents: () => FileContents; left: readonly string[] } {
  const found = filesFolderOf(from, filesFolder);
  if ("folder" in found) return { contents: contentsOf(source.files, found.folder), left: [] };
  const left = source.files.length > 0 ? [`what it moved to files: ${found.why}`] : [];
  return { contents: () => () => undefined, left };
}

/** The stores that something is carried into; none where nothing is to be. */
function openPlaces(isDryRun: boolean) {
  const uses = new Map<string, { use: ReturnType<typeof useStore>; taken: Set<number> }>();
  return {
    at({ file, compress = false }: MigrationPlace): {
      store: Store | undefined;
      taken: Set<number>;
    } {
      if (isDryRun) return { store: undefined, taken: new Set() };
      const opened = uses.get(file) ?? {
        ...{ use: useStore(file, { compresses: compress }), taken: new Set() },
      };
      uses.set(file, opened);
      return { store: opened.use.store, taken: opened.taken };
    },
    all: () => [...uses.values()].map(({ use }) => use.store),
    release() {
      for (const { use } of uses.values()) use.release();
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

function reported(
  {
    carried,
    withoutKey,
    strangers,
    left: ofFiles,
    source,
  }: {
    carried: readonly Carried[];
    withoutKey: readonly string[];
    strangers: readonly ClawConversation[];
    left: readonly string[];
    source: ClawSource;
  },
  options: MigrateOptions,
): Migration {
  const total = (name: keyof Omit<Carried, "missing" | "left">) =>
    carried.reduce((sum, each) => sum + each[name], 0);
  const settings = planSettings(options.settings ?? {});
  const left = [
    ...strangers.map(
      ({ sessionKey, sessionId }) =>
        `the session ${sessionKey === "" ? sessionId : sessionKey} is of an agent that is not configured here`,
    ),
    ...ofFiles,
    ...source.left,
    ...carried.flatMap((each) => each.left),
    ...source.others.map(({ table, rows }) => `${rows} rows of ${table} have no counterpart`),
  ];
  const migration = {
    conversations: carried.length,
    ...{ messages: total("messages"), fromTranscripts: total("fromTranscripts") },
    ...{ added: total("added"), summaries: total("summaries"), forgotten: total("forgotten") },
    ...{ withoutId: total("withoutId"), rewritten: total("rewritten") },
    missingFiles: [...new Set(carried.flatMap(({ missing }) => missing))],
    ...{ withoutKey, left, settings },
  };
  return { ...migration, text: describeMigration(migration, options) };
}
