// Finds what may stand where the cursor of a draft is.
import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import type { Draft } from "./draft.ts";
import type { Completion, Option } from "./menu.ts";

/** What is completed, as far as the draft alone tells. */
export type Wanted =
  | { kind: "command"; from: number; begun: string }
  | { kind: "session" | "model"; from: number; begun: string }
  | { kind: "file"; from: number; begun: string };

export interface Sources {
  commands(): Promise<readonly Option[]>;
  sessions(): Promise<readonly Option[]>;
  models(): Promise<readonly Option[]>;
  /** Absolute; where paths begin. */
  folder: string;
}

/** Pure. */
export function planWanted({ text, cursor }: Draft): Wanted {
  const before = text.slice(0, cursor);
  const command = /^\s*\/(\w*)$/.exec(before);
  if (command !== null)
    return { kind: "command", from: cursor - command[1]!.length - 1, begun: `/${command[1]}` };
  const begun = /\S*$/.exec(before)![0];
  const from = cursor - begun.length;
  const [, word] = /^\s*\/(\w+)\s+\S*$/.exec(before) ?? [];
  if (word === "session") return { kind: "session", from, begun };
  if (word === "model") return { kind: "model", from, begun };
  // "@" says that a path follows, and is no part of it.
  return begun.startsWith("@")
    ? { kind: "file", from: from + 1, begun: begun.slice(1) }
    : { kind: "file", from, begun };
}

const MOST_OPTIONS = 200;

export async function complete(wanted: Wanted, sources: Sources): Promise<Completion> {
  const { from, begun } = wanted;
  const options = await optionsFor(wanted, sources);
  const fitting = options.filter(({ text }) => text.toLowerCase().startsWith(begun.toLowerCase()));
  return { from, options: fitting.slice(0, MOST_OPTIONS) };
}

function optionsFor(wanted: Wanted, sources: Sources): Promise<readonly Option[]> {
  switch (wanted.kind) {
    case "command":
      return sources.commands();
    case "session":
      return sources.sessions();
    case "model":
      return sources.models();
    case "file":
      return filesLike(wanted.begun, sources.folder);
  }
}

/** Folders end with a slash; hidden ones are for those who ask for them. */
async function filesLike(begun: string, folder: string): Promise<Option[]> {
  const isFolder = begun === "" || begun.endsWith("/");
  const shown = isFolder ? begun : begun.slice(0, begun.length - basename(begun).length);
  const wanted = isFolder ? "" : basename(begun);
  const place = begun.startsWith("~/")
    ? join(homedir(), shown.slice(2))
    : resolve(folder, shown === "" ? "." : dirname(`${shown}x`));
  const entries = await readdir(place, { withFileTypes: true }).catch(() => []);
  return entries
    .filter(({ name }) => wanted.startsWith(".") || !name.startsWith("."))
    .map((entry) => ({ text: `${shown}${entry.name}${entry.isDirectory() ? "/" : ""}` }))
    .sort((a, b) => (a.text < b.text ? -1 : 1));
}
