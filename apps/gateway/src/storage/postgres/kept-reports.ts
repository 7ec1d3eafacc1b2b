// Puts the reports of a session that came from files before those of the database.
import { readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { PostgresReader } from "@clew/store-postgres";
import { makeOwnFolder } from "../../home/no-links.ts";
import { writeOwn } from "../../home/own-writes.ts";
import { packPart } from "../../reports/packed-part.ts";
import { removeReportFiles } from "../../reports/report-files.ts";
import { namesOfParts } from "../../reports/report-lines.ts";
import { keptReportsMark } from "../../sessions/paths.ts";

/** What keeps them. */
export type KeptReportsOf = Pick<PostgresReader<never>, "keptFiles" | "bytesOf" | "parts">;

const PARTS_AT_A_TIME = 500;

/**
 * Copies that begin with other kept reports are made anew; `base` names those that there are.
 * `folder` is an agent's reports folder among the copies.
 */
export async function followKeptReports(
  folder: string,
  session: { agentId: string; sessionId: string },
  { base, kept }: { base: string | null; kept: KeptReportsOf },
): Promise<void> {
  if (base === null) return;
  const mark = keptReportsMark(folder, session.sessionId);
  if ((await readFile(mark, "utf8").catch(() => "")) === base) return;
  await rm(mark, { force: true });
  await removeReportFiles(folder, session.sessionId);
  await placeKeptReports(folder, session, kept);
  await writeOwn(mark, base, { fsync: false });
}

/** With what they name. */
export async function placeKeptReports(
  folder: string,
  session: { agentId: string; sessionId: string },
  kept: KeptReportsOf,
): Promise<void> {
  await makeOwnFolder(dirname(folder), join(folder, "parts"));
  const files = (await kept.keptFiles(session)).filter(({ place }) => isReports(place));
  const named = new Set<string>();
  for (const file of files) {
    const pieces: Uint8Array[] = [];
    for await (const piece of kept.bytesOf(file)) pieces.push(piece);
    const bytes = Buffer.concat(pieces);
    for (const name of namesOfParts(bytes.toString("utf8"))) named.add(name);
    await writeOwn(join(folder, basename(file.place)), bytes, { fsync: false });
  }
  const names = [...named];
  for (let at = 0; at < names.length; at += PARTS_AT_A_TIME) {
    const found = await kept.parts(session.agentId, names.slice(at, at + PARTS_AT_A_TIME));
    for (const [hash, content] of Object.entries(found)) await placePart(folder, hash, content);
  }
}

/** What is there stays as it is. */
export async function placePart(folder: string, hash: string, content: string): Promise<void> {
  const packed = await packPart(content);
  await writeFile(join(folder, "parts", hash), packed, { flag: "wx", mode: 0o600 }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    },
  );
}

/** To be called where a session is removed. */
export const forgetKeptReports = (folder: string, sessionId: string): Promise<void> =>
  rm(keptReportsMark(folder, sessionId), { force: true });

/** Pure. Of a file below a home. */
export const isReports = (place: string): boolean =>
  /^agents\/[^/]+\/reports\/[^/]+\.jsonl$/.test(place);
