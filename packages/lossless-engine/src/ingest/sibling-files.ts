// Finds the session files of an agent that its database does not hold to their ends.
import { open, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseTranscriptLine } from "@clew/plugin-sdk/transcript";
import { patiently } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { bytesRead } from "../store/cursors.ts";
import type { Store } from "../store/store.ts";

/** A session file beside that of a session. */
export interface Sibling {
  readonly session: OwnedSession;
  readonly path: string;
  /** When it was begun, ISO 8601. */
  readonly begun: string;
}

/** The files of a folder that were not read, or not to their ends. */
export interface SiblingFiles {
  /** Oldest first. */
  readonly found: readonly Sibling[];
  /** Paths of files that are named as sessions are and do not begin as they do. */
  readonly headless: readonly string[];
}

/** Some hosts keep what was said before a reset under a name of its own. */
const SESSION_FILE = /\.jsonl(?:\.reset\..+)?$/;
/** Several transcripts of one session id, one for each topic of a group. */
const TOPIC = /-topic-[^/]+$/;
/** Of a first line, at most. */
const HEAD_BYTES = 256 * 1024;

export async function siblingsLacking(
  store: Store,
  { owner, sessionKey: ownKey }: OwnedSession,
  path: string,
): Promise<SiblingFiles> {
  const [found, headless]: [Sibling[], string[]] = [[], []];
  const own = await stat(path).catch(() => undefined);
  if (own?.isFile() !== true) return { found, headless };
  const folder = dirname(path);
  const names = (await readdir(folder).catch(() => [])).filter((name) => SESSION_FILE.test(name));
  const known = await patiently(() => bytesRead(store, owner));
  for (const name of names) {
    const file = join(folder, name);
    if (file === path) continue;
    const there = await stat(file).catch(() => undefined);
    const sessionId = name.replace(SESSION_FILE, "").replace(TOPIC, "");
    if (there?.isFile() !== true || there.size === 0) continue;
    if ((known.get(sessionId) ?? -1) >= there.size) continue;
    const head = await headOf(file);
    if (head === undefined) headless.push(file);
    // Copies and backups of a session are not that session.
    if (head?.id !== sessionId) continue;
    const { sessionKey, timestamp } = head;
    // Without its key nobody knows whose it is, and whether it may be kept.
    if (typeof sessionKey !== "string" || agentOf(sessionKey) !== agentOf(ownKey)) continue;
    found.push({ session: { sessionId, sessionKey, owner }, path: file, begun: timestamp });
  }
  return { found: found.sort((a, b) => (a.begun < b.begun ? -1 : 1)), headless };
}

/** Undefined: the key does not say which agent it is of. */
const agentOf = (sessionKey: string | undefined) => /^agent:([^:]+):/.exec(sessionKey ?? "")?.[1];

interface Head {
  readonly id: string;
  readonly timestamp: string;
  readonly sessionKey?: unknown;
}

/** Undefined: it does not begin as session files do. */
async function headOf(path: string): Promise<Head | undefined> {
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const head: Buffer[] = [];
    for (let at = 0; at < HEAD_BYTES; ) {
      const piece = await file.read({ buffer: Buffer.alloc(4_096), position: at });
      head.push(piece.buffer.subarray(0, piece.bytesRead));
      at += piece.bytesRead;
      if (piece.bytesRead === 0 || head.at(-1)!.includes(LINE_FEED)) break;
    }
    const [line = ""] = Buffer.concat(head).toString("utf8").split("\n", 1);
    const parsed = parseTranscriptLine(line);
    return parsed.kind === "header" ? (parsed.header as unknown as Head) : undefined;
  } finally {
    await file.close();
  }
}

const LINE_FEED = 10;
