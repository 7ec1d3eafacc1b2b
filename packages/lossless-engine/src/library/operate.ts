// What operators do with a database file, whatever host wrote it.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { type Retention, type RetentionState, retain, retentionState } from "../forget/retain.ts";
import { type Backup, type BackupOptions, backUp } from "../operating/backups.ts";
import { describeRetention } from "../operating/describe-retention.ts";
import { counted, describeStore, nothingIn } from "../operating/describe-store.ts";
import { type Exported, type ExportOptions, exportSessions } from "../operating/export.ts";
import {
  assertImportable,
  type Imported,
  type ImportOptions,
  importSessions,
} from "../operating/import.ts";
import { type Mended, mend } from "../operating/mend.ts";
import type { OperatingOptions } from "../operating/progress.ts";
import { type StoreStatus, statusOf } from "../operating/status.ts";
import { ownerOf } from "../sessions/owner.ts";
import { type Store, useStore } from "../store/store.ts";

/** How the database stands. Throws FILE_NOT_FOUND where there is none, STORAGE_FAILED. */
export const storeStatus = (file: string): Promise<StoreStatus> => on(file, statusOf);

/**
 * Copies the database as it is at one moment, also while a host writes to it, and audits the copy.
 * Throws FILE_NOT_FOUND where there is none, STORAGE_FAILED.
 */
export const backUpStore = (file: string, options: BackupOptions): Promise<Backup> =>
  on(file, (store) => backUp(store, options));

/**
 * Reads all of the database and says what of it cannot be read; what is broken is marked, so that
 * whoever tells of it again gives it back. Throws FILE_NOT_FOUND where there is none,
 * STORAGE_FAILED.
 */
export const mendStore = (file: string, options?: OperatingOptions): Promise<Mended> =>
  on(file, (store) => mend(store, options));

/**
 * Writes all conversations, or those of some sessions, as session files of OpenClaw and pi, as
 * they are at one moment. Read by `importIntoStore` they are the same again to the byte. Throws
 * FILE_NOT_FOUND where there is no database, SESSION_NOT_FOUND, REQUEST_INVALID where a file of
 * that name is there, STORAGE_FAILED.
 */
export const exportStore = (file: string, options: ExportOptions): Promise<Exported> =>
  on(file, (store) => exportSessions(store, options));

/** What is read into a database, and how it is kept there. */
export interface StoreImportOptions extends Omit<ImportOptions, "owner"> {
  /** Folder of the agent whose sessions they are. Absent: a program that is no host. */
  readonly agentDir?: string | undefined;
  /** See `OpenOptions`. */
  readonly compress?: boolean | undefined;
}

/**
 * Stores what session files of OpenClaw and pi, or exports, tell and the database lacks; it is made
 * where it is not there. Throws FILE_NOT_FOUND, REQUEST_INVALID, STORAGE_FAILED.
 */
export async function importIntoStore(
  file: string,
  { agentDir, compress = false, ...options }: StoreImportOptions,
): Promise<Imported> {
  const path = resolve(file);
  // Of what is typed wrong no database is made.
  if (!existsSync(path)) await assertImportable(options);
  const { store, release } = useStore(path, { compresses: compress });
  try {
    return await importSessions(store, { ...options, owner: ownerOf(agentDir, path) });
  } finally {
    release();
  }
}

/** What letting go of what is too old came to. */
export interface Retained {
  /** How many messages are no longer kept that were before. */
  readonly gone: number;
  /** All of it for people. */
  readonly text: string;
}

/** How long it may go on before others, and whoever ends it, have a turn, ms. */
const RETAIN_MS = 1_000;

/**
 * Lets go of all that is too old or too much, as a host does in slices after turns; also while one
 * writes to it. Throws FILE_NOT_FOUND where there is none, STORAGE_FAILED.
 */
export const retainStore = (
  file: string,
  { now, onProgress, signal, ...retention }: Retention & OperatingOptions & { now: number },
): Promise<Retained> =>
  on(file, async (store) => {
    let gone = 0;
    for (;;) {
      const start = performance.now();
      const slice = await retain(store, retention, { now, boundMs: RETAIN_MS, signal });
      gone += slice;
      onProgress?.({ part: "letting go of messages", done: gone, of: null });
      if (slice === 0 && performance.now() - start < RETAIN_MS) break;
    }
    const { staying } = describeRetention(
      await retentionState(store, retention, { now, signal }),
      retention,
    );
    const went = `${counted(gone, "message")} ${gone === 1 ? "is" : "are"} no longer kept.`;
    const told = gone === 0 ? staying : [went, ...staying];
    return { gone, text: [...told, `${await describeStore(store)}.`].join(" ") };
  });

/** What `retainStore` would do; nothing is changed. Throws what that throws. */
export const planRetention = (
  file: string,
  { now, signal, ...retention }: Retention & OperatingOptions & { now: number },
): Promise<RetentionState & { readonly text: string }> =>
  on(file, async (store) => {
    const state = await retentionState(store, retention, { now, signal });
    const { going, staying } = describeRetention(state, retention);
    const would = going.length === 0 ? [] : [`Would no longer be kept: ${going.join("; and ")}.`];
    const text = [...would, ...staying, `${await describeStore(store)}.`].join(" ");
    return { ...state, text };
  });

/** Opening a file that is not there would make it. */
async function on<Answer>(file: string, work: (store: Store) => Promise<Answer>): Promise<Answer> {
  const path = resolve(file);
  if (!existsSync(path)) throw new ContextEngineError("FILE_NOT_FOUND", `${nothingIn(path)}.`);
  const { store, release } = useStore(path);
  try {
    return await work(store);
  } finally {
    release();
  }
}
