// Keeps out of a backup that is restored what was forgotten since it was made.
import { existsSync } from "node:fs";
import { patiently } from "../patiently.ts";
import { dropRecords } from "../store/dependents.ts";
import { forget } from "../store/forget.ts";
import { areEmpty, hasSalt } from "../store/graves.ts";
import { isStale, scrub } from "../store/scrub.ts";
import { sessionNames, unnameEmptied } from "../store/session-names.ts";
import type { Sql, Store } from "../store/store.ts";
import { summariesOtherwise, wordsBySpan } from "../store/summaries.ts";
import { inHex, saltOf } from "../store/tombstones.ts";
import { READER } from "../summaries/facts.ts";
import { gravesBeside, heldNumbers, type KnownGraves, looking } from "./held.ts";

/** What was forgotten since a backup was made. */
export interface KeptOut {
  /** Messages of the backup that are placeholders now. */
  readonly messages: number;
  /** One sentence: why not all of what was forgotten is known. Null: it is. */
  readonly unknown: string | null;
}

/**
 * Before the copy `store` of a backup takes the place of `file`: what `file`, and the copies beside
 * it, know to be forgotten goes, with the names of sessions of which nothing is left, and is known
 * when it is told again.
 */
export async function keepOut(store: Store, file: string): Promise<KeptOut> {
  const known = gravesBeside(file);
  const graves = known.flatMap((each) => each.graves);
  const numbers = areEmpty(graves) ? [] : await heldNumbers((ask) => store.read(ask), graves);
  const forgotten = await patiently(() =>
    forget(store, { numbers, sessions: [], summaries: wordsDropped(store, file), graves }, READER),
  );
  const names = namesKept(file);
  await patiently(() => store.change((sql) => unnameEmptied(sql, numbers, names)));
  if (!areEmpty(graves)) await patiently(() => store.change(dropRecords));
  if (await patiently(() => isStale(store))) await patiently(() => scrub(store));
  const salt = store.read((sql) => inHex(saltOf(sql)));
  return { messages: forgotten, unknown: whyUnknown(file, known, salt) };
}

/** Names of sessions that the database still has. */
const namesKept = (file: string): ReadonlySet<string> => lookingOr(file, sessionNames, new Set());

/** Of summaries in which a model's words stand, those that the database has with none or others. */
function wordsDropped(store: Store, file: string): number[] {
  const salt = store.read((sql) => inHex(saltOf(sql)));
  const known = lookingOr(
    file,
    (sql) => (hasSalt(sql) && inHex(saltOf(sql)) === salt ? wordsBySpan(sql) : new Map()),
    new Map<string, string | null>(),
  );
  return store.read((sql) => summariesOtherwise(sql, known));
}

/** Asks the database that stands there, if it can be asked. */
function lookingOr<Answer>(file: string, ask: (sql: Sql) => Answer, otherwise: Answer): Answer {
  if (!existsSync(file)) return otherwise;
  try {
    return looking(file, ask);
  } catch {
    return otherwise;
  }
}

/** Pure. The database knows all that was forgotten in it, if the backup is one of it. */
export function whyUnknown(
  file: string,
  known: readonly KnownGraves[],
  salt: string,
): string | null {
  const present = known.find((each) => each.file === file);
  if (present === undefined)
    return `There was no database ${file} to tell what was forgotten since this backup was made: it may be back.`;
  if (present.failure !== null)
    return `What was forgotten since this backup was made cannot be read, and may be back: ${present.failure}`;
  return present.graves.some((graves) => inHex(graves.salt) === salt)
    ? null
    : `The database ${file} is not the one of which this backup was made, and does not tell what was forgotten there since: it may be back.`;
}
