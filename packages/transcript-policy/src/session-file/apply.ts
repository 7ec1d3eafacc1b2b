// Writes the lines of a repaired file.
import { randomUUID } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { parseEntry } from "./entry.ts";
import { readLines } from "./lines.ts";
import type { NewLinks } from "./links.ts";
import { type Edit, locate, withEdits } from "./locate.ts";
import { mendEdits, planMend } from "./mend-entry.ts";
import { makeResultEntry } from "./missing-results.ts";
import type { RepairPlan } from "./plan.ts";

/** How lines say that they belong together. */
export interface LineGroups {
  /** How many lines belong together with this one, itself included; undefined: it does not say. */
  sizeOf(line: Buffer): number | undefined;
  /** The line, saying another number. */
  resize(line: Buffer, size: number): Buffer;
}

export interface ApplyOptions {
  /** ms since the epoch; stamps results that are made up. */
  now: number;
  groups: LineGroups | undefined;
}

const NEWLINE = Buffer.from("\n");

/** The bytes of the repaired file, piece by piece. What the plan does not name is copied. */
export async function* repairedBytes(
  path: string,
  plan: RepairPlan,
  options: ApplyOptions,
): AsyncGenerator<Buffer> {
  if (plan.first !== undefined) yield Buffer.concat([plan.first, NEWLINE]);
  yield* plan.order === undefined
    ? inFileOrder(path, plan, options)
    : inOrder(path, plan, plan.order, options);
}

async function* inFileOrder(path: string, plan: RepairPlan, options: ApplyOptions) {
  let number = -1;
  let position = 0;
  for await (const lines of readLines(path)) {
    const parts: Buffer[] = [];
    for (const { bytes } of lines) {
      number++;
      if (number === plan.tornEnd) parts.push(bytes);
      else
        for (const written of plan.instead.get(number) ?? [bytes])
          parts.push(...linesAt(position++, written, plan, options));
    }
    yield Buffer.concat(parts);
  }
}

/** Reads the file once to see where each line is, and then each line at its turn. */
async function* inOrder(
  path: string,
  plan: RepairPlan,
  order: readonly number[],
  options: ApplyOptions,
): AsyncGenerator<Buffer> {
  const { places, tornEnd } = await findPlaces(path, plan);
  const handle = await open(path, "r");
  try {
    for (const position of order) {
      const place = places[position]!;
      const line = Buffer.isBuffer(place) ? place : await readAt(handle, place);
      const size = options.groups?.sizeOf(line);
      // Lines of one write may stand apart now, and all of them are there.
      const own = size === undefined ? line : options.groups!.resize(line, 1);
      yield Buffer.concat(linesAt(position, own, plan, options));
    }
    if (tornEnd !== undefined) yield tornEnd;
  } finally {
    await handle.close();
  }
}

interface Stretch {
  start: number;
  length: number;
}

async function findPlaces(path: string, plan: RepairPlan) {
  const places: (Stretch | Buffer)[] = [];
  let number = -1;
  let tornEnd: Buffer | undefined;
  for await (const lines of readLines(path))
    for (const { bytes, start } of lines) {
      number++;
      const instead = plan.instead.get(number);
      if (number === plan.tornEnd) tornEnd = Buffer.from(bytes);
      else if (instead !== undefined) places.push(...instead);
      else places.push({ start, length: bytes.length });
    }
  return { places, tornEnd };
}

async function readAt(handle: FileHandle, { start, length }: Stretch): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length);
  for (let read = 0; read < length; ) {
    const { bytesRead } = await handle.read(bytes, read, length - read, start + read);
    if (bytesRead === 0) throw new Error("the file became shorter while it was repaired");
    read += bytesRead;
  }
  return bytes;
}

/** What is written of the line at a position, and behind it. */
function linesAt(
  position: number,
  line: Buffer,
  plan: RepairPlan,
  options: ApplyOptions,
): Buffer[] {
  const mended = mendedLine(line, position, plan, options);
  const results = resultLines(line, position, plan, options);
  return [mended, ...results].flatMap((each) => [each, NEWLINE]);
}

function mendedLine(
  line: Buffer,
  position: number,
  { mended, links, groups, order }: RepairPlan,
  options: ApplyOptions,
): Buffer {
  const linked = links.get(position);
  const size = order === undefined ? groups.get(position) : undefined;
  const edits = [
    ...(mended.has(position) ? contentEdits(line) : []),
    ...(linked === undefined ? [] : linkEdits(line, linked)),
  ];
  const edited = edits.length === 0 ? line : withEdits(line, edits);
  return size === undefined ? edited : options.groups!.resize(edited, size);
}

function contentEdits(line: Buffer): Edit[] {
  const mend = planMend(parseEntry(line)!);
  return mend === undefined ? [] : mendEdits(line, mend);
}

function linkEdits(line: Buffer, links: NewLinks): Edit[] {
  return Object.entries(links).flatMap(([name, value]) => {
    const place = locate(line, [name]);
    return place === undefined ? [] : [{ ...place, text: JSON.stringify(value) }];
  });
}

function resultLines(
  line: Buffer,
  position: number,
  { missing, links }: RepairPlan,
  { now }: ApplyOptions,
): Buffer[] {
  const calls = missing.get(position);
  if (calls === undefined) return [];
  const asking = { ...parseEntry(line), ...links.get(position) };
  return calls.map((call) =>
    Buffer.from(JSON.stringify(makeResultEntry(asking, call, randomUUID(), now))),
  );
}
