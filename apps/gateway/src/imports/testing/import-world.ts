// Writes transcripts into files and tells what was made of them, for tests.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { activeBranch, type TranscriptEntry, textOf } from "@clew/plugin-sdk/transcript";
import { onTestFinished } from "vitest";
import type { Format } from "../foreign.ts";
import { parseLine } from "../foreign-lines.ts";
import { readLines } from "../open-foreign.ts";
import { asLines } from "./transcripts.ts";

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "clew-import-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export async function writeLines(folder: string, name: string, values: readonly unknown[]) {
  const file = join(folder, name);
  await writeFile(file, asLines(values));
  return file;
}

/** What the lines come to, by session. */
export function read(format: Format, values: readonly unknown[]) {
  return readText(format, asLines(values));
}

export function readText(format: Format, text: string) {
  const lines = text.split("\n").map((line, index) => parseLine(line, index + 1));
  const options = { fileName: "file", writtenAt: "2026-01-01T00:00:00.000Z" };
  const { entries, tally, session } = readLines(format, lines, options);
  const of = (name: string) =>
    entries.flatMap((each) => (each.session === name ? [each.entry] : []));
  return {
    ...{ tally, session, of, all: entries },
    names: [...new Set(entries.map((each) => each.session))],
    branch: (name = "") => activeBranch(of(name)),
  };
}

/** One line for each entry: who, and what. */
export const told = (entries: readonly TranscriptEntry[]): string[] =>
  entries.map((entry) => {
    if (entry.type !== "message") return entry.type;
    const { message } = entry;
    const calls =
      message.role === "assistant"
        ? message.content.flatMap((block) => (block.type === "toolCall" ? [`→${block.name}`] : []))
        : [];
    return [`${message.role}:`, textOf(message), ...calls].filter((part) => part !== "").join(" ");
  });
