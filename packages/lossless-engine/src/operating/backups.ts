// Copies a database, checks the copy, and finds the copies that stand beside it.
import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Verification, verifyStore } from "../audit/verify.ts";
import { patiently } from "../patiently.ts";
import { wrongPages } from "../store/audit/pages.ts";
import { isDamage } from "../store/failure.ts";
import { makeFolder } from "../store/make-folder.ts";
import { isStale, scrub } from "../store/scrub.ts";
import { type Store, useStore } from "../store/store.ts";
import { counted, describeFaults, inMegabytes } from "./describe-store.ts";
import { auditOptions, type OperatingOptions } from "./progress.ts";

/** How a backup is made. */
export interface BackupOptions extends OperatingOptions {
  /** Path that the copy's begins with; the date follows. Absent: that of the database. */
  readonly named?: string | undefined;
  /** ms since the epoch. */
  readonly now: number;
}

/** A copy that was made. */
export interface Backup {
  /** Path of the copy. */
  readonly file: string;
  /** Its size. */
  readonly bytes: number;
  /** What auditing the copy came to: it has to serve when the database does not. */
  readonly verification: Verification;
  /** All of it for people. */
  readonly text: string;
}

/** A copy of a database that stands beside it. */
export interface BackupFile {
  /** Path of the copy. */
  readonly file: string;
  /** Its size. */
  readonly bytes: number;
  /** When it was last written, ms since the epoch. */
  readonly time: number;
  /**
   * "backup": somebody asked for it. "older version": made before the database was brought to a
   * newer version. "replaced": what stood there until a backup was restored.
   * "unfinished restore": what a restore that was killed left; it may hold what was forgotten
   * since.
   */
  readonly kind: "backup" | "older version" | "replaced" | "unfinished restore";
  /**
   * How many of its messages were forgotten since. Null: it cannot be read. Absent: nobody looked.
   */
  readonly forgotten?: number | null;
}

/** One moment of the database, whoever writes to it meanwhile; checked, and named by its date. */
export async function backUp(store: Store, options: BackupOptions): Promise<Backup> {
  const { named = store.path, now, onProgress, signal } = options;
  const file = `${named}.copy-${stampOf(now)}`;
  makeFolder(dirname(file));
  await store.copyTo(file, {
    signal,
    onProgress: (done, of) => onProgress?.({ part: "copying pages", done, of }),
  });
  const copied = useStore(file);
  try {
    // What is no longer kept is not to be found in its pages; damaged ones stay as they are.
    const isSound = await patiently(() => copied.store.read(wrongPages).length === 0).catch(orNot);
    if (isSound && (await patiently(() => isStale(copied.store))))
      await patiently(() => scrub(copied.store));
    const verification = await verifyStore(copied.store, auditOptions(options));
    const { messages, faults } = verification;
    const text =
      faults.length === 0
        ? `Copied to ${file}: ${counted(messages, "message")}, all as they were stored.`
        : `Copied to ${file}, with the damage of the database; keep older copies. ${describeFaults(faults)}`;
    return { file, bytes: statSync(file).size, verification, text };
  } finally {
    copied.release();
  }
}

function orNot(error: unknown): false {
  if (!isDamage(error)) throw error;
  return false;
}

/** For the name of a file. */
export const stampOf = (now: number): string =>
  new Date(now).toISOString().replaceAll(/[:.]/g, "-");

const KINDS: readonly (readonly [RegExp, BackupFile["kind"]])[] = [
  [/^\.copy-[\dTZ-]+$/, "backup"],
  [/^\.version-\d+$/, "older version"],
  [/^\.replaced-[\dTZ-]+$/, "replaced"],
  [/^\.restoring$/, "unfinished restore"],
];

/** True: a copy is called so, whatever database it is of. */
export const isNamedBackup = (file: string): boolean =>
  KINDS.some(([pattern]) => pattern.test(file.slice(file.lastIndexOf("."))));

/** Newest first. */
export function backupsBeside(path: string): readonly BackupFile[] {
  const [folder, name] = [dirname(path), basename(path)];
  return namesIn(folder)
    .flatMap((found): BackupFile[] => {
      if (!found.startsWith(name)) return [];
      const kind = KINDS.find(([pattern]) => pattern.test(found.slice(name.length)))?.[1];
      const file = join(folder, found);
      const there = statSync(file, { throwIfNoEntry: false });
      if (kind === undefined || there?.isFile() !== true) return [];
      return [{ file, bytes: there.size, time: Math.round(there.mtimeMs), kind }];
    })
    .sort((a, b) => b.time - a.time);
}

/** None where there is no such folder. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** A line for each; of none it is said that there is none. */
export function describeBackups(path: string, backups: readonly BackupFile[]): string {
  if (backups.length === 0) return `There is no copy of ${path} beside it.`;
  return backups
    .map(({ file, bytes, time, kind, forgotten }) => {
      const date = new Date(time).toISOString().slice(0, 16).replace("T", " ");
      return `${date}  ${inMegabytes(bytes)}  ${kind === "backup" ? "" : `(${kind}) `}${file}${describeHeld(forgotten)}`;
    })
    .join("\n");
}

function describeHeld(forgotten: number | null | undefined): string {
  if (forgotten === null) return "  (cannot be read: it may hold what was forgotten)";
  return forgotten === undefined || forgotten === 0
    ? ""
    : `  (holds ${counted(forgotten, "message")} forgotten since)`;
}
