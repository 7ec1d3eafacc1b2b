// Takes what is to be forgotten out of the gateway's own files.
import { createReadStream } from "node:fs";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { isMatched, type Matcher } from "@clew/lossless-engine/store";
import { parseTranscriptLine } from "@clew/plugin-sdk/transcript";
import { withoutSummaries } from "../door/memory/journal-lines.ts";
import { writeOwn } from "../home/own-writes.ts";
import { fromJson, toJson } from "../own-json.ts";
import { unpackPart } from "../reports/packed-part.ts";
import { packedLines, plainLines } from "../reports/report-lines.ts";
import { FORGOTTEN } from "../text/forgotten.ts";
import { redactEntry } from "./redact-entry.ts";
import { redactLine } from "./redact-reports.ts";
import { isInScratch } from "./scratch-place.ts";
import type { Traces } from "./traces.ts";

/** A file that holds it still. */
export interface LeftFile {
  readonly file: string;
  /** Why it does, and what to do about it. */
  readonly why: string;
}

/** What is looked for, and where. */
export interface FilesSought {
  readonly holds: Traces;
  /** Databases and copies of them, which are read as such. */
  readonly except: ReadonlySet<string>;
  /** What a file will say; null = it will be gone, undefined = as it does. */
  readonly changes: (file: string, text: string) => string | null | undefined;
  /** The text that is asked for, so that no message says it any more. Null: none is. */
  readonly text: Matcher | null;
}

/** Files are read whole up to this size. */
const MOST_BYTES = 64 * 1024 * 1024;
const OVERLAP = 64 * 1024;

/** Those of the gateway that are no session files; once more changes nothing. */
export async function cleanFiles(home: string, holds: Traces): Promise<void> {
  for (const file of await filesBelow(home)) {
    if (KEPT_CALLS.test(placeOf(home, file))) {
      // Nobody sees what it says, as it is packed, and it is made again.
      await rm(file, { force: true });
      continue;
    }
    const clean = cleaningOf(home, file);
    if (clean === undefined || (await sizeOf(file)) > MOST_BYTES) continue;
    const text = await textOf(home, file);
    if (!holds(text)) continue;
    const left = clean(text, holds);
    if (left === null) await rm(file, { force: true });
    else if (left !== text) await writeOwn(file, isReports(home, file) ? packedLines(left) : left);
  }
}

/** Files that hold it. */
export interface HoldingFiles {
  readonly left: LeftFile[];
  /** Those that say it no more once they are cleaned, but for session files. */
  readonly cleaned: string[];
}

/** Below the home, sorted. Before anything is changed as well as afterwards. */
export async function filesHolding(
  home: string,
  { holds, except, changes, text: asked }: FilesSought,
): Promise<HoldingFiles> {
  const left: LeftFile[] = [];
  const cleaned: string[] = [];
  // Every message that says the text went: what others share with those is not what was asked for.
  const says: Traces = asked === null ? holds : (text) => isMatched(text, asked);
  for (const file of await filesBelow(home)) {
    if (except.has(file.replace(/-(?:wal|shm)$/, "")) || isProgram(home, file)) continue;
    if ((await sizeOf(file)) > MOST_BYTES) {
      if (await isHeldInPieces(file, holds))
        left.push({ file, why: "is too large to be changed here; delete it, or mend it yourself" });
      continue;
    }
    const text = await textOf(home, file);
    if (!holds(text)) continue;
    const changed = changes(file, text);
    const after = changed === undefined ? cleaningOf(home, file)?.(text, holds) : changed;
    const isClean = after === null || !(isTranscript(home, file) ? says : holds)(after ?? text);
    if (!isClean) left.push({ file, why: whyLeft(home, file, asked !== null) });
    else if (!isTranscript(home, file)) cleaned.push(file);
  }
  return { left, cleaned };
}

async function filesBelow(home: string): Promise<string[]> {
  const entries = await readdir(home, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !isInScratch(placeOf(home, file)))
    .sort();
}

const sizeOf = async (file: string): Promise<number> =>
  (await stat(file).catch(() => undefined))?.size ?? 0;

/** What the file says: reports and their parts are stored packed. */
async function textOf(home: string, file: string): Promise<string> {
  const bytes = await readFile(file).catch(() => Buffer.alloc(0));
  if (PART.test(placeOf(home, file))) return unpackPart(bytes).catch(() => bytes.toString("utf8"));
  const text = bytes.toString("utf8");
  return isReports(home, file) ? plainLines(text) : text;
}

const isReports = (home: string, file: string): boolean => REPORTS.test(placeOf(home, file));

/** Each piece with the end of the one before it: what stands across both is found. */
async function isHeldInPieces(file: string, holds: Traces): Promise<boolean> {
  let end = "";
  const pieces = createReadStream(file, { encoding: "utf8", highWaterMark: MOST_BYTES / 4 });
  for await (const piece of pieces) {
    if (holds(end + String(piece))) return true;
    end = String(piece).slice(-OVERLAP);
  }
  return false;
}

const placeOf = (home: string, file: string): string => relative(home, file).split(sep).join("/");

const isProgram = (home: string, file: string): boolean =>
  placeOf(home, file).split("/").includes("node_modules");

/** The text without what is to be forgotten; null = the file goes. */
type Cleaning = (text: string, holds: Traces) => string | null;

const withoutLines: Cleaning = (text, holds) =>
  text
    .split("\n")
    .filter((line) => !holds(line))
    .join("\n");

const removed: Cleaning = () => null;

/** Reports keep what they count. */
const withoutWords: Cleaning = (text, holds) =>
  text
    .split("\n")
    .map((line) => (holds(line) ? redactLine(line, holds) : line))
    .join("\n");

/** Fields of records that say something; the others tell what belongs together. */
const redacted =
  (fields: readonly string[]): Cleaning =>
  (text, holds) => {
    const changed = (value: unknown, key = ""): unknown => {
      if (typeof value === "string")
        return fields.includes(key) && holds(toJson(value)) ? FORGOTTEN : value;
      if (typeof value !== "object" || value === null) return value;
      if (Array.isArray(value)) return value.map((each) => changed(each, key));
      return Object.fromEntries(
        Object.entries(value).map(([name, each]) => [name, changed(each, name)]),
      );
    };
    const value = parsed(text);
    // Nobody can read it, so nobody needs it.
    if (value === undefined) return null;
    return `${toJson(changed(value), null, 2)}\n`;
  };

/** What a person allowed by words that are forgotten is asked for again. */
const withoutGrants: Cleaning = (text, holds) => {
  const value = parsed(text) as { grants?: unknown[] } | undefined;
  if (value === undefined || !Array.isArray(value.grants)) return null;
  const grants = value.grants.filter((grant) => !holds(toJson(grant)));
  return `${toJson({ ...value, grants }, null, 2)}\n`;
};

/** Messages that wait are not said yet, and will not be. */
const withoutWaiting: Cleaning = (text, holds) => {
  const value = parsed(text) as { messages?: unknown[] } | undefined;
  if (value === undefined || !Array.isArray(value.messages)) return null;
  const messages = value.messages.filter((message) => !holds(toJson(message)));
  return messages.length === 0 ? null : `${toJson({ ...value, messages })}\n`;
};

/** Of a session that was reset, or of which a copy was kept. */
const withoutEntries: Cleaning = (text, holds) =>
  text
    .split("\n")
    .flatMap((line) => {
      if (!holds(line)) return [line];
      const read = parseTranscriptLine(line);
      return read.kind === "entry" ? [toJson(redactEntry(read.entry))] : [];
    })
    .join("\n");

/** What is left of it is hashes, by which the client's next request is recognised. */
const withoutHeldSummaries: Cleaning = (text, holds) =>
  withoutSummaries(text, (summary) => holds(toJson(summary)));

function parsed(text: string): unknown {
  try {
    return fromJson(text);
  } catch {
    return undefined;
  }
}

const REPORTS = /^agents\/[^/]+\/reports\/[^/]+\.jsonl$/;
const PART = /^agents\/[^/]+\/reports\/parts\/[^/]+$/;
/** Also one that is being written. */
const KEPT_CALLS = /^agents\/[^/]+\/sessions\/[^/]+\.jsonl\.calls(?:\.[^/]*)?$/;
const DOOR_JOURNAL = /^agents\/[^/]+\/sessions\/[^/]+\.jsonl\.door$/;
const CHILD_WORDS = ["task", "label", "reply", "reason"];
const CLEANINGS: readonly (readonly [RegExp, Cleaning])[] = [
  [/^logs\/[^/]+$/, withoutLines],
  [PART, removed],
  [REPORTS, withoutWords],
  [/^agents\/[^/]+\/sessions\/[^/]+\.jsonl\.reset\.[^/]+$/, withoutEntries],
  [DOOR_JOURNAL, withoutHeldSummaries],
  [/^agents\/[^/]+\/sessions\/[^/]+\.jsonl\.(?!lock)[^/]+$/, removed],
  [/^agents\/[^/]+\/subagents\/[^/]+\.json$/, redacted(CHILD_WORDS)],
  [/^agents\/[^/]+\/subagents\/[^/]+\.staged$/, removed],
  [/^agents\/[^/]+\/approvals\/[^/]+\.json$/, withoutGrants],
  [/^agents\/[^/]+\/waiting\/[^/]+\.json$/, withoutWaiting],
  [/^agents\/[^/]+\/waiting\/[^/]+\.json\.[^/]+$/, removed],
  [/^cron\/[^/]+\.runs\.jsonl$/, withoutLines],
  [/^chat-history\.jsonl$/, withoutLines],
  // What a gateway opened of a database, and opens anew.
  [/^copies\/[^/]+\//, removed],
  // See `runForgetting`.
  [/^shadow\//, removed],
  [/^agents\/[^/]+\/harness\//, removed],
];

/** Undefined: it is not the gateway's to change, or not in this way. */
function cleaningOf(home: string, file: string): Cleaning | undefined {
  const place = placeOf(home, file);
  return CLEANINGS.find(([pattern]) => pattern.test(place))?.[1];
}

const TRANSCRIPT = /^agents\/[^/]+\/sessions\/[^/]+\.jsonl$/;

const isTranscript = (home: string, file: string) => TRANSCRIPT.test(placeOf(home, file));

const REASONS: readonly (readonly [RegExp, { text: string; message: string }])[] = [
  [
    TRANSCRIPT,
    {
      text: "names something so that has to stay, like a model, a tool or the session itself",
      message: "has other messages that say the same; have those forgotten too, or ask by --text",
    },
  ],
  [
    /^agents\/[^/]+\/(?:sessions\/sessions\.json|outbox\/|subagents\/|approvals\/|waiting\/)/,
    {
      text: "names a session so; only --session takes names",
      message: "names a session so; only --session takes names",
    },
  ],
  [
    DOOR_JOURNAL,
    {
      text: "names the session, a tool or a call so; only --session takes names",
      message: "names the session, a tool or a call so; only --session takes names",
    },
  ],
  [
    /^cron\/[^/]+\.job\.json$/,
    {
      text: "is a job that says it at every run; remove it with clew cron rm",
      message: "is a job that says it at every run; remove it with clew cron rm",
    },
  ],
  [
    /^clew\.json$/,
    {
      text: "is the configuration; change it there",
      message: "is the configuration; change it there",
    },
  ],
];

function whyLeft(home: string, file: string, isText: boolean): string {
  const place = placeOf(home, file);
  const reason = REASONS.find(([pattern]) => pattern.test(place))?.[1];
  return reason?.[isText ? "text" : "message"] ?? "is yours to change";
}
