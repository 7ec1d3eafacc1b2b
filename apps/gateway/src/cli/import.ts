// Runs `clew sessions import`, which takes in transcripts of other programs.
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { findFiles } from "../imports/find-files.ts";
import type { Format } from "../imports/foreign.ts";
import { nobodys } from "../imports/foreign-lines.ts";
import { type ImportedFile, type ImportedSession, importFile } from "../imports/import-file.ts";
import type { Tally } from "../imports/tally.ts";
import { shortName } from "../sessions/keys.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import { describeFailure } from "../terminal/failure.ts";
import { printable } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { counted } from "../text/number.ts";

export interface ImportOptions {
  session?: string;
  from?: Format;
  json?: boolean;
}

/** Exit code 1: a file could not be imported; 2: none that was named holds a message. */
export async function importSessions(
  places: readonly string[],
  { session, from, json = false }: ImportOptions,
  { environment, output }: Shell,
): Promise<number> {
  const { home } = environment;
  const { files, passedOver } = await findFiles(places.map((place) => resolve(place)));
  if (session !== undefined && files.length !== 1)
    throw new ContextEngineError(
      "REQUEST_INVALID",
      `--session names one session, and there are ${counted(files.length, "file")}; name one file with it.`,
    );
  const log = { warn: output.note, error: output.note, info: () => {}, debug: () => {} };
  const imported: ImportedFile[] = [];
  const failed: { file: string; error: string }[] = [];
  let unknown = passedOver;
  for (const { file, isNamed } of files)
    try {
      const result = await importFile({ home, file, from, key: session, log });
      if (result === null && isNamed)
        throw nobodys(file, { isEmpty: (await stat(file)).size === 0 });
      if (result === null) unknown++;
      else {
        imported.push(result);
        if (!json) for (const line of describe(result)) output.line(printable(line));
      }
    } catch (error) {
      if (!ContextEngineError.is(error)) throw error;
      // What was typed is wrong, whatever the file holds.
      if (error.code === "SESSION_NAME_INVALID") throw error;
      failed.push({ file, error: describeFailure(error, environment) });
      if (!json) output.note(printable(failed.at(-1)!.error));
    }
  if (json) output.json({ imported, failed, passedOver: unknown });
  else if (unknown > 0)
    output.note(
      `${counted(unknown, "other file")} in there ${unknown === 1 ? "is no transcript" : "are no transcripts"}.`,
    );
  if (!json && files.length === 0) output.line("There are no transcripts in there.");
  if (failed.length > 0) return EXIT.failed;
  const holdNothing = imported.every(({ sessions }) => sessions.length === 0);
  if (!holdNothing) return EXIT.done;
  if (!json && imported.length > 0) output.note("Nothing was imported.");
  return EXIT.usage;
}

function describe({ file, from, sessions, tally }: ImportedFile): string[] {
  const told = toldOf(tally);
  if (sessions.length === 0) return [`${file}: nothing was said in it (${from})${told}`];
  return [
    ...sessions.map(
      (session) => `${"  ".repeat(session.parent === null ? 0 : 1)}${oneLine(session)}`,
    ),
    ...(told === "" ? [] : [`  ${file}${told}`]),
  ];
}

function oneLine({ key, state, added, messages, title }: ImportedSession): string {
  const name = `${shortName(key)}${title === null ? "" : ` "${title}"`}`;
  if (state === "known") return `${name}: known, nothing new`;
  if (state === "grown") return `${name}: ${counted(added, "new entry", "new entries")}`;
  return `${name}: ${counted(messages, "message")}`;
}

/** What of a file is no part of a conversation. */
function toldOf({ kept, repeated, damaged, tooLong }: Tally): string {
  const parts = [
    list("kept as records", kept),
    list("said twice there", repeated),
    damaged.length === 0 ? "" : `no JSON: ${lineNumbers(damaged)}`,
    tooLong.length === 0 ? "" : `too long: ${lineNumbers(tooLong)}`,
  ];
  const told = parts.filter((part) => part !== "");
  return told.length === 0 ? "" : `: ${told.join("; ")}`;
}

function list(what: string, counts: Readonly<Record<string, number>>): string {
  const kinds = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`);
  return kinds.length === 0 ? "" : `${what}: ${kinds.join(", ")}`;
}

const SHOWN_LINES = 10;

function lineNumbers(lines: readonly number[]): string {
  const more = lines.length - SHOWN_LINES;
  const shown = lines.slice(0, SHOWN_LINES).join(", ");
  return `${lines.length === 1 ? "line" : "lines"} ${shown}${more > 0 ? ` and ${more} more` : ""}`;
}
