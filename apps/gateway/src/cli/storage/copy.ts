// Runs `clew storage copy`, from files into PostgreSQL or back.
import { mkdir, readdir, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { ContextEngineError, isAbort } from "@clew/plugin-sdk/core";
import { openBlobs } from "../../blobs/open-blobs.ts";
import { loadConfig } from "../../config/load.ts";
import { losslessStoreSettings } from "../../config/lossless-file.ts";
import type { Config } from "../../config/schema.ts";
import { describeBytes } from "../../limits/size.ts";
import { shortName } from "../../sessions/keys.ts";
import { copyIn } from "../../storage/copy/copy-in.ts";
import { copyOut } from "../../storage/copy/copy-out.ts";
import { createEngineStores } from "../../storage/copy/engine-stores.ts";
import { describeOldFolders, oldFolders } from "../../storage/copy/old-folders.ts";
import { onlyOneCopy } from "../../storage/copy/only-one.ts";
import { openCopy, requireDatabase } from "../../storage/copy/open-copy.ts";
import { nameOfDatabase, planCopy } from "../../storage/copy/plan-copy.ts";
import type { CopyResult } from "../../storage/copy/result.ts";
import { idOfHome } from "../../storage/home-id.ts";
import { urlOf } from "../../storage/plan-storage.ts";
import { storageFailed } from "../../storage-error.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { counted } from "../../text/number.ts";
import { interruptible } from "../interruptible.ts";

export interface StorageCopyOptions {
  to: string;
  from?: string;
  check?: boolean;
  json?: boolean;
}

/**
 * Throws REQUEST_INVALID, FILE_NOT_FOUND, CONFIG_INVALID and STORAGE_FAILED, each with what can be
 * done; what was copied before is whole.
 */
export async function storageCopy(
  { to, from, check = false, json = false }: StorageCopyOptions,
  { environment, output }: Shell,
): Promise<number> {
  const plan = planCopy({ from, to, home: environment.home });
  if (plan.kind === "refused") throw new ContextEngineError("REQUEST_INVALID", plan.problem);
  const { home } = plan;
  const { config } = await loadConfig(environment.configFile);
  const url = plan.url ?? configuredUrl(config, environment);
  const blobs = await openBlobs(config, environment);
  if (plan.kind === "in") await requireSessions(home);
  else await requireTarget(home);
  await requireDatabase(url, { makesNothing: check });
  if (plan.kind === "out") await mkdir(home, { recursive: true, mode: 0o700 });
  const homeId = await idOfHome(home).catch((error: unknown) => {
    throw storageFailed(`The home ${home} cannot be written`, error, "elsewhere");
  });
  const lock = await onlyOneCopy(home);
  try {
    const place = `copying ${homeId} at ${hostname()}`;
    const warn = (text: string) => output.note(`clew: ${text}`);
    const copy = await openCopy({ url, blobs, place, warn, isRead: check });
    const { databasePath, compress } = losslessStoreSettings(config);
    const engines = createEngineStores({
      // One that is named by the settings is that of their home.
      databasePath: home === environment.home ? databasePath : undefined,
      ...{ home, compress, isMade: plan.kind === "out" },
    });
    try {
      const result = await interruptible(output, ({ signal, says }) => {
        const request = { home, homeId, copy, engines, isCheck: check, signal, says };
        return plan.kind === "in" ? copyIn(request) : copyOut(request);
      });
      const [source, target] = [`files in ${home}`, nameOfDatabase(url)];
      const places = plan.kind === "in" ? { source, target } : { source: target, target: source };
      if (json) output.json({ from: places.source, to: places.target, checked: check, ...result });
      else for (const line of describe(result, places, check)) output.line(printable(line));
      const isOver = isDone(result, check);
      if (plan.kind === "in" && isOver && !check && !json) {
        const old = describeOldFolders(await oldFolders(home), home);
        if (old !== undefined) output.line(printable(old));
      }
      return isOver ? EXIT.done : EXIT.failed;
    } catch (error) {
      if (isAbort(error))
        output.note("What was copied until now is whole; the same command goes on with the rest.");
      const { code, syscall } = error as NodeJS.ErrnoException;
      const isOfFiles = typeof code === "string" && syscall !== undefined;
      throw isOfFiles ? storageFailed(`Copying files in ${home} ended`, error, "elsewhere") : error;
    } finally {
      engines.close();
      await copy.close().catch(() => {});
    }
  } finally {
    await lock.release();
  }
}

function configuredUrl(config: Config, environment: Shell["environment"]): string {
  const { url, problem } = urlOf(
    config,
    environment,
    "The database is to be that of the settings, and",
  );
  if (url === undefined) throw new ContextEngineError("CONFIG_INVALID", problem ?? "");
  return url;
}

async function requireSessions(home: string): Promise<void> {
  const isFolder = (path: string) =>
    stat(path).then(
      (each) => each.isDirectory(),
      () => false,
    );
  // Jobs may be there before their sessions are.
  for (const name of ["agents", "cron"]) if (await isFolder(join(home, name))) return;
  const isThere = await isFolder(home);
  throw new ContextEngineError(
    "FILE_NOT_FOUND",
    isThere
      ? `${home} holds no sessions, as it has no folder "agents"; name the home of a gateway.`
      : `There is no folder ${home}; name the home of a gateway.`,
  );
}

/** A new folder, an empty one, or a home. */
async function requireTarget(home: string): Promise<void> {
  const found = await readdir(home).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    if (found.code === "ENOENT" && (await isFolder(dirname(home)))) return;
    if (found.code === "ENOENT")
      throw new ContextEngineError(
        "FILE_NOT_FOUND",
        `There is no folder ${dirname(home)}, in which ${home} would be made; make it, or name another place.`,
      );
    throw storageFailed(`${home} cannot be copied to`, found, "elsewhere");
  }
  const isHome = ["agents", "clew.json", "copies"].some((name) => found.includes(name));
  if (found.length > 0 && !isHome)
    throw new ContextEngineError(
      "REQUEST_INVALID",
      `${home} holds other things and is no home of a gateway; name an empty folder, or a home.`,
    );
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

function isDone(result: CopyResult, isCheck: boolean): boolean {
  const { copied, deleted, files, costDays, left } = result;
  if (left.length > 0) return false;
  return !isCheck || copied.length + deleted.length + files + costDays === 0;
}

/** Named one by one up to so many. */
const MOST_NAMED = 20;

function describe(
  { copied, same, ahead, deleted, files, bytes, costDays, left, renumbered, stays }: CopyResult,
  { source, target }: { source: string; target: string },
  isCheck: boolean,
): string[] {
  const others = files === 0 ? "" : ` and ${counted(files, "other file")}`;
  const done = isCheck ? "Would copy" : "Copied";
  const size = bytes === 0 ? "" : ` (${describeBytes(bytes)})`;
  const lines =
    copied.length + files + costDays === 0
      ? [
          `Nothing is to be copied from ${source} into ${target}: ${counted(same, "session is", "sessions are")} the same on both sides.`,
        ]
      : [
          `${done} ${counted(copied.length, "session")}${others}${size} from ${source} into ${target}; ${counted(same, "session was", "sessions were")} the same on both sides.`,
        ];
  if (costDays > 0) lines.push(`${done} what model calls cost on ${counted(costDays, "day")}.`);
  if (ahead.length > 0) lines.push(`Went on there since, and stay so: ${named(ahead)}.`);
  if (deleted.length > 0)
    lines.push(`Deleted in the database, and not copied anew: ${named(deleted)}.`);
  if (renumbered.length > 0)
    lines.push(
      `Messages and summaries ${isCheck ? "would get" : "got"} other numbers, the same at every gateway, as another home's have theirs; what earlier answers name by number is to be found by words: ${named(renumbered)}.`,
    );
  for (const { what, why } of stays) lines.push(`${what}: ${why}.`);
  if (left.length > 0) lines.push(`Not copied: ${counted(left.length, "thing")}.`);
  for (const { what, why } of left) lines.push(`  ${shortName(what)}: ${why}.`);
  return lines;
}

function named(keys: readonly string[]): string {
  const some = keys.slice(0, MOST_NAMED).map(shortName).join(", ");
  return keys.length > MOST_NAMED ? `${some} and ${keys.length - MOST_NAMED} more` : some;
}
