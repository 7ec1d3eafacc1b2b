// The file that says what each engine has acknowledged of a session.
import { appendFile, mkdir, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { createDeliveryLedger, type DeliveryChange, type DeliveryPort } from "@clew/engine-core";
import { messageId } from "@clew/plugin-sdk/core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { z } from "zod";
import { oneAtATime } from "./queues.ts";

const ChangeSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("seen"), root: z.string(), ids: z.array(z.string()) }),
  z.object({ kind: z.literal("acknowledged"), ids: z.array(z.string()) }),
  z.object({
    kind: z.literal("refused"),
    turnId: z.string(),
    reason: z.string(),
    version: z.string().nullable(),
  }),
  z.object({ kind: z.literal("retry"), turnId: z.string() }),
]) satisfies z.ZodType<DeliveryChange>;
const LineSchema = z.object({ v: z.literal(1), engineId: z.string().min(1), change: ChangeSchema });
/** What versions before 1.0 wrote: how far an engine had committed. */
const CursorsSchema = z.object({
  cursors: z.array(z.object({ engineId: z.string().min(1), entryId: z.string().nullable() })),
});

interface Line {
  engineId: string;
  change: DeliveryChange;
}

/**
 * One line per change, appended. A line that cannot be read is skipped: what it acknowledged is
 * handed over once more, under the same ids. `branch` tells what an older file's cursors mean.
 */
export async function openDeliveries(
  file: string,
  branch: readonly TranscriptEntry[],
): Promise<DeliveryPort> {
  const text = await readIfThere(file);
  const lines = text === null ? await fromCursors(file, branch) : linesOf(text);
  const inTurn = oneAtATime();
  const write = ({ engineId, change }: Line) =>
    inTurn(async () => {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await appendFile(file, `${JSON.stringify({ v: 1, engineId, change })}\n`, { mode: 0o600 });
    });
  if (text === null) for (const line of lines) await write(line);
  // A line that was cut off must not swallow the next one.
  else if (text !== "" && !text.endsWith("\n")) await appendFile(file, "\n");
  return createDeliveryLedger({
    earlier: lines,
    write: (engineId, change) => write({ engineId, change }),
  });
}

/** The record as the file says now, whoever writes it; empty when there is none. */
export async function readDeliveries(
  file: string,
): Promise<Pick<DeliveryPort, "read" | "engines">> {
  const text = await readIfThere(file);
  return createDeliveryLedger({ earlier: text === null ? [] : linesOf(text) });
}

function linesOf(text: string): Line[] {
  return text.split("\n").flatMap((line) => {
    const parsed = LineSchema.safeParse(readJson(line));
    return parsed.success ? [parsed.data] : [];
  });
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The older file is kept aside. */
async function fromCursors(file: string, branch: readonly TranscriptEntry[]): Promise<Line[]> {
  const older = file.replace(/\.jsonl$/, ".json");
  const text = await readIfThere(older);
  if (text === null) return [];
  await rename(older, `${older}.old`);
  return (CursorsSchema.safeParse(readJson(text)).data?.cursors ?? []).map(
    ({ engineId, entryId }) => ({
      engineId,
      change: { kind: "seen" as const, root: "", ids: idsUpTo(branch, entryId) },
    }),
  );
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
