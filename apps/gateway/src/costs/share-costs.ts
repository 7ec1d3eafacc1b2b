// Brings what a home wrote down of model calls to where other gateways read it.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { LogPort } from "@clew/engine-core";
import type { CostShelf } from "@clew/store-postgres";
import { writeOwn } from "../home/own-writes.ts";
import { readFileLines } from "../sessions/file-lines.ts";
import { type CostFile, costFiles, costsFolder } from "./ledger.ts";

export interface ShareCostsOptions {
  home: string;
  /** Of the shelf: another one for each database. */
  place: string;
  shelf: CostShelf;
  log?: Pick<LogPort, "warn"> | undefined;
  /** How often it is looked for new lines, ms. Absent: 2 s. */
  everyMs?: number;
}

export interface CostSharing {
  /** Brings what is new there now. Never rejects. */
  share(): Promise<void>;
  /** Once more, and then no more. */
  close(): Promise<void>;
}

/** The files stay what counts here: what cannot be brought there now is brought later. */
export function shareCosts({
  home,
  place,
  shelf,
  log,
  everyMs = 2_000,
}: ShareCostsOptions): CostSharing {
  let kept: Map<string, number> | undefined;
  let isFailing = false;
  let running: Promise<void> = Promise.resolve();
  const shareOnce = async () => {
    const files = await costFiles(home);
    if (files.length === 0) return;
    kept ??= await keptOnShelf({ home, place, shelf });
    await bringDays(files, kept, shelf);
  };
  const share = () => {
    running = running.then(shareOnce).then(
      () => {
        isFailing = false;
      },
      (error: Error) => {
        // Nobody knows what is there.
        kept = undefined;
        if (!isFailing)
          log?.warn(`what calls cost is not told to other gateways for now: ${error.message}`);
        isFailing = true;
      },
    );
    return running;
  };
  const timer = setInterval(() => void share(), everyMs).unref();
  return {
    share,
    close() {
      clearInterval(timer);
      return share();
    },
  };
}

/**
 * Brings what is new there once, for whoever starts no gateway, and says of how many days that
 * was. `isCheck`: it is only said. The same may be brought again by a gateway of that home. Throws
 * what the file system and the shelf say.
 */
export async function shareCostsOnce({
  isCheck,
  ...to
}: Pick<ShareCostsOptions, "home" | "place" | "shelf"> & { isCheck: boolean }): Promise<number> {
  const files = await costFiles(to.home);
  if (files.length === 0) return 0;
  if (!isCheck) return bringDays(files, await keptOnShelf(to), to.shelf);
  const kept = (await isMarked(to)) ? await to.shelf.kept() : new Map<string, number>();
  let days = 0;
  // What stands behind the last whole line is not brought yet.
  for (const { path, from } of planShare(files, kept))
    if ((await readFileLines(path, { from }, () => undefined)).start > from) days++;
  return days;
}

/** Of how many days something was brought; `kept` says it at each moment. */
async function bringDays(
  files: readonly CostFile[],
  kept: Map<string, number>,
  shelf: CostShelf,
): Promise<number> {
  const days = new Set<string>();
  for (const { path, day, from, isOther } of planShare(files, kept)) {
    if (isOther) await shelf.drop(day);
    kept.set(day, from);
    await bring(path, from, async (piece) => {
      await shelf.put({ day, ...piece });
      kept.set(day, piece.to);
      days.add(day);
    });
  }
  return days.size;
}

export interface ShareStep {
  path: string;
  day: string;
  /** The byte behind what is there. */
  from: number;
  /** The file is another one than was brought there, which is to go. */
  isOther: boolean;
}

/** Pure. `kept`: how much of each day's file is there. */
export const planShare = (
  files: readonly CostFile[],
  kept: ReadonlyMap<string, number>,
): ShareStep[] =>
  files.flatMap(({ day, path, size }) => {
    const from = kept.get(day) ?? 0;
    if (size === from) return [];
    const isOther = size < from;
    return [{ path, day, from: isOther ? 0 : from, isOther }];
  });

/** Names the shelf that has what the files said; who changes what they said takes it away. */
export const sharedMark = (home: string): string => join(costsFolder(home), "shared");

/** Whether a shelf has what the files say, as far as the home knows. */
export const isShared = async (home: string): Promise<boolean> =>
  (await readFile(sharedMark(home), "utf8").catch(() => "")) !== "";

async function keptOnShelf({
  home,
  place,
  shelf,
}: Pick<ShareCostsOptions, "home" | "place" | "shelf">): Promise<Map<string, number>> {
  if (!(await isMarked({ home, place }))) {
    await shelf.drop(null);
    await writeOwn(sharedMark(home), place, { fsync: false });
  }
  return new Map(await shelf.kept());
}

const isMarked = async ({ home, place }: Pick<ShareCostsOptions, "home" | "place">) =>
  (await readFile(sharedMark(home), "utf8").catch(() => "")) === place;

const PIECE_BYTES = 64 * 1024;

/** Whole lines alone: one that is being written comes with the next ones. */
async function bring(
  path: string,
  from: number,
  put: (piece: { from: number; to: number; text: string }) => Promise<void>,
): Promise<void> {
  let begin = from;
  let lines: string[] = [];
  const flush = async (to: number) => {
    // No database takes NUL, and no line that can be read holds one.
    const text = lines.map((line) => `${line}\n`.replaceAll("\0", "")).join("");
    const piece = { from: begin, to, text };
    [begin, lines] = [to, []];
    if (text !== "") await put(piece);
  };
  const { start } = await readFileLines(path, { from }, (line, at) => {
    lines.push(line.toString("utf8"));
    const to = at + line.length + 1;
    return to - begin < PIECE_BYTES ? undefined : flush(to);
  });
  await flush(start);
}
