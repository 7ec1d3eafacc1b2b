// Puts large bodies elsewhere before the rows that name them are written.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { Database, Statement } from "../database.ts";
import { inParallel } from "./in-parallel.ts";

/** A body of more bytes is kept elsewhere, where there is such a place. */
export const BLOB_FROM = 64 * 1024;

/** A body as its row is to have it. */
export interface PlacedBody {
  /** As it was given; or what stands for it. */
  body: string;
  /** SHA-256 of what is kept elsewhere; "" = nothing is. */
  blob: string;
  /** How many bytes the given one has more than `body`. */
  beyond: number;
}

const AT_ONCE = 4;
/** So long nothing is tried that has just failed, ms. */
const LEFT_ALONE_MS = 10_000;

/**
 * Sorted by hash, so that two steps never wait for each other. Whoever is being taken away is not
 * answered, and is not to be named.
 */
const ANNOUNCE: Statement<{ hash: string }> = {
  name: "blob-announce",
  text: `
    insert into blob as b (agent_id, hash, size)
    select $1, n.hash, n.size from unnest($2::text[], $3::bigint[]) as n (hash, size)
    order by n.hash
    on conflict (agent_id, hash) do update set uses = b.uses + 1, at = now()
      where b.dropping is null
    returning hash`,
};

/**
 * SQL of a step that names blobs: "touched" has as many rows as there are hashes in the parameter,
 * unless one of them was taken away since it was put.
 */
export const TOUCHED = (agent: string, hashes: string): string => `
    touched as (
      update blob set uses = uses + 1, at = now()
      where agent_id = ${agent} and hash = any (${hashes}::text[]) and dropping is null
      returning hash
    )`;

/** In its row. */
export const asIs = (body: string): PlacedBody => ({ body, blob: "", beyond: 0 });

/**
 * Bodies in their order, the large ones put where they belong. What cannot be put stays in its row,
 * which is told. Whoever writes rows that name some checks in the same statement that they are
 * still there.
 */
export async function putBodies(
  database: Database,
  { agentId, sessionKey = null }: { agentId: string; sessionKey?: string | null },
  bodies: readonly string[],
): Promise<PlacedBody[]> {
  const placed = bodies.map(asIs);
  const { blobs } = database;
  const large = blobs === undefined ? [] : bodies.flatMap(largeOf);
  if (blobs === undefined || large.length === 0) return placed;
  const tellKept = (kept: readonly { bytes: Uint8Array }[], why: string) => {
    const bytes = kept.reduce((sum, each) => sum + each.bytes.length, 0);
    blobs.onKeptInRows({ agentId, sessionKey, count: kept.length, bytes, why });
  };
  const { failed } = blobs;
  if (failed !== undefined && performance.now() - failed.at < LEFT_ALONE_MS) {
    tellKept(large, failed.why);
    return placed;
  }
  const named = await Promise.all(
    large.map(async ({ index, bytes }) => ({ index, bytes, hash: await sha256(bytes) })),
  );
  const sizes = new Map(named.map(({ hash, bytes }) => [hash, bytes.length]));
  const announced = await database.ask(ANNOUNCE, [agentId, [...sizes.keys()], [...sizes.values()]]);
  const isFree = new Set(announced.map(({ hash }) => hash));
  const wanted = new Map(
    named.flatMap(({ hash, bytes }) => (isFree.has(hash) ? [[hash, bytes] as const] : [])),
  );
  const isThere = new Set<string>();
  try {
    await inParallel([...wanted], AT_ONCE, async ([hash, bytes]) => {
      await blobs.port.put({ agentId, hash }, bytes);
      isThere.add(hash);
    });
  } catch (error) {
    if (!ContextEngineError.is(error, "STORAGE_FAILED")) throw error;
    blobs.failed = { at: performance.now(), why: error.message };
    tellKept(
      named.filter(({ hash }) => !isThere.has(hash)),
      error.message,
    );
  }
  for (const { index, hash, bytes } of named) {
    if (!isThere.has(hash)) continue;
    const body = JSON.stringify({ blob: hash, bytes: bytes.length });
    placed[index] = { body, blob: hash, beyond: bytes.length - body.length };
  }
  return placed;
}

function largeOf(body: string, index: number): { index: number; bytes: Uint8Array }[] {
  // No letter has more than three bytes for each of its units.
  if (body.length * 3 <= BLOB_FROM) return [];
  const bytes = new TextEncoder().encode(body);
  return bytes.length <= BLOB_FROM ? [] : [{ index, bytes }];
}

/** In hex. */
export async function sha256(bytes: Uint8Array): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
