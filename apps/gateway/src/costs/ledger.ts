// Writes down what is spent, and knows at any time what it comes to.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { LogPort } from "@clew/engine-core";
import { z } from "zod";
import { writeOwn } from "../home/own-writes.ts";
import { fromJson, toJson } from "../own-json.ts";
import { readFileLines } from "../sessions/file-lines.ts";
import { type DayFile, openDayFile, sizeOf } from "./day-file.ts";
import { type CostLine, dayOf, parseLine } from "./line.ts";
import { countInSession, countLine, noTotals, type Totals, TotalsSchema } from "./totals.ts";
import type { UnreadableLine } from "./usage.ts";

export interface CostLedger {
  /** In order; resolves when it stands in the file. What cannot be written is told and counted. */
  append(line: CostLine): Promise<void>;
  /** With what this and other processes of the home wrote until now. */
  totals(): Promise<Totals>;
  /** A session began anew at another gateway: what was spent in it before is none of its sum. */
  beganAnew(session: string, at: string): Promise<void>;
  close(): Promise<void>;
}

/** A file for each day, which only grows, and what they came to as far as they were read. */
export const costsFolder = (home: string): string => join(home, "costs");
const SNAPSHOT = "totals.json";
const DAY_FILE = /^(\d{4}-\d{2}-\d{2})\.jsonl$/;
/** Lines after which the snapshot is written anew. */
const SNAPSHOT_LINES = 1_000;

const SnapshotSchema = z.object({
  v: z.literal(1),
  /** Bytes that are counted, by day: of the newest days; older ones are counted whole. */
  read: z.record(z.string(), z.number()),
  totals: TotalsSchema,
});
type Snapshot = z.infer<typeof SnapshotSchema>;

/**
 * A line is counted where all before it were, by whomever it was written: never twice, never not at
 * all. Own lines that follow what is counted need not be read for that.
 */
export function createCostLedger({
  home,
  log,
  now = Date.now,
}: {
  home: string;
  log: LogPort;
  now?: () => number;
}): CostLedger {
  const folder = costsFolder(home);
  let queue: Promise<unknown> = Promise.resolve();
  let known: Snapshot | undefined;
  let lookedOn: string | undefined;
  let uncounted = 0;
  let written: { day: string; file: DayFile } | undefined;
  const inOrder = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = queue.then(work);
    queue = result.catch(() => undefined);
    return result;
  };
  const begin = async () => {
    known ??= (await readSnapshot(folder)) ?? emptySnapshot();
    return known;
  };
  const countAnew = (why: string) => {
    log.warn(`${why}; all that was spent is counted anew`);
    known = emptySnapshot();
    lookedOn = undefined;
  };
  const readOn = async (): Promise<Totals> => {
    const snapshot = await begin();
    const today = dayOf(now());
    const days =
      lookedOn === today ? newestDays(snapshot, today) : await daysSince(folder, snapshot);
    for (const day of days) {
      const from = snapshot.read[day] ?? 0;
      if (sizeOf(folder, nameOf(day)) === from) continue;
      const file = join(folder, nameOf(day));
      const found = await readLines(file, from);
      if (found === undefined) {
        countAnew(`${file} is shorter than it was`);
        return readOn();
      }
      for (const line of found.lines) countLine(snapshot.totals, day, line);
      uncounted += found.lines.length;
      if (found.to > 0) snapshot.read[day] = found.to;
    }
    const isNewDay = lookedOn !== undefined && lookedOn !== today;
    lookedOn = today;
    keepNewest(snapshot.read);
    if (isNewDay || uncounted >= SNAPSHOT_LINES) await keep();
    return snapshot.totals;
  };
  const fileOf = (day: string): DayFile => {
    if (written?.day !== day) written?.file.close();
    if (written?.day !== day) written = { day, file: openDayFile(folder, nameOf(day)) };
    return written.file;
  };
  const write = (day: string, line: CostLine) => {
    const text = toJson(line);
    const counted = known?.read[day] ?? 0;
    const { from, to, isOther } = fileOf(day).append(text, counted);
    if (isOther) return countAnew(`${join(folder, nameOf(day))} is another file than it was`);
    const areAllCounted = lookedOn !== undefined && from === counted;
    if (known === undefined || !areAllCounted || to === undefined) return;
    // As whoever reads it will understand it.
    const read = parseLine(text);
    if (read !== undefined) countLine(known.totals, day, read);
    known.read[day] = to;
    uncounted++;
  };
  const keep = async () => {
    if (known === undefined || uncounted === 0) return;
    uncounted = 0;
    const text = `${toJson(known)}\n`;
    // What is not kept is counted again from the files.
    await writeOwn(join(folder, SNAPSHOT), text).catch(() => undefined);
  };
  return {
    append: (line) =>
      inOrder(async () => {
        const day = dayOf(Date.parse(line.at));
        try {
          write(day, line);
        } catch (error) {
          log.warn(`what a model call cost was not written down: ${(error as Error).message}`);
          countLine((await begin()).totals, day, line);
        }
      }),
    totals: () => inOrder(readOn),
    beganAnew: (session, at) =>
      inOrder(async () => {
        const totals = await readOn();
        if ((totals.renewed[session] ?? "") >= at) return;
        countLine(totals, dayOf(Date.parse(at)), {
          ...{ kind: "renewed", v: 1, at, session, archivedAs: null },
        });
        // What was spent here since: its files may have been read before this was known.
        for await (const { line } of readCosts(home, dayOf(Date.parse(at))))
          if ("root" in line && line.root === session && line.at >= at)
            countInSession(totals, line);
        uncounted++;
      }),
    close: () =>
      inOrder(async () => {
        written?.file.close();
        written = undefined;
        await keep();
      }),
  };
}

/**
 * Every line that there is, with its day, oldest first, and of what nobody can read that it is
 * there. `since`: YYYY-MM-DD; absent: all.
 */
export async function* readCosts(
  home: string,
  since = "",
): AsyncGenerator<{ day: string; line: CostLine | UnreadableLine }> {
  const folder = costsFolder(home);
  for (const day of await dayFiles(folder)) {
    if (day < since) continue;
    const found = await readLines(join(folder, nameOf(day)), 0);
    for (const line of found?.lines ?? []) yield { day, line };
    for (let at = 0; at < (found?.unreadable ?? 0); at++)
      yield { day, line: { kind: "unreadable" } };
  }
}

/** A file of the days that there are. */
export interface CostFile {
  day: string;
  path: string;
  /** Bytes. */
  size: number;
}

/** Oldest first. */
export async function costFiles(home: string): Promise<CostFile[]> {
  const folder = costsFolder(home);
  return (await dayFiles(folder)).map((day) => ({
    ...{ day, path: join(folder, nameOf(day)), size: sizeOf(folder, nameOf(day)) },
  }));
}

const nameOf = (day: string): string => `${day}.jsonl`;
const emptySnapshot = (): Snapshot => ({ v: 1, read: {}, totals: noTotals() });

async function readSnapshot(folder: string): Promise<Snapshot | undefined> {
  try {
    const text = await readFile(join(folder, SNAPSHOT), "utf8");
    return SnapshotSchema.safeParse(fromJson(text)).data;
  } catch {
    return undefined;
  }
}

async function dayFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.flatMap((name) => DAY_FILE.exec(name)?.[1] ?? []).toSorted();
}

/** A process whose day ends may write to the file of the day before. */
const newestDays = ({ read }: Snapshot, today: string): string[] =>
  [...new Set([...Object.keys(read), today])].toSorted();

async function daysSince(folder: string, { read }: Snapshot): Promise<string[]> {
  const oldest = Object.keys(read).toSorted()[0] ?? "";
  return (await dayFiles(folder)).filter((day) => day >= oldest);
}

function keepNewest(read: Record<string, number>): void {
  for (const day of Object.keys(read).toSorted().slice(0, -2)) delete read[day];
}

/** The whole lines behind `from`, and where they end; undefined: so much is not there. */
async function readLines(
  file: string,
  from: number,
): Promise<{ lines: CostLine[]; unreadable: number; to: number } | undefined> {
  const lines: CostLine[] = [];
  let unreadable = 0;
  const read = readFileLines(file, { from }, (bytes) => {
    const line = parseLine(bytes.toString("utf8"));
    if (line !== undefined) lines.push(line);
    else if (bytes.length > 0) unreadable++;
  });
  const rest = await read.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return { start: 0, end: 0 };
    throw error;
  });
  return rest.end < from ? undefined : { lines, unreadable, to: rest.start };
}

/** Where no gateway does: a recording is played into a session, or it is deleted. */
export function noteWithoutGateway(
  home: string,
  { kind, session, at }: { kind: "played" | "deleted"; session: string; at: Date },
): void {
  const file = openDayFile(costsFolder(home), nameOf(dayOf(at.getTime())));
  const line: CostLine = { kind, v: 1, at: at.toISOString(), session };
  try {
    file.append(toJson(line), 0);
  } finally {
    file.close();
  }
}
