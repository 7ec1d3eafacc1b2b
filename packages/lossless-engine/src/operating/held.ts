// Says which copies of a database hold something that was forgotten, or is to be.
import { existsSync } from "node:fs";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { isMessageMatched, type Matcher } from "../forget/matcher.ts";
import { isQuoted } from "../forget/quotations.ts";
import { hasDependents } from "../store/dependents.ts";
import { isMarkedStale } from "../store/forgetting.ts";
import {
  areEmpty,
  expiredIn,
  type Graves,
  gravesFor,
  gravesIn,
  hasSalt,
  lyingIn,
} from "../store/graves.ts";
import { type Look, lookInto } from "../store/look.ts";
import { numbersOf } from "../store/seek.ts";
import type { Sql } from "../store/sql.ts";
import { textsBeside, textsOfDamaged } from "../store/texts-beside.ts";
import { inHex, saltOf } from "../store/tombstones.ts";
import { othersTurn, pieceOfTime } from "../turns.ts";
import { type BackupFile, backupsBeside } from "./backups.ts";

/** What is looked for in copies. */
export interface Sought {
  /** Messages that are known by hashes, see `MessageStore.gravesOf`. */
  readonly graves: readonly Graves[];
  /** Whatever holds this text. Null: only messages are looked for. */
  readonly text: Matcher | null;
  /** True for a text that quotes one of the messages. Absent: nothing is known to. */
  readonly quotes?: ((text: string) => boolean) | undefined;
}

/** A copy of a database that has to go, or is said to stay. */
export interface HoldingCopy {
  /** Its path. */
  readonly file: string;
  /**
   * What of it is sought. "messages": some of them. "quotations": none, but its summaries or
   * records quote one, or may. "pages": pages that nothing uses may hold one. "unknown": it cannot
   * be read.
   */
  readonly what: "messages" | "quotations" | "pages" | "unknown";
  /** Of those of its messages that hold the text, for databases that have them no more. */
  readonly graves: readonly Graves[];
}

/** Those of these files that hold some of it, or may, and those of which nobody can tell. */
export async function copiesHolding(
  files: readonly string[],
  sought: Sought,
): Promise<readonly HoldingCopy[]> {
  const holding: HoldingCopy[] = [];
  for (const file of files) {
    const held = await inCopy(file, (sql) => heldIn(sql, sought), UNKNOWN);
    if (held !== null) holding.push({ file, ...held });
  }
  return holding;
}

type Held = Omit<HoldingCopy, "file">;
const UNKNOWN: Held = { what: "unknown", graves: [] };

async function heldIn(
  sql: Sql,
  { graves, text, quotes = () => false }: Sought,
): Promise<Held | null> {
  const lies = lyingIn(sql, graves);
  const told: AgentMessage[] = [];
  const damaged: number[] = [];
  const numbers = await numbersOf(
    (ask) => ask(sql),
    (stored) => {
      if (stored.isDamaged === true) damaged.push(stored.seq);
      const isTold = text !== null && isMessageMatched(stored.message, text);
      if (isTold) told.push(stored.message);
      return isTold || lies(stored);
    },
  );
  if (numbers.length > 0)
    return { what: "messages", graves: hasSalt(sql) ? [gravesFor(sql, told)] : [] };
  const tells = (each: string) => (text !== null && isQuoted(each, text)) || quotes(each);
  const beside = await soughtAmong(textsAround(sql, damaged), tells);
  if (beside !== null) return { what: beside, graves: [] };
  if (expiredIn(sql, graves).some((seq) => hasDependents(sql, seq)))
    return { what: "quotations", graves: [] };
  return mayHoldInPages(sql, { graves, text }) ? { what: "pages", graves: [] } : null;
}

function* textsAround(sql: Sql, damaged: readonly number[]): Generator<string | null> {
  for (const seq of damaged) yield* textsOfDamaged(sql, seq);
  yield* textsBeside(sql);
}

/** Null: they are none of it. Others have their turn meanwhile. */
async function soughtAmong(
  texts: Iterable<string | null>,
  tells: (text: string) => boolean,
): Promise<"quotations" | "unknown" | null> {
  let isUnknown = false;
  let isOver = pieceOfTime();
  for (const text of texts) {
    if (text === null) isUnknown = true;
    else if (tells(text)) return "quotations";
    if (!isOver()) continue;
    await othersTurn();
    isOver = pieceOfTime();
  }
  return isUnknown ? "unknown" : null;
}

/** Words of anything may stand there, also of what is known by its hash alone. */
function mayHoldInPages(sql: Sql, { graves, text }: Pick<Sought, "graves" | "text">): boolean {
  if (!hasSalt(sql) || !isMarkedStale(sql)) return false;
  const own = inHex(saltOf(sql));
  return text !== null || graves.some(({ salt, hashes }) => hashes.size > 0 && inHex(salt) === own);
}

/** The copies beside a database, and how much of what was forgotten each holds, if anything was. */
export async function inspectBackups(file: string): Promise<readonly BackupFile[]> {
  const backups = backupsBeside(file);
  const graves = gravesBeside(file).flatMap((each) => each.graves);
  if (areEmpty(graves)) return backups;
  const countHeld = async (sql: Sql) => (await heldNumbers((ask) => ask(sql), graves)).length;
  const inspected: BackupFile[] = [];
  for (const backup of backups)
    inspected.push({ ...backup, forgotten: await inCopy(backup.file, countHeld, null) });
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

/**
 * Numbers of messages that lie there and are not forgotten here: what they say, or may be quoted
 * with though they are no longer kept.
 */
export async function heldNumbers(
  read: <Answer>(ask: (sql: Sql) => Answer) => Answer,
  graves: readonly Graves[],
): Promise<number[]> {
  const found = await numbersOf(
    read,
    read((sql) => lyingIn(sql, graves)),
  );
  return [...found, ...read((sql) => expiredIn(sql, graves))];
}

/** What is asked of it; `otherwise` where it cannot be read. */
async function inCopy<Answer, Otherwise>(
  file: string,
  ask: (sql: Sql) => Promise<Answer>,
  otherwise: Otherwise,
): Promise<Answer | Otherwise> {
  let look: Look | undefined;
  try {
    look = lookInto(file);
    return await ask(look.sql);
  } catch {
    return otherwise;
  } finally {
    look?.close();
  }
}
