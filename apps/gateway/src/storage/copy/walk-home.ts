// Finds what a home holds of sessions, and changes nothing of it.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { readIndex, type SessionIndex } from "../../sessions/index-file.ts";
import { isSafeId } from "../../sessions/keys.ts";
import { agentFolder } from "../../sessions/paths.ts";
import { storageReason } from "../../storage-reason.ts";
import { COPIED_FOLDERS, planPlace, STAYING_FOLDERS } from "./plan-place.ts";

/** A file of a home. */
export interface HomeFile {
  /** Below the home, with slashes. */
  place: string;
  /** Where it is. */
  path: string;
  kind: "file" | "folder" | "link";
  isOwn: boolean;
  /** Bytes. */
  size: number;
  /** ms since the epoch. */
  changedAt: number;
}

/** What cannot be copied, or stays where it is, and why. */
export interface LeftBehind {
  what: string;
  why: string;
}

/** What the folder of one agent holds of sessions. */
export interface AgentHome {
  agentId: string;
  /** The list of sessions; null: there is none that can be read. */
  index: SessionIndex | null;
  /** By session id; also those whose transcript is not there. */
  sessions: Map<string, { transcript: HomeFile | undefined; files: HomeFile[] }>;
  /** Those of no session. */
  files: HomeFile[];
  /** What reports name, by its hash. */
  parts: Map<string, HomeFile>;
  /** Messages that wait for their turn. */
  waiting: HomeFile[];
  /** What stays in the home, and is of use there. */
  stays: LeftBehind[];
  /** What cannot be read. */
  unread: LeftBehind[];
}

/** Sorted; those of no agent are left out. */
export async function agentsIn(home: string): Promise<string[]> {
  const entries = await readdir(join(home, "agents"), { withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw error;
    },
  );
  return entries
    .filter((entry) => entry.isDirectory() && isSafeId(entry.name))
    .map(({ name }) => name)
    .sort();
}

export async function walkAgent(home: string, agentId: string): Promise<AgentHome> {
  const agent: AgentHome = {
    ...{ agentId, index: await readIndex(home, agentId), sessions: new Map(), files: [] },
    ...{ parts: new Map(), waiting: [], stays: [], unread: [] },
  };
  for (const folder of COPIED_FOLDERS) await walk(home, agent, [folder]);
  for (const [folder, what] of Object.entries(STAYING_FOLDERS)) {
    const names = await readdir(join(agentFolder(home, agentId), folder)).catch(() => []);
    if (names.length > 0)
      agent.stays.push({ what: `agents/${agentId}/${folder}`, why: `${what} stay in their home` });
  }
  const waiting = await readdir(join(agentFolder(home, agentId), "waiting")).catch(() => []);
  for (const name of waiting.sort()) {
    const file = await look(home, agent, ["waiting", name]);
    if (file?.kind === "file") agent.waiting.push(file);
  }
  return agent;
}

async function walk(home: string, agent: AgentHome, path: readonly string[]): Promise<void> {
  const folder = join(agentFolder(home, agent.agentId), ...path);
  const place = placeOf(agent.agentId, path);
  let names: string[];
  try {
    names = (await readdir(folder)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || path.length > 1)
      agent.unread.push({ what: place, why: storageReason(error) });
    return;
  }
  for (const name of names) {
    const inner = [...path, name];
    const planned = planPlace(inner);
    if (planned.kind === "lock") continue;
    const file = await look(home, agent, inner);
    if (file === undefined) continue;
    if (file.kind === "folder") {
      agent.files.push(file);
      await walk(home, agent, inner);
    } else if (planned.kind === "part" && file.kind === "file") agent.parts.set(planned.hash, file);
    else if (planned.kind === "of-session")
      ofSession(agent, planned.sessionId).files.push({ ...file, isOwn: planned.isOwn });
    else if (planned.kind === "transcript" && file.kind === "file")
      ofSession(agent, planned.sessionId).transcript = file;
    else agent.files.push(file);
  }
}

function ofSession({ sessions }: AgentHome, sessionId: string) {
  const known = sessions.get(sessionId) ?? { transcript: undefined, files: [] };
  sessions.set(sessionId, known);
  return known;
}

const placeOf = (agentId: string, path: readonly string[]): string =>
  ["agents", agentId, ...path].join("/");

async function look(
  home: string,
  agent: AgentHome,
  path: readonly string[],
): Promise<HomeFile | undefined> {
  const file = join(agentFolder(home, agent.agentId), ...path);
  const place = placeOf(agent.agentId, path);
  try {
    const found = await lstat(file);
    const kind = found.isFile()
      ? "file"
      : found.isDirectory()
        ? "folder"
        : found.isSymbolicLink()
          ? "link"
          : undefined;
    const given = { place, path: file, isOwn: false, changedAt: Math.round(found.mtimeMs) };
    if (kind === undefined) throw new Error("it is neither a file nor a folder");
    if (kind === "folder") return { ...given, kind, size: 0 };
    if (kind === "file") return { ...given, kind, size: found.size };
    return { ...given, kind, size: Buffer.byteLength(await readlink(file)) };
  } catch (error) {
    const isGone = (error as NodeJS.ErrnoException).code === "ENOENT";
    // A name that is no UTF-8 cannot be asked for either.
    if (!isGone || place.includes("\ufffd"))
      agent.unread.push({ what: place, why: isGone ? "its name is not UTF-8" : whyOf(error) });
    return undefined;
  }
}

const whyOf = (error: unknown): string => storageReason(error);

/** What a file holds, up to the size that it had. */
export async function* bytesIn({ kind, path, size }: HomeFile): AsyncIterable<Uint8Array> {
  if (kind === "folder" || size === 0) return;
  if (kind === "link") yield Buffer.from(await readlink(path));
  else yield* createReadStream(path, { end: size - 1 });
}

/** SHA-256, in hex. */
export async function shaOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const sum = createHash("sha256");
  for await (const piece of bytes) sum.update(piece);
  return sum.digest("hex");
}
