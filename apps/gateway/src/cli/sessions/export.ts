// Runs `clew sessions export`, which writes a session down for people or for other programs.
import type { Stats } from "node:fs";
import { readFile, realpath, stat, writeFile } from "node:fs/promises";
import { resolve, sep } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import writeFileAtomic from "write-file-atomic";
import { conversationAsMarkdown } from "../../commands/export.ts";
import { shortName } from "../../sessions/keys.ts";
import { shownEntries } from "../../sessions/shown.ts";
import { storageFailed } from "../../storage-error.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { storedSessions } from "../stored-sessions.ts";

export interface ExportOptions {
  /** Absent, or "-": it is printed. */
  out?: string;
  as: "markdown" | "jsonl";
  /** Replaces a file that is there. */
  force?: boolean;
  json?: boolean;
}

/**
 * Throws SESSION_NOT_FOUND, STORAGE_FAILED where it cannot be written, and REQUEST_INVALID where a
 * file is in its way.
 */
export async function exportSession(
  name: string,
  { out, as, force = false, json = false }: ExportOptions,
  { environment, output }: Shell,
): Promise<number> {
  const { sessions: store } = await storedSessions(environment);
  const found = await store.read(name);
  if (found === null) throw await store.notFound(name);
  if (found.branch.length === 0)
    throw new ContextEngineError(
      "REQUEST_INVALID",
      `Nothing was said in session "${name}" yet, so there is nothing to write down.`,
    );
  const text =
    as === "jsonl"
      ? await readFile(found.file, "utf8")
      : conversationAsMarkdown(`Session ${shortName(found.key)}`, shownEntries(found.branch));
  if (out === undefined || out === "-") {
    if (json) output.json({ session: found.key, as, text });
    else output.write(as === "jsonl" ? text : printable(text));
    return EXIT.done;
  }
  const file = resolve(out);
  const there = await stat(file).catch(() => undefined);
  if (there?.isFile()) await requireReplaceable(file, { force, home: environment.home });
  await writeWhole(file, text, there).catch((error: unknown) => {
    throw storageFailed(`${file} could not be written`, error, "elsewhere");
  });
  if (json) output.json({ session: found.key, as, file });
  else output.line(`Written to ${file}.`);
  return EXIT.done;
}

async function requireReplaceable(
  file: string,
  { force, home }: { force: boolean; home: string },
): Promise<void> {
  const [path, folder] = [await realpath(file), await realpath(home)];
  const isOwn = path.startsWith(`${folder}${sep}`);
  if (force && !isOwn) return;
  const problem = isOwn
    ? "is a file of Clew's own home; name another one"
    : "is there already; name another file, or add --force to replace it";
  throw new ContextEngineError("REQUEST_INVALID", `${file} ${problem}.`);
}

/** A device or a pipe takes what is written into it; another file in its place would break it. */
async function writeWhole(file: string, text: string, there: Stats | undefined): Promise<void> {
  if (there !== undefined && !there.isFile()) await writeFile(file, text);
  // Only for who made it; a file that is there stays as open as it was.
  else await writeFileAtomic(file, text, there === undefined ? { mode: 0o600 } : {});
}
