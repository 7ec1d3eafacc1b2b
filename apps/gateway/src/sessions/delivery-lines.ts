// Sorts the lines of a delivery record into those that count and those that are damaged.
import type { DeliveryChange } from "@clew/engine-core";
import { z } from "zod";
import { fromJson, toJson } from "../own-json.ts";

const ChangeSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("seen"), root: z.string(), ids: z.array(z.string()) }),
  z.object({ kind: z.literal("acknowledged"), ids: z.array(z.string()) }),
  z.object({ kind: z.literal("lost"), ids: z.array(z.string()) }),
  z.object({
    kind: z.literal("refused"),
    turnId: z.string(),
    reason: z.string(),
    version: z.string().nullable(),
  }),
  z.object({ kind: z.literal("retry"), turnId: z.string() }),
]) satisfies z.ZodType<DeliveryChange>;
const LineSchema = z.object({
  v: z.literal(1),
  engineId: z.string().min(1),
  change: ChangeSchema,
  at: z.string().optional(),
});
/** Lines of other versions are theirs to read, and stay. */
const OtherVersionSchema = z.object({ v: z.number().refine((v) => v !== 1) });

export interface DeliveryLine {
  engineId: string;
  change: DeliveryChange;
  /** When it was written, in ISO 8601; older lines do not say. */
  at?: string | undefined;
}

export interface DeliveryLines {
  lines: DeliveryLine[];
  /** Numbers of the lines that are nobody's, from 1. */
  damaged: number[];
  /** Everything but the damaged lines. */
  kept: Buffer;
  /** The damaged lines, byte for byte. */
  removed: Buffer;
}

export const formatDeliveryLine = ({ engineId, change, at }: DeliveryLine): string =>
  `${toJson({ v: 1, engineId, change, at })}\n`;

/** Pure. */
export function parseDeliveryLines(bytes: Uint8Array): DeliveryLines {
  const found: DeliveryLines["lines"] = [];
  const damaged: number[] = [];
  const kept: string[] = [];
  const removed: string[] = [];
  // One character per byte, so that what is kept or removed is exactly what was there.
  for (const [index, line] of Buffer.from(bytes).toString("latin1").split("\n").entries()) {
    if (line.trim() === "") continue;
    const value = readJson(Buffer.from(line, "latin1").toString("utf8"));
    const parsed = LineSchema.safeParse(value);
    if (parsed.success) found.push(parsed.data);
    const isReadable = parsed.success || OtherVersionSchema.safeParse(value).success;
    if (!isReadable) damaged.push(index + 1);
    (isReadable ? kept : removed).push(`${line}\n`);
  }
  const bytesOf = (lines: string[]) => Buffer.from(lines.join(""), "latin1");
  return { lines: found, damaged, kept: bytesOf(kept), removed: bytesOf(removed) };
}

function readJson(text: string): unknown {
  try {
    return fromJson(text);
  } catch {
    return undefined;
  }
}
