// Copies the reports of a session, and what they name, from a database into a home.
import { lstat, mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { CopySummary } from "@clew/store-postgres";
import { findInNewest } from "../../reports/read-reports.ts";
import { isSafeId } from "../../sessions/keys.ts";
import { agentPaths, fileNameOf, olderReportsOf } from "../../sessions/paths.ts";
import { followReports } from "../postgres/follow-reports.ts";
import { isReports, placeKeptReports, placePart } from "../postgres/kept-reports.ts";
import { isLostObject } from "./lost-object.ts";
import { placeBytes } from "./place-bytes.ts";
import type { CopyOut, CopyResult } from "./result.ts";

const REPORTS_AT_A_TIME = 50;

/** Beside the ones that are there, and put in their place when all is said. */
export async function copyReports(
  { home, copy, isCheck }: Pick<CopyOut, "home" | "copy" | "isCheck">,
  session: CopySummary,
  staging: string,
): Promise<number> {
  const { agentId, sessionId } = session;
  const { reports } = agentPaths(home, agentId);
  const names = [sessionId, olderReportsOf(sessionId)].map(fileNameOf);
  const there = await Promise.all(
    names.map((name) =>
      lstat(join(reports, name)).then(
        ({ size }) => size,
        () => undefined,
      ),
    ),
  );
  const isThere = there.some((size) => size !== undefined);
  const newest = isThere
    ? await findInNewest(reports, sessionId, (found) => found.at(-1))
    : undefined;
  const last = newest?.report.turnId ?? null;
  const later = await copy.laterReports(session, last, 1);
  const kept = { keptFiles: copy.filesOf, bytesOf: copy.bytesOf, parts: copy.parts };
  const hasKept = (await copy.filesOf(session)).some(({ place }) => isReports(place));
  if (later.length === 0 && (isThere || !hasKept)) return 0;
  if (isCheck) return 1;
  const drafts = join(staging, "reports");
  await rm(drafts, { recursive: true, force: true });
  await mkdir(join(drafts, "parts"), { recursive: true, mode: 0o700 });
  if (!isThere) await placeKeptReports(drafts, session, kept);
  else
    for (const [index, name] of names.entries())
      if (there[index] !== undefined) {
        const bytes = await readFile(join(reports, name));
        await placeBytes({
          ...{ file: join(drafts, name), staging, isCheck: false },
          wanted: [bytes],
        });
      }
  await followReports(drafts, sessionId, {
    later: (afterTurn: string | null) => copy.laterReports(session, afterTurn, REPORTS_AT_A_TIME),
    maxBytes: Number.MAX_SAFE_INTEGER,
  });
  await mkdir(join(reports, "parts"), { recursive: true, mode: 0o700 });
  for (const name of await readdir(join(drafts, "parts")))
    if ((await lstat(join(reports, "parts", name)).catch(() => undefined)) === undefined)
      await rename(join(drafts, "parts", name), join(reports, "parts", name));
  // The newer file last: without it nothing is read of the older one's turns twice.
  for (const name of [...names].reverse())
    await rename(join(drafts, name), join(reports, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    });
  return 1;
}

const PARTS_AT_A_TIME = 200;

/** Those that no report names either, as they were there. */
export async function copyParts(
  { home, copy, isCheck, signal }: CopyOut,
  agentId: string,
  result: CopyResult,
): Promise<void> {
  const { reports } = agentPaths(home, agentId);
  const there = new Set(await readdir(join(reports, "parts")).catch(() => []));
  const missing = (await copy.partsOf(agentId)).filter(
    (name) => isSafeId(name) && !there.has(name),
  );
  if (missing.length === 0) return;
  result.files += missing.length;
  if (isCheck) return;
  await mkdir(join(reports, "parts"), { recursive: true, mode: 0o700 });
  for (let at = 0; at < missing.length; at += PARTS_AT_A_TIME) {
    signal.throwIfAborted();
    const found = await partsThere(copy, agentId, missing.slice(at, at + PARTS_AT_A_TIME), result);
    for (const [name, content] of Object.entries(found)) await placePart(reports, name, content);
  }
}

/** Those that are gone are named. */
async function partsThere(
  copy: CopyOut["copy"],
  agentId: string,
  names: readonly string[],
  result: CopyResult,
): Promise<Record<string, string>> {
  try {
    return await copy.parts(agentId, names);
  } catch (error) {
    if (!isLostObject(error)) throw error;
    const [name] = names;
    if (names.length > 1) {
      const half = Math.ceil(names.length / 2);
      return {
        ...(await partsThere(copy, agentId, names.slice(0, half), result)),
        ...(await partsThere(copy, agentId, names.slice(half), result)),
      };
    }
    result.left.push({
      what: `A part of reports of agent ${agentId}, ${name}`,
      why: error.message,
    });
    return {};
  }
}
