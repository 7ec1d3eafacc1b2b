// Keeps notes as Markdown files of one folder, and finds them by full-text search.
import { appendFileSync, lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join, posix, relative, sep } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Larger files are no notes, bytes. */
const MAX_BYTES = 1024 * 1024;

/** A part of a note between blank lines. */
export interface Passage {
  /** Relative to the folder, with "/". */
  path: string;
  /** From 1. */
  startLine: number;
  /** Included. */
  endLine: number;
  snippet: string;
  /** Larger fits better. */
  score: number;
}

export interface Notes {
  /** Best first. */
  search(query: string, maxResults: number): Passage[];
  /** Throws for what is no note. */
  read(path: string, from?: number, lines?: number): string;
  /** Adds to the end of the day's note; returns its path. */
  add(text: string, nowMs: number): string;
  close(): void;
}

/** The note of a day, in the time zone of this machine. */
export function noteOf(nowMs: number): string {
  const day = new Date(nowMs);
  const parts = [day.getFullYear(), day.getMonth() + 1, day.getDate()];
  return `memory/${parts.map((part) => String(part).padStart(2, "0")).join("-")}.md`;
}

/** `MEMORY.md` and all Markdown below `memory/`; links are not followed. */
export function openNotes(folder: string): Notes {
  // The files are the truth: what is in the index is made again whenever they changed.
  const index = new DatabaseSync(":memory:");
  index.exec("CREATE VIRTUAL TABLE passages USING fts5(text, path UNINDEXED, first UNINDEXED)");
  const indexed = new Map<string, string>();
  const insert = index.prepare("INSERT INTO passages (text, path, first) VALUES (?, ?, ?)");
  const remove = index.prepare("DELETE FROM passages WHERE path = ?");

  function refresh(): void {
    const found = new Map(notesIn(folder));
    for (const path of indexed.keys()) if (!found.has(path)) forget(path);
    for (const [path, stamp] of found) {
      if (indexed.get(path) === stamp) continue;
      forget(path);
      for (const { text, first } of passagesIn(textOf(folder, path))) insert.run(text, path, first);
      indexed.set(path, stamp);
    }
  }
  function forget(path: string): void {
    remove.run(path);
    indexed.delete(path);
  }
  return {
    search(query, maxResults) {
      refresh();
      const words = query.match(/[\p{L}\p{N}]+/gu) ?? [];
      if (words.length === 0) return [];
      const asked = words.map((word) => `"${word}"*`).join(" OR ");
      const rows = index
        .prepare(
          "SELECT text, path, first, -bm25(passages) AS score FROM passages WHERE passages MATCH ? ORDER BY score DESC LIMIT ?",
        )
        .all(asked, maxResults);
      // Scripts without spaces are one word to the index.
      const found = rows.length > 0 ? rows : containing(index, words, maxResults);
      return found.map(toPassage);
    },
    read(path, from = 1, lines) {
      if (!notesIn(folder).some(([known]) => known === path))
        throw new Error(`${path} is no note; memory_search names those there are`);
      const all = textOf(folder, path).split("\n");
      return all.slice(from - 1, lines === undefined ? undefined : from - 1 + lines).join("\n");
    },
    add(text, nowMs) {
      const path = noteOf(nowMs);
      mkdirSync(join(folder, "memory"), { recursive: true });
      if (lstatSync(join(folder, "memory")).isSymbolicLink())
        throw new Error("memory is a link, which is not followed");
      // In one write, so that two at once do not mix.
      appendFileSync(join(folder, path), `${text.trim()}\n\n`, { flag: "a" });
      return path;
    },
    close: () => index.close(),
  };
}

type Row = Record<string, unknown>;

function containing(index: DatabaseSync, words: readonly string[], maxResults: number): Row[] {
  const where = words.map(() => "instr(lower(text), lower(?)) > 0").join(" AND ");
  return index
    .prepare(`SELECT text, path, first, 0 AS score FROM passages WHERE ${where} LIMIT ?`)
    .all(...words, maxResults);
}

function toPassage(row: Row): Passage {
  const snippet = String(row["text"]);
  const startLine = Number(row["first"]);
  const endLine = startLine + snippet.split("\n").length - 1;
  return { path: String(row["path"]), startLine, endLine, snippet, score: Number(row["score"]) };
}

/** Each with what changes when the file does. */
function notesIn(folder: string): [path: string, stamp: string][] {
  const files = [join(folder, "MEMORY.md"), ...markdownBelow(join(folder, "memory"))];
  return files.flatMap((file): [string, string][] => {
    const stats = lstatSync(file, { throwIfNoEntry: false });
    if (stats === undefined || !stats.isFile() || stats.size > MAX_BYTES) return [];
    const path = relative(folder, file).split(sep).join(posix.sep);
    return [[path, `${stats.mtimeMs} ${stats.size} ${stats.ino}`]];
  });
}

function markdownBelow(folder: string): string[] {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return markdownBelow(path);
    return entry.isFile() && entry.name.endsWith(".md") ? [path] : [];
  });
}

const textOf = (folder: string, path: string) => readFileSync(join(folder, path), "utf8");

function passagesIn(text: string): { text: string; first: number }[] {
  const passages: { text: string; first: number }[] = [];
  let open: { lines: string[]; first: number } | undefined;
  const close = () => {
    if (open !== undefined) passages.push({ text: open.lines.join("\n"), first: open.first });
    open = undefined;
  };
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "") close();
    else {
      open ??= { lines: [], first: at + 1 };
      open.lines.push(line);
    }
  }
  close();
  return passages;
}
