// Finds by its words the files that hold what is to be forgotten.
import { readdir, readFile, rm } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { isMatched, type Matcher, textsIn } from "@clew/lossless-engine/store";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import writeFileAtomic from "write-file-atomic";
import { listAgents } from "../sessions/list-sessions.ts";
import { agentPaths } from "../sessions/paths.ts";
import { redactEntry } from "./redact-entry.ts";

/** Says whether a text of a file holds what is to be forgotten. */
export type Traces = (text: string) => boolean;

/** Shorter lines may be anybody's. */
const LEAST_CHARS = 20;
const MOST_CHARS = 200;
const MOST_LINES = 4_000;

/** Of what messages said, lines that are long enough to be theirs; of a text the text. */
export function tracesOf(texts: readonly string[], matcher: Matcher | null): Traces {
  const lines = new Set(
    texts
      .flatMap((text) => text.split("\n"))
      .map((line) => line.trim().slice(0, MOST_CHARS))
      .filter(({ length }) => length >= LEAST_CHARS)
      .slice(0, MOST_LINES),
  );
  const forms = [...new Set([...lines].flatMap((line) => [line, escaped(line)]))];
  const said = typeof matcher === "string" ? [matcher, escaped(matcher)] : [];
  return (text) =>
    (matcher !== null && isMatched(text, matcher)) ||
    said.some((form) => isMatched(text, form)) ||
    forms.some((form) => text.includes(form));
}

/** Texts of an entry without what stays. */
export function wordsOf(entry: TranscriptEntry): string[] {
  const kept = new Set(textsIn(redactEntry(entry)));
  return textsIn(entry).filter((text) => !kept.has(text));
}

/** As it stands in JSON. */
const escaped = (text: string) => JSON.stringify(text).slice(1, -1);

/** Logs lose the lines that hold it, and reports the parts. */
export async function cleanRecords(home: string, holds: Traces): Promise<void> {
  const logs = join(home, "logs");
  for (const name of await readdir(logs).catch(() => [])) {
    const file = join(logs, name);
    const text = await readFile(file, "utf8");
    const lines = text.split("\n");
    const kept = lines.filter((line) => !holds(line));
    if (kept.length < lines.length) await writeFileAtomic(file, kept.join("\n"), { mode: 0o600 });
  }
  for (const agentId of await listAgents(home)) {
    const { reports, sessions } = agentPaths(home, agentId);
    await removeHolding(join(reports, "parts"), () => true, holds);
    await removeHolding(reports, (name) => name.endsWith(".jsonl"), holds);
    await removeHolding(sessions, isKeptAside, holds);
  }
}

/** What repairs and migrations took out of session files, and what can be made again of them. */
const isKeptAside = (name: string) =>
  /\.jsonl\./.test(name) && !/\.jsonl\.(?:lock|reset\.)/.test(name);

async function removeHolding(
  folder: string,
  isOurs: (name: string) => boolean,
  holds: Traces,
): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile() || !isOurs(entry.name)) continue;
    const file = join(folder, entry.name);
    if (holds(await readFile(file, "utf8"))) await rm(file, { force: true });
  }
}

/** A session's reports, and the parts that no other report names. */
export async function removeReports(
  home: string,
  agentId: string,
  sessionIds: readonly string[],
): Promise<void> {
  const { reports } = agentPaths(home, agentId);
  for (const id of sessionIds) await rm(join(reports, `${id}.jsonl`), { force: true });
  const named = new Set<string>();
  for (const name of await readdir(reports).catch(() => [])) {
    if (!name.endsWith(".jsonl")) continue;
    const text = await readFile(join(reports, name), "utf8");
    for (const [hash] of text.matchAll(/[\w-]{16,}/g)) named.add(hash);
  }
  const parts = join(reports, "parts");
  for (const hash of await readdir(parts).catch(() => []))
    if (!named.has(hash)) await rm(join(parts, hash), { force: true });
}

/** Files are read whole up to this size. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Paths below the home of files that hold it, but for the databases. */
export async function filesHolding(
  home: string,
  holds: Traces,
  except: ReadonlySet<string> = new Set(),
): Promise<string[]> {
  const found: string[] = [];
  const names = await readdir(home, { recursive: true, withFileTypes: true });
  for (const entry of names) {
    const file = join(entry.parentPath, entry.name);
    if (!entry.isFile() || except.has(file) || isDatabase(entry.name) || isProgram(home, file))
      continue;
    const text = await readFile(file, { encoding: "utf8" }).catch(() => "");
    if (text.length <= MOST_BYTES && holds(text)) found.push(file);
  }
  return found.sort();
}

const isDatabase = (name: string) => /\.db(?:-wal|-shm)?$/.test(name);
const isProgram = (home: string, file: string) =>
  relative(home, file).split(sep).includes("node_modules");
