// Audits the search indexes against the messages, as if both were made again.
import { searchTextOf } from "../../messages/search-text.ts";
import { FLAGS, messageOf } from "../rows.ts";
import { indexedOf } from "../search-index.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Sql } from "../sql.ts";
import { type AuditPart, type Fault, fault, ROWS_AT_ONCE, readable } from "./fault.ts";
import { createFingerprints, type Fingerprints } from "./fingerprints.ts";
import { addTrigrams, readTrigrams } from "./indexed-trigrams.ts";
import { createFreshWords, readWords, unlistedPages } from "./indexed-words.ts";

/** Of one moment: the indexes of a database at work move all the time. */
export function indexPart(): AuditPart {
  const faults: Fault[] = [];
  let read = 0;
  let work: Generator<void> | undefined;
  const step = ({ read: ask }: Snapshot): boolean => {
    work ??= ask((sql) => auditIndexes(sql, { faults, onRead: () => void read++ }));
    return ask(() => work!.next().done === true);
  };
  return {
    name: "search index",
    faults,
    get read() {
      return read;
    },
    readOn(moment, isOver) {
      for (;;) {
        const isDone = readable(() => step(moment));
        if (isDone === undefined)
          faults.push(
            fault("unreadable", "index", null, "the search index stands on a damaged page"),
          );
        if (isDone !== false) return true;
        // What is in memory is of one moment only as long as nobody else has a turn.
        if (moment.isOfOneMoment && isOver()) return false;
      }
    },
    close() {
      work?.return?.(undefined);
    },
  };
}

interface Auditing {
  readonly faults: Fault[];
  onRead(): void;
}

/** Faults that are told one by one. */
const MOST_TOLD = 1_000;

function* auditIndexes(sql: Sql, { faults, onRead }: Auditing): Generator<void> {
  const newest = newestOf(sql);
  const indexed = Number(sql("SELECT indexed FROM watermark").get()?.indexed ?? -1);
  const told = Number(sql("SELECT coalesce(max(message), 0) AS seq FROM link").get()?.seq);
  // It says of the messages to come that they are indexed already.
  if (indexed < 0 || indexed > Math.max(newest, told))
    faults.push(wrong(null, "the search index does not say how many of the messages it holds"));
  const words = createFingerprints(newest);
  const trigrams = createFingerprints(newest);
  yield* readTrigrams(sql, trigrams, (bucket) =>
    faults.push(wrong(null, `trigrams of bucket ${bucket} are of no group`)),
  );
  yield* readWords(sql, words);
  for (const page of unlistedPages(sql)) {
    if (page !== undefined)
      faults.push(wrong(null, `terms on page ${page} of the index of words are not found`));
    yield;
  }
  for (const stray of new Set([...words.strays, ...trigrams.strays]))
    faults.push(wrong(stray, `the search index holds message ${stray}, which is not there`));
  let count = 0;
  for (const found of compare(sql, { newest, indexed, words, trigrams })) {
    if (found === undefined) onRead();
    else if (++count <= MOST_TOLD) faults.push(found);
    yield;
  }
  if (count > MOST_TOLD)
    faults.push(wrong(null, `the search index is wrong of ${count - MOST_TOLD} things more`));
}

/** Rows that a file has no room for are not counted by: numbers, and links, follow one another. */
const MOST_APART = 10_000;

/** The highest number that a message can have; one above it is found by its link. */
function newestOf(sql: Sql): number {
  const { most, count, linked } = sql(`
    SELECT coalesce(max(seq), 0) AS most, count(*) AS count,
      (SELECT count(*) FROM link) AS linked FROM message
  `).get()!;
  return Math.min(Number(most), Math.max(Number(count), Number(linked)) + MOST_APART);
}

const wrong = (number: number | null, text: string): Fault =>
  fault("inconsistent", "index", number, text);

interface Indexes {
  readonly newest: number;
  readonly indexed: number;
  readonly words: Fingerprints;
  readonly trigrams: Fingerprints;
}

/** Undefined for each message that was looked at; numbers without a message hold nothing. */
function* compare(sql: Sql, indexes: Indexes): Generator<Fault | undefined> {
  const { newest, words, trigrams } = indexes;
  const definition = sql("SELECT sql FROM sqlite_schema WHERE name = 'words'").get()?.sql;
  const fresh = createFreshWords(String(definition), newest);
  const rowsBehind = sql("SELECT * FROM message WHERE seq > ? ORDER BY seq LIMIT ?");
  try {
    for (let after = 0; ; ) {
      const rows = rowsBehind.all(after, ROWS_AT_ONCE);
      const to = rows.length < ROWS_AT_ONCE ? newest : Math.min(newest, Number(rows.at(-1)!.seq));
      if (to < after || (to === after && to < newest)) {
        yield wrong(null, `the file brings messages behind number ${after} again and again`);
        break;
      }
      const looked = lookAt(sql, rows, indexes);
      const { found, sizes } = fresh.of(looked.texts);
      const kept = sizesBetween(sql, after, to);
      for (let seq = after + 1; seq <= to; seq++) {
        const each = looked.messages.get(seq);
        if (each === undefined) {
          if (!words.isEmpty(seq) || !trigrams.isEmpty(seq) || kept.has(seq))
            yield wrong(seq, `the search index holds message ${seq}, which is gone`);
          continue;
        }
        yield undefined;
        if (each === "damaged") continue;
        const isSame = each.hasWords
          ? words.isSame(seq, found) && sameBytes(kept.get(seq), sizes.get(seq))
          : words.isEmpty(seq) && !kept.has(seq);
        if (!isSame) yield wrong(seq, `the index of words does not hold what message ${seq} says`);
        if (each.trigrams !== "any" && !trigrams.isSame(seq, each.trigrams))
          yield wrong(seq, `the index of trigrams does not hold what message ${seq} says`);
        if (each.isUnlisted)
          yield wrong(seq, `message ${seq} is to be read by searches and is not listed`);
      }
      if (to >= newest) break;
      after = to;
    }
    for (const { message } of sql(
      "SELECT message FROM unindexed WHERE message NOT IN (SELECT seq FROM message)",
    ).all())
      yield wrong(Number(message), `the search index lists message ${message}, which is gone`);
  } finally {
    fresh.close();
  }
}

/** What the indexes have to say of a message. */
interface Looked {
  readonly hasWords: boolean;
  /** "any": it was replaced since, and is read whatever they say. */
  readonly trigrams: Fingerprints | "any";
  /** True: searches do not read it, and have to. */
  readonly isUnlisted: boolean;
}

function lookAt(
  sql: Sql,
  rows: readonly Record<string, unknown>[],
  { indexed, newest }: Indexes,
): {
  texts: ReadonlyMap<number, string>;
  messages: ReadonlyMap<number, Looked | "damaged">;
} {
  const texts = new Map<number, string>();
  const messages = new Map<number, Looked | "damaged">();
  const trigrams = sparse();
  const isListed = sql("SELECT 1 FROM unindexed WHERE message = ?");
  const isReplaced = sql("SELECT 1 FROM change WHERE message = ?");
  for (const row of rows) {
    const { seq, message, isDamaged } = messageOf(sql, row);
    if (seq > newest) continue;
    if (isDamaged) {
      messages.set(seq, "damaged");
      continue;
    }
    const isAbsent = (Number(row.flags) & ~SAYING) !== 0;
    const text = seq > indexed || isAbsent ? NOTHING : indexedOf(searchTextOf(message));
    const listed = isAbsent || isListed.get(seq) !== undefined;
    if (text.words !== undefined) texts.set(seq, text.words);
    if (text.trigrams !== undefined) addTrigrams(seq, text.trigrams, trigrams);
    messages.set(seq, {
      hasWords: text.words !== undefined,
      trigrams: listed && (text.isWhole || isReplaced.get(seq) !== undefined) ? "any" : trigrams,
      isUnlisted: !text.isWhole && !listed,
    });
  }
  return { texts, messages };
}

/** Any other mark is of a message that says nothing any more, so that no index has words of it. */
const SAYING = FLAGS.seen | FLAGS.heartbeat | FLAGS.hasPayloads | FLAGS.left;
const NOTHING = { words: undefined, trigrams: undefined, isWhole: true };

/** For a few messages. */
function sparse(): Fingerprints {
  const sums = new Map<number, [number, number]>();
  const of = (message: number): [number, number] => sums.get(message) ?? [0, 0];
  return {
    strays: new Set(),
    of,
    add(message, one, other) {
      const [ones, others] = of(message);
      sums.set(message, [(ones + one) >>> 0, (others + other) >>> 0]);
    },
    isEmpty: (message) => of(message).every((sum) => sum === 0),
    isSame: (message, fingerprints) =>
      of(message).every((sum, at) => sum === fingerprints.of(message)[at]),
    clear: (message) => void sums.delete(message),
  };
}

const sizesBetween = (sql: Sql, after: number, to: number): ReadonlyMap<number, Uint8Array> =>
  new Map(
    sql("SELECT id, sz FROM words_docsize WHERE id > ? AND id <= ?")
      .all(after, to)
      .map(({ id, sz }) => [Number(id), sz as Uint8Array] as const),
  );

const sameBytes = (one: Uint8Array | undefined, other: Uint8Array | undefined): boolean =>
  one instanceof Uint8Array && other instanceof Uint8Array && Buffer.compare(one, other) === 0;
