// The file that says what each engine has acknowledged of a session.
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { createDeliveryLedger, type DeliveryPort } from "@clew/engine-core";
import { messageId } from "@clew/plugin-sdk/core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { z } from "zod";
import { makeOwnFolder } from "../home/no-links.ts";
import { appendOwn, writeOwn } from "../home/own-writes.ts";
import { rename } from "../own-files.ts";
import { fromJson } from "../own-json.ts";
import { storageReason } from "../storage-reason.ts";
import {
  type DeliveryLine,
  type DeliveryLines,
  formatDeliveryLine,
  parseDeliveryLines,
} from "./delivery-lines.ts";
import { keepBeside } from "./durable-file.ts";
import type { SessionNote } from "./notes.ts";
import { oneAtATime } from "./queues.ts";

const LINE_FEED = 10;

/** What versions before 1.0 wrote: how far an engine had committed. */
const CursorsSchema = z.object({
  cursors: z.array(z.object({ engineId: z.string().min(1), entryId: z.string().nullable() })),
});

export interface OpenedDeliveries {
  deliveries: DeliveryPort;
  /** What had to be done about the file, for the log. */
  notes: SessionNote[];
}

/**
 * One line per change, appended. Damaged lines are taken out and kept beside the file: what they
 * acknowledged is handed over once more, under the same ids. A file that cannot be read is left as
 * it is, and what is acknowledged meanwhile is known until the session is closed. `branch` tells
 * what an older file's cursors mean. To be called under the session's lock.
 */
export async function openDeliveries(
  file: string,
  branch: readonly TranscriptEntry[],
): Promise<OpenedDeliveries> {
  const found = await readDeliveryFile(file);
  if (found.kind === "unreadable")
    return {
      deliveries: createDeliveryLedger(),
      notes: [{ kind: "deliveries-unreadable", file, reason: found.reason }],
    };
  const lines = found.kind === "absent" ? await fromCursors(file, branch) : found.lines;
  const inTurn = oneAtATime();
  const write = (line: DeliveryLine) =>
    inTurn(async () => {
      await makeOwnFolder(dirname(dirname(file)), dirname(file));
      const at = new Date().toISOString();
      await appendOwn(file, formatDeliveryLine({ ...line, at }));
    });
  if (found.kind === "absent") for (const line of lines) await write(line);
  const notes = found.kind === "read" ? await mend(file, found) : [];
  const deliveries = createDeliveryLedger({
    earlier: lines,
    write: (engineId, change) => write({ engineId, change }),
  });
  return { deliveries, notes };
}

/** True: it is read as `readFileLines` reads then. */
interface DeliveryReading {
  atOnce?: boolean;
}

/** The record as the file says now, whoever writes it; empty when there is none to read. */
export async function readDeliveries(
  file: string,
  reading: DeliveryReading = {},
): Promise<Pick<DeliveryPort, "read" | "engines">> {
  const found = await readDeliveryFile(file, reading);
  return createDeliveryLedger({ earlier: found.kind === "read" ? found.lines : [] });
}

export type DeliveryFile =
  | { kind: "absent" }
  /** There is something, and it cannot be read. */
  | { kind: "unreadable"; reason: string }
  | ({ kind: "read"; bytes: Buffer } & DeliveryLines);

export async function readDeliveryFile(
  file: string,
  { atOnce = false }: DeliveryReading = {},
): Promise<DeliveryFile> {
  try {
    const bytes = atOnce ? readFileSync(file) : await readFile(file);
    return { kind: "read", bytes, ...parseDeliveryLines(bytes) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { kind: "absent" };
    return { kind: "unreadable", reason: storageReason(error) };
  }
}

async function mend(
  file: string,
  { bytes, damaged, kept, removed }: Extract<DeliveryFile, { kind: "read" }>,
): Promise<SessionNote[]> {
  if (damaged.length === 0) {
    // A line that was cut off before its end must not swallow the next one.
    if (bytes.length > 0 && bytes.at(-1) !== LINE_FEED) await appendOwn(file, "\n");
    return [];
  }
  const keptIn = await keepBeside(file, "removed", removed);
  await writeOwn(file, kept);
  return [{ kind: "deliveries-repaired", lines: damaged, keptIn }];
}

/** The older file is kept aside. */
async function fromCursors(
  file: string,
  branch: readonly TranscriptEntry[],
): Promise<DeliveryLine[]> {
  const older = file.replace(/\.jsonl$/, ".json");
  const text = await readIfThere(older);
  if (text === null) return [];
  await rename(older, `${older}.old`);
  return (readCursors(text) ?? []).map(({ engineId, entryId }) => ({
    engineId,
    change: { kind: "seen" as const, root: "", ids: idsUpTo(branch, entryId) },
  }));
}

function readCursors(text: string) {
  try {
    return CursorsSchema.safeParse(fromJson(text)).data?.cursors;
  } catch {
    return undefined;
  }
}

function idsUpTo(branch: readonly TranscriptEntry[], entryId: string | null): string[] {
  const end = branch.findIndex(({ id }) => id === entryId) + 1;
  return branch
    .slice(0, end)
    .flatMap((entry) => (entry.type === "message" ? [messageId(entry.message) ?? entry.id] : []));
}

async function readIfThere(file: string): Promise<string | null> {
  return readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
}
