// Keeps files of homes in the database as they are, and reads them.
import type { AskInside, Database, Statement } from "../database.ts";

/** What a kept file is. */
export type KeptKind = "file" | "folder" | "link";

/** A file of a home that is kept as it is. */
export interface KeptFile {
  /** Below the home, with slashes. */
  place: string;
  /** Whose it is. */
  agentId: string;
  /** Of which transcript; null: of none. */
  sessionId: string | null;
  /** What it is. */
  kind: KeptKind;
  /** True: it is of use in its home alone. */
  isOwn: boolean;
  /** Bytes; of a link, of where it leads. */
  size: number;
  /** SHA-256 of them. */
  sha: string;
  /** How many entries its session had; null: nobody asks. */
  head: number | null;
  /** ms since the epoch. */
  changedAt: number;
}

/** The same with what it holds. */
export interface FileToKeep extends KeptFile {
  /** May be asked again. */
  bytes(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** A file that is kept, and of which home. */
export interface FoundFile extends KeptFile {
  /** Names the home. */
  home: string;
}

const KINDS: readonly KeptKind[] = ["file", "folder", "link"];
const PIECE_BYTES = 2 ** 20;

const DROP = "delete from kept_file where home = $1 and place_id = $2";

const PUT = `
  insert into kept_file
    (home, place_id, piece, place, agent_id, session_id, kind, is_own, size, sha, head, changed_at, body)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`;

const COLUMNS = `
  home, place, agent_id, session_id, kind, is_own, size::float8, sha, head::float8,
  changed_at::float8`;

const OF_AGENTS: Statement<FileRow> = {
  name: "kept-file-list",
  text: `select ${COLUMNS} from kept_file where piece = 0 and session_id is null order by place`,
};

const OF_SESSION: Statement<FileRow> = {
  name: "kept-file-of-session",
  text: `
    select ${COLUMNS} from kept_file
    where piece = 0 and agent_id = $1 and session_id = $2 order by place`,
};

const PIECE: Statement<{ body: Uint8Array }> = {
  name: "kept-file-piece",
  text: "select body from kept_file where home = $1 and place_id = $2 and piece = $3",
};

interface FileRow {
  home: string;
  place: string;
  agent_id: string;
  session_id: string | null;
  kind: number;
  is_own: boolean;
  size: number;
  sha: string;
  head: number | null;
  changed_at: number;
}

/** Places may be too long for an index. */
async function idOf(place: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(place));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Those that are of no session, of all homes. */
export const filesOfAgents = async (database: Database): Promise<FoundFile[]> =>
  (await database.ask(OF_AGENTS, [])).map(fileOf);

/** Those of a transcript, of all homes. */
export const filesOfSession = async (
  database: Database,
  { agentId, sessionId }: { agentId: string; sessionId: string },
): Promise<FoundFile[]> => (await database.ask(OF_SESSION, [agentId, sessionId])).map(fileOf);

/** What a file holds, piece by piece. */
export async function* bytesOf(
  database: Database,
  { home, place, size }: Pick<FoundFile, "home" | "place" | "size">,
): AsyncIterable<Uint8Array> {
  const id = await idOf(place);
  let left = size;
  for (let piece = 0; left > 0; piece++) {
    const [row] = await database.ask(PIECE, [home, id, piece]);
    // It was replaced meanwhile: whoever compares what came finds that it is another one.
    if (row === undefined) return;
    left -= row.body.length;
    yield row.body;
  }
}

/** In the place of the one that was there. */
export async function keepFile(ask: AskInside, home: string, file: FileToKeep): Promise<void> {
  const placeId = await idOf(file.place);
  await ask(DROP, [home, placeId]);
  let piece = 0;
  const put = (body: Uint8Array) =>
    ask(PUT, [
      ...[home, placeId, piece++, file.place, file.agentId, file.sessionId],
      ...[KINDS.indexOf(file.kind), file.isOwn, file.size, file.sha, file.head],
      ...[Math.round(file.changedAt), body],
    ]);
  for await (const part of piecesOf(file.bytes())) await put(part);
  if (piece === 0) await put(new Uint8Array());
}

/** Each of the same length but for the last one. */
async function* piecesOf(parts: ReturnType<FileToKeep["bytes"]>): AsyncIterable<Uint8Array> {
  const piece = new Uint8Array(PIECE_BYTES);
  let filled = 0;
  for await (const part of parts)
    for (let from = 0; from < part.length; ) {
      const taken = part.subarray(from, from + PIECE_BYTES - filled);
      piece.set(taken, filled);
      filled += taken.length;
      from += taken.length;
      if (filled < PIECE_BYTES) continue;
      yield piece.slice();
      filled = 0;
    }
  if (filled > 0) yield piece.slice(0, filled);
}

const fileOf = (row: FileRow): FoundFile => ({
  home: row.home,
  place: row.place,
  agentId: row.agent_id,
  sessionId: row.session_id,
  kind: KINDS[row.kind] ?? "file",
  isOwn: row.is_own,
  size: row.size,
  sha: row.sha,
  head: row.head,
  changedAt: row.changed_at,
});
