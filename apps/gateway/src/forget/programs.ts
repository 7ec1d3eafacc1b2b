// Removes what programs that run turns keep of what is to be forgotten.
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Traces } from "./traces.ts";

/**
 * Codex keeps the threads of all sessions of an agent together, and gets their contexts anew from
 * the transcripts; other programs keep each session for itself, which then begins anew.
 */
export async function forgetInPrograms(home: string, holds: Traces): Promise<void> {
  for (const agent of await namesIn(join(home, "agents"))) {
    const folder = join(home, "agents", agent, "harness");
    for (const group of await groupsIn(folder)) {
      const isHeld = await Promise.all(group.map((place) => holdsBelow(place, holds)));
      if (!isHeld.includes(true)) continue;
      for (const place of group) await rm(place, { recursive: true, force: true, maxRetries: 5 });
    }
  }
}

const THREADS = ["codex", "codex-threads"];

/** Places that go together. */
async function groupsIn(folder: string): Promise<string[][]> {
  const programs = (await namesIn(folder)).filter((name) => !THREADS.includes(name));
  const sessions: string[][] = [];
  for (const program of programs)
    for (const session of await namesIn(join(folder, program)))
      sessions.push([join(folder, program, session)]);
  return [THREADS.map((name) => join(folder, name)), ...sessions];
}

async function holdsBelow(place: string, holds: Traces): Promise<boolean> {
  const entries = await readdir(place, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const text = await readFile(join(entry.parentPath, entry.name), "utf8").catch(() => "");
    if (holds(text)) return true;
  }
  return false;
}

const namesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { withFileTypes: true }).catch(() => []))
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
