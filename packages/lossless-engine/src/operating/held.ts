// Says which copies of a database hold something that was forgotten, or is to be.
import { existsSync } from "node:fs";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { isMatched, type Matcher } from "../forget/matcher.ts";
import { areEmpty, type Graves, gravesIn, liesIn } from "../store/graves.ts";
import { type Look, lookInto } from "../store/look.ts";
import { numbersOf } from "../store/seek.ts";
import type { Sql } from "../store/sql.ts";
import { type BackupFile, backupsBeside } from "./backups.ts";

/** What is looked for in copies. */
export interface Sought {
  /** Messages that are known by hashes, see `MessageStore.gravesOf`. */
  readonly graves: readonly Graves[];
  /** Whatever holds this text. Null: only messages are looked for. */
  readonly text: Matcher | null;
}

/** Those of these files that hold some of it, and those of which nobody can tell. */
export async function copiesHolding(
  files: readonly string[],
  { graves, text }: Sought,
): Promise<readonly string[]> {
  const lies = liesIn(graves);
  const isSought = (message: AgentMessage) =>
    lies(message) || (text !== null && isMatched(message, text));
  const holding: string[] = [];
  for (const file of files) if ((await heldIn(file, isSought)) !== 0) holding.push(file);
  return holding;
}

/** The copies beside a database, and how much of what was forgotten each holds, if anything was. */
export async function inspectBackups(file: string): Promise<readonly BackupFile[]> {
  const backups = backupsBeside(file);
  const graves = gravesBeside(file).flatMap((each) => each.graves);
  if (areEmpty(graves)) return backups;
  const lies = liesIn(graves);
  const inspected: BackupFile[] = [];
  for (const backup of backups)
    inspected.push({ ...backup, forgotten: await heldIn(backup.file, lies) });
  return inspected;
}

/** What a database, or a copy beside it, knows to be forgotten. */
export interface KnownGraves {
  readonly file: string;
  /** Empty where it cannot be read. */
  readonly graves: readonly Graves[];
  /** Why it cannot. Null: it can. */
  readonly failure: string | null;
}

/** The database comes first, if it is there. */
export const gravesBeside = (file: string): KnownGraves[] =>
  [file, ...backupsBeside(file).map((backup) => backup.file)]
    .filter((each) => existsSync(each))
    .map((each) => {
      try {
        return { file: each, graves: looking(each, gravesIn), failure: null };
      } catch (error) {
        return { file: each, graves: [], failure: (error as Error).message };
      }
    });

/** Asks a file as it stands. Throws STORAGE_FAILED. */
export function looking<Answer>(file: string, ask: (sql: Sql) => Answer): Answer {
  const { sql, close } = lookInto(file);
  try {
    return ask(sql);
  } finally {
    close();
  }
}

/** How many of its messages are sought. Null: it cannot be read. */
async function heldIn(
  file: string,
  isSought: (message: AgentMessage) => boolean,
): Promise<number | null> {
  let look: Look | undefined;
  try {
    look = lookInto(file);
    const opened = look;
    return (await numbersOf((ask) => ask(opened.sql), isSought)).length;
  } catch {
    return null;
  } finally {
    look?.close();
  }
}
