// Writes the lines of a repaired file.
import { randomUUID } from "node:crypto";
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
  let number = -1;
  let position = 0;
  for await (const lines of readLines(path)) {
    const parts: Buffer[] = [];
    for (const { bytes } of lines) {
      number++;
      if (number === plan.tornEnd) parts.push(bytes);
      else
        for (const written of plan.instead.get(number) ?? [bytes]) {
          parts.push(mendedLine(written, position, plan, options), NEWLINE);
          for (const result of resultLines(written, position, plan, options))
            parts.push(result, NEWLINE);
          position++;
        }
    }
    yield Buffer.concat(parts);
  }
}

function mendedLine(
  line: Buffer,
  position: number,
  { mended, links, groups }: RepairPlan,
  options: ApplyOptions,
): Buffer {
  const linked = links.get(position);
  const size = groups.get(position);
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
