// Makes of a session's files what is stored of it.
import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import type {
  CopyRecord,
  CopySummary,
  FoundRecord,
  PostgresCopy,
  RowsToPut,
  SessionToPut,
} from "@clew/store-postgres";
import { fromJson } from "../../own-json.ts";
import { namesOfParts, plainLines } from "../../reports/report-lines.ts";
import { type DeliveryLine, parseDeliveryLines } from "../../sessions/delivery-lines.ts";
import { fileNameOf } from "../../sessions/paths.ts";
import { isReports } from "../postgres/kept-reports.ts";
import { engineOfHome } from "../postgres/ports.ts";
import { doorRowsIn } from "./door-rows.ts";
import { fileToKeep } from "./file-to-keep.ts";
import type { Names } from "./plan-session.ts";
import type { ReadLines } from "./read-session.ts";
import { bytesIn, type HomeFile, shaOf } from "./walk-home.ts";

export interface GivenSession {
  agentId: string;
  sessionId: string;
  transcript: HomeFile | undefined;
  files: readonly HomeFile[];
}

export type StampedFile = HomeFile & { sha: string };

/** The transcript first, then the others by their places. */
export async function stampFiles({ transcript, files }: GivenSession): Promise<StampedFile[]> {
  const all = transcript === undefined ? files : [transcript, ...files];
  const stamped: StampedFile[] = [];
  for (const file of all) stamped.push({ ...file, sha: await shaOf(bytesIn(file)) });
  return stamped;
}

export interface StoreRequest {
  given: GivenSession;
  lines: ReadLines | null;
  stamped: readonly StampedFile[];
  database: CopySummary | null;
  stored: number;
  isKnown: boolean;
  /** What was noted when it was copied before. */
  known: FoundRecord | undefined;
  /** What it is called in the database then. */
  names: Names;
  record: CopyRecord;
  /** What engines have beside it. */
  engineRows: readonly RowsToPut[];
}

export async function sessionToPut(
  copy: PostgresCopy,
  homeId: string,
  { given, lines, stamped, database, stored, isKnown, record, known, names, ...more }: StoreRequest,
): Promise<SessionToPut> {
  const head = lines?.head ?? 0;
  // A transcript that is not what its lines say is kept as it is, too.
  const door = await doorRowsIn(given.files);
  const files = stamped
    .filter(({ place }) => place !== given.transcript?.place || lines?.isWhole === false)
    .filter(({ place }) => place !== door?.file.place)
    .map((file) => fileToKeep(file, { ...record, head }));
  const reports = stamped.filter(({ place }) => isReports(place));
  return {
    ...{ ...names, stored, head, files },
    engineRows: [...more.engineRows, ...(door === undefined ? [] : [door.rows])],
    entries: () => lines?.entries(stored) ?? none(),
    lastEntry: lines?.lastEntry ?? null,
    branch: lines?.branch ?? [[1, null]],
    header: lines?.header ?? null,
    bytes: lines?.bytes ?? 0,
    changedAt: given.transcript?.changedAt ?? Date.now(),
    deliveries: await newDeliveries(copy, homeId, { given, database, known }),
    base:
      reports.length === 0
        ? null
        : hash("sha256", JSON.stringify(reports.map(({ place, sha }) => [place, sha]))),
    names: await namesIn(reports),
    told: database === null ? [] : isKnown ? "all" : await turnsIn(reports),
  };
}

async function* none() {}

/** Behind those that the database has of this home. */
async function newDeliveries(
  copy: PostgresCopy,
  homeId: string,
  { given, database, known: record }: Pick<StoreRequest, "given" | "database" | "known">,
): Promise<{ engineId: string; change: string }[]> {
  const file = given.files.find(({ place }) => isDeliveries(place, given.sessionId));
  if (file === undefined) return [];
  const lines = parseDeliveryLines(await readFile(file.path)).lines;
  const kept =
    database === null
      ? undefined
      : (await copy.filesOf(given)).find(
          ({ home, place }) => home === homeId && place === file.place,
        );
  const ofHome = engineOfHome(homeId);
  const before = kept === undefined ? [] : await deliveriesIn(copy.bytesOf(kept));
  // A copy back into this home added those that came to the database since.
  const since = (await copy.deliveries(given, record?.line ?? 0)).map(({ engineId, change }) => ({
    ...{ engineId, change: fromJson(change) as DeliveryLine["change"] },
  }));
  before.push(...ofHome.known(since));
  const isBehind = isDeepStrictEqual(lines.slice(0, before.length), before);
  return lines.slice(isBehind ? before.length : 0).map(({ engineId, change }) => ({
    engineId: ofHome.name(engineId),
    change: JSON.stringify(change).replaceAll("\0", ""),
  }));
}

/** Pure. What engines acknowledged of a session. */
export const isDeliveries = (place: string, sessionId: string): boolean =>
  place.endsWith(`/outbox/${fileNameOf(sessionId)}`);

async function deliveriesIn(bytes: AsyncIterable<Uint8Array>): Promise<DeliveryLine[]> {
  const pieces: Uint8Array[] = [];
  for await (const piece of bytes) pieces.push(piece);
  return parseDeliveryLines(Buffer.concat(pieces)).lines;
}

/** Ids of the turns that reports in files tell of. */
/** Among words that are none. */
async function namesIn(files: readonly HomeFile[]): Promise<string[]> {
  const named = new Set<string>();
  for (const { path } of files)
    for (const name of namesOfParts(await readFile(path, "utf8"))) named.add(name);
  return [...named];
}

async function turnsIn(files: readonly HomeFile[]): Promise<string[]> {
  const turns: string[] = [];
  for (const { path } of files)
    for (const line of plainLines(await readFile(path, "utf8")).split("\n"))
      try {
        const { turnId } = fromJson(line) as { turnId?: unknown };
        if (typeof turnId === "string") turns.push(turnId);
      } catch {}
  return turns;
}
