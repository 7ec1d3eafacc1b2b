// The one sentence a person gets for whatever a command threw.
import { existsSync } from "node:fs";
import { ContextEngineError, isAbort } from "@clew/plugin-sdk/core";
import { createLog, logFile } from "../log/log.ts";
import { storageFailed } from "../storage-error.ts";
import { printable } from "./output.ts";

/** With its code in docs/errors.md; the stack of a bug goes into the log of the home. */
export function describeFailure(error: unknown, { home }: { home: string }): string {
  const known = toKnown(error);
  // What was typed may stand in it, and steers no terminal.
  if (known !== null) return printable(`${known.message} [${known.code}]`);
  if (isAbort(error)) return "Cancelled.";
  const { name, message } =
    error instanceof Error ? error : { name: "Error", message: String(error) };
  const file = keepStack(error, home);
  const where = file === null ? "" : `; ${file} says where`;
  const what = (message.split("\n")[0] ?? "").replace(/[.:;{[\s]*$/, "");
  return printable(
    `Something unexpected happened (${name}: ${what})${where}. This is a bug; please report it. [INTERNAL]`,
  );
}

/** An error with a code of ours, or the file system's trouble with some path as one; else null. */
function toKnown(error: unknown): ContextEngineError | null {
  if (ContextEngineError.is(error)) return error;
  const { code, path } = (error ?? {}) as NodeJS.ErrnoException;
  if (typeof code !== "string") return null;
  if (typeof path === "string") return storageFailed(`${knownPath(path)} cannot be used`, error);
  // What is written into an open file fails without its name.
  return OF_STORAGE.includes(code) ? storageFailed("A file could not be written", error) : null;
}

const OF_STORAGE: readonly string[] = ["ENOSPC", "EDQUOT", "EFBIG", "EROFS"];

/** A file is written under another name beside it first, which nobody knows. */
const knownPath = (path: string): string => path.replace(/(?:\.lock)?\.draft-[0-9a-f-]{36}$/, "");

/** In which file; null = there is no home to keep it in. */
export function keepStack(error: unknown, home: string): string | null {
  if (!existsSync(home)) return null;
  const log = createLog({ file: logFile(home) });
  log.error("a command failed unexpectedly", {
    stack: error instanceof Error ? error.stack : String(error),
  });
  log.close();
  return existsSync(logFile(home)) ? logFile(home) : null;
}
