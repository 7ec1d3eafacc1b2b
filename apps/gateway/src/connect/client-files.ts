// Reads and writes the settings of clients, and remembers how they were.
import { chmod, lstat, mkdir, readFile, rm, rmdir } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { z } from "zod";
import type { Environment } from "../config/environment.ts";
import { valueAt } from "../config/path.ts";
import { repeatedVariables } from "../config/repeated-variables.ts";
import { makeOwnFolder } from "../home/no-links.ts";
import { writeOwn } from "../home/own-writes.ts";
import { fromJson, toJson } from "../own-json.ts";
import { storageFailed } from "../storage-error.ts";
import type { ConnectClient, Connection, Place, Setting, SettingsFormat } from "./connection.ts";
import { readSettings } from "./edit-settings.ts";
import {
  asRead,
  planUndo,
  planWrite,
  type UndonePlan,
  type WrittenFile,
  WrittenFileSchema,
} from "./plan-undo.ts";

/** A file of a client where it is, or will be. */
export interface PlacedFile {
  path: string;
  format: SettingsFormat;
  set: readonly Setting[];
}

type Where = Pick<Environment, "home" | "userHome" | "variable">;

const folderOf = (place: Place, { home, userHome, variable }: Where): string => {
  if (place === "home") return home;
  const named = place.variable === null ? undefined : variable(place.variable);
  return named !== undefined && isAbsolute(named) ? named : join(userHome, place.folder);
};

/** Where the files of a client are, and what they are to say. */
export async function placeFiles(
  client: ConnectClient,
  connection: Connection,
  where: Where,
): Promise<PlacedFile[]> {
  const placed: PlacedFile[] = [];
  for (const { place, names, format, set } of client.files(connection)) {
    const paths = names.map((name) => join(folderOf(place, where), name));
    let path = paths[0]!;
    for (const each of paths.toReversed())
      if ((await lstat(each).catch(() => null)) !== null) path = each;
    placed.push({ path, format, set });
  }
  return placed;
}

/** Null: there is none. Throws REQUEST_INVALID for a link, STORAGE_FAILED. */
export async function readClientFile(path: string): Promise<string | null> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw storageFailed(`${path} cannot be read`, error);
  });
  if (found === null) return null;
  if (found.isSymbolicLink())
    throw new ContextEngineError(
      "REQUEST_INVALID",
      `${path} is a link, which is never followed; put what is printed without --write into the file that it leads to.`,
    );
  return readFile(path, "utf8").catch((error: unknown) => {
    throw storageFailed(`${path} cannot be read`, error);
  });
}

/** Whether a file says all of this already. */
export function saysAll(text: string | null, { format, set }: PlacedFile): boolean {
  try {
    const known = readSettings(text ?? "", format);
    return set.every(({ path, value }) =>
      isDeepStrictEqual(valueAt(known, path), asRead(value, format)),
    );
  } catch {
    return false;
  }
}

const RecordSchema = z.object({
  v: z.literal(1),
  client: z.string(),
  files: z.array(WrittenFileSchema),
});

const recordFile = (home: string, clientId: string) => join(home, "connect", `${clientId}.json`);

/** Empty where nothing was written. Throws STORAGE_FAILED for a record that cannot be read. */
export async function readRecord(home: string, clientId: string): Promise<WrittenFile[]> {
  const file = recordFile(home, clientId);
  try {
    return RecordSchema.parse(fromJson(await readFile(file, "utf8"))).files;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new ContextEngineError(
      "STORAGE_FAILED",
      `${file}, which says how the client was set up before, cannot be read; delete it, and what was written has to be taken out by hand.`,
      { cause: error },
    );
  }
}

/** A file as it is to be, and whether that is a change. */
export interface WrittenOutcome {
  path: string;
  isChanged: boolean;
  /** Who may read and write it. */
  mode: number;
  /** Sentences on variables that it sets more than once. */
  repeated: string[];
}

/**
 * What was written before is taken out first, so that undoing leads to what was there at first.
 * Nothing is written unless all files can be. Throws REQUEST_INVALID, STORAGE_FAILED.
 */
export async function writeFiles(
  home: string,
  client: ConnectClient,
  placed: readonly PlacedFile[],
): Promise<WrittenOutcome[]> {
  const known = await readRecord(home, client.id);
  const planned: { written: WrittenFile; current: string | null }[] = [];
  for (const { path, format, set } of placed) {
    const current = await readClientFile(path);
    const last = known.find((each) => each.path === path);
    const written = edited(path, () => {
      const before = last === undefined ? current : planUndo(current, last).text;
      return planWrite(path, format, { before, settings: set });
    });
    const folders = [...(last?.folders ?? []), ...(await missingFolders(path))];
    planned.push({ written: { ...written, folders: [...new Set(folders)] }, current });
  }
  // Files that the client had under another folder stay known.
  const paths = new Set(placed.map(({ path }) => path));
  const files = [
    ...known.filter(({ path }) => !paths.has(path)),
    ...planned.map(({ written }) => written),
  ];
  await makeOwnFolder(home, join(home, "connect"));
  const record = { v: 1, client: client.id, files } satisfies z.infer<typeof RecordSchema>;
  await put(recordFile(home, client.id), `${toJson(record, null, 2)}\n`);
  const outcomes: WrittenOutcome[] = [];
  for (const { written, current } of planned) {
    const isChanged = current !== written.after;
    if (isChanged) await put(written.path, written.after);
    const { mode } = await lstat(written.path);
    const { path, format, after } = written;
    const repeated = format === "env" ? repeatedVariables(path, after) : [];
    outcomes.push({ path, isChanged, mode: mode & 0o777, repeated });
  }
  return outcomes;
}

/** What became of each file; empty: nothing was written into any. */
export async function undoFiles(
  home: string,
  client: ConnectClient,
): Promise<({ path: string } & UndonePlan)[]> {
  const known = await readRecord(home, client.id);
  const plans: (UndonePlan & { path: string; current: string | null; folders: string[] })[] = [];
  for (const written of known) {
    const { path, folders = [] } = written;
    const current = await readClientFile(path);
    plans.push({ path, current, folders, ...edited(path, () => planUndo(current, written)) });
  }
  for (const { path, current, text, folders } of plans)
    if (text === null) {
      await rm(path, { force: true });
      await removeEmpty(folders);
    } else if (text !== current) await put(path, text);
  await rm(recordFile(home, client.id), { force: true });
  return plans.map(({ current: _current, folders: _folders, ...plan }) => plan);
}

/** Of those that lead to a file, the innermost first. */
async function missingFolders(path: string): Promise<string[]> {
  const missing: string[] = [];
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    if ((await lstat(folder).catch(() => null)) !== null) break;
    missing.push(folder);
  }
  return missing;
}

/** What somebody put something into stays, and so do those around it. */
async function removeEmpty(folders: readonly string[]): Promise<void> {
  for (const folder of folders)
    try {
      await rmdir(folder);
    } catch {
      return;
    }
}

/** Why a client's file cannot be written. Null: it can be, or is not there yet. */
export async function whyUnusable({ path, format }: PlacedFile): Promise<string | null> {
  try {
    const text = await readClientFile(path);
    edited(path, () => readSettings(text ?? "", format));
    return null;
  } catch (error) {
    if (!ContextEngineError.is(error)) throw error;
    return error.message;
  }
}

function edited<Result>(path: string, edit: () => Result): Result {
  try {
    return edit();
  } catch (error) {
    throw new ContextEngineError(
      "REQUEST_INVALID",
      `${path} cannot be changed: ${firstLine(error)}${lineOf(error)}; nothing was written.`,
      { cause: error },
    );
  }
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n")[0]!.replace(/\.$/, "");

/** Whole or not at all; who may read it stays, and a new one is its owner's alone. */
async function put(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const mode = await lstat(path).then(
      (found) => found.mode & 0o777,
      () => 0o600,
    );
    await writeOwn(path, text, { mode });
    await chmod(path, mode);
  } catch (error) {
    throw storageFailed(`${path} cannot be written`, error);
  }
}

/** Where a text is broken, as both parsers tell it; "" = it is not, or that is told already. */
function lineOf(error: unknown): string {
  const { lineNumber, message } = error as { lineNumber?: unknown; message?: string };
  return typeof lineNumber === "number" && !/ at \d+:\d+$/.test(message ?? "")
    ? ` in line ${lineNumber}`
    : "";
}
