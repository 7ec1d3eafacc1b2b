// Moves what stands for a session's messages between a database file and rows of a host.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { EngineRow, SessionRows } from "@clew/plugin-sdk/core";
import { patiently } from "../patiently.ts";
import { type OwnedSession, ownerOf } from "../sessions/owner.ts";
import { bringUp } from "../sharing/bring-up.ts";
import { notAmong, ownRows } from "../sharing/own-rows.ts";
import { planSharing, sharedIn } from "../sharing/plan-sharing.ts";
import { storedKeys } from "../store/conversations.ts";
import { lastNumber } from "../store/numbers.ts";
import { type Store, useStore } from "../store/store.ts";

/** A session by its names, as its host has them. */
export interface NamedSession {
  /** Of its transcript. */
  readonly sessionId: string;
  /** Where nothing was stored under another one, it is this. */
  readonly sessionKey: string;
}

/** What a database file has of a session, and its transcript does not say. */
export interface SharedRows {
  /** In one order, the same for the same session. */
  readonly rows: readonly EngineRow[];
  /** The last number of each kind in that file: whoever gives numbers gives those above. */
  readonly lastNumbers: Readonly<Record<string, number>>;
}

/** What became of rows that were to be stored in a database file. */
export type TakenRows =
  /** It had all of them, or there are none. */
  | "same"
  /** They are there now, or, where that was asked, would be. */
  | "taken"
  /** Other sessions of the file have their numbers: the session gets others when it is opened. */
  | "apart";

/** A database file whose sessions are moved. */
export interface SessionRowsFile {
  /** Null: nothing of the session is stored. Throws STORAGE_FAILED. */
  rowsOf(session: NamedSession): Promise<SharedRows | null>;
  /**
   * Makes the session's part of the file what its rows say; what was ended in the middle is begun
   * again by the next. Throws STORAGE_FAILED.
   */
  take(
    session: NamedSession,
    port: Pick<SessionRows, "load" | "lines" | "beside">,
  ): Promise<TakenRows>;
  /** What `take` would do; the file is not written. Throws STORAGE_FAILED. */
  wouldTake(session: NamedSession, rows: readonly EngineRow[]): Promise<TakenRows>;
  /** Gives the file up. */
  close(): void;
}

/** Which file, and of which agent. */
export interface SessionRowsOptions {
  /** Folder of the agent whose sessions they are. */
  readonly agentDir: string;
  /** True: where there is no such file it is made, as soon as something is stored. */
  readonly isMade: boolean;
  /** See `OpenOptions`. */
  readonly compress?: boolean | undefined;
}

/** Opens nothing before it is asked. */
export function openSessionRows(
  file: string,
  { agentDir, isMade, compress = false }: SessionRowsOptions,
): SessionRowsFile {
  const path = resolve(file);
  const owner = ownerOf(agentDir, path);
  let used: ReturnType<typeof useStore> | undefined;
  const open = (): Store => {
    used ??= useStore(path, { compresses: compress });
    return used.store;
  };
  const ifThere = () => (used !== undefined || existsSync(path) ? open() : undefined);
  return {
    async rowsOf(session) {
      const store = ifThere();
      if (store === undefined) return null;
      return patiently(() => {
        const own = ownRows(store, asStored(store, { ...session, owner }));
        if (own === undefined) return null;
        const kinds = ["message", "summary", "conversation"] as const;
        const last = (kind: (typeof kinds)[number]) => store.read((sql) => lastNumber(sql, kind));
        return {
          rows: own.rows,
          lastNumbers: Object.fromEntries(kinds.map((kind) => [kind, last(kind)])),
        };
      });
    },
    async take(session, port) {
      if (!isMade && ifThere() === undefined) return "same";
      // Of a session of which nothing is kept no file is made.
      if (sharedIn(await port.load()).conversation === null) return "same";
      const there = open();
      const asked = await patiently(() => asStored(there, { ...session, owner }));
      const { kind } = await bringUp(there, asked, port);
      return kind === "kept" ? "same" : kind === "unusable" ? "apart" : kind;
    },
    async wouldTake(session, rows) {
      const shared = sharedIn(rows);
      if (shared.conversation === null) return "same";
      const store = ifThere();
      if (store === undefined) return isMade ? "taken" : "same";
      const own = await patiently(() => ownRows(store, asStored(store, { ...session, owner })));
      return planSharing(shared, own?.shared ?? sharedIn([])).kind === "keep" ? "same" : "taken";
    },
    close: () => used?.release(),
  };
}

/** Pure. What a host lacks of a session's rows; null: it has something that they lack. */
export function rowsBesides(
  rows: readonly EngineRow[],
  known: readonly EngineRow[],
): readonly EngineRow[] | null {
  const shared = sharedIn(known);
  if (planSharing(shared, sharedIn(rows)).kind !== "keep") return null;
  return notAmong(rows, { loaded: known, shared });
}

/** A session that was begun anew has another name by now than it was stored under. */
function asStored(store: Store, session: Required<OwnedSession>): OwnedSession {
  const keys = store.read((sql) => storedKeys(sql, session));
  const [key] = keys;
  return key === undefined || keys.includes(session.sessionKey)
    ? session
    : { ...session, sessionKey: key };
}
