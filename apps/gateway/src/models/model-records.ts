// Keeps one record for each model in a small JSON file of the home.
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { LogPort } from "@clew/engine-core";
import { z } from "zod";
import { writeOwnNow } from "../home/own-writes.ts";
import { fromJson, toJson } from "../own-json.ts";

const FileSchema = z.object({ v: z.literal(1), models: z.record(z.string(), z.unknown()) });

type Records<Value> = Readonly<Record<string, Value>>;

/** Read and written without a pause: several sessions may change it at once. */
export interface ModelRecords<Value> {
  /**
   * Read anew each time, because another process may change some; what cannot be understood is left
   * out, and a missing file holds nothing.
   */
  all(): Records<Value>;
  /** Throws what the disk throws. */
  write(models: Records<Value>): void;
  /** False: the file could not be written, which is logged. */
  tryWrite(models: Records<Value>): boolean;
}

export function createModelRecords<Value>({
  home,
  name,
  schema,
  log,
}: {
  home: string;
  /** Of the file in the home. */
  name: string;
  schema: z.ZodType<Value>;
  log: LogPort;
}): ModelRecords<Value> {
  const file = join(home, name);
  const write = (models: Records<Value>) => {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    writeOwnNow(file, `${toJson({ v: 1, models }, null, 2)}\n`);
  };
  return {
    all: () => readRecords(file, schema),
    write,
    tryWrite(models) {
      try {
        write(models);
        return true;
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        log.warn(`${file} could not be written: ${why}`);
        return false;
      }
    },
  };
}

function readRecords<Value>(file: string, schema: z.ZodType<Value>): Records<Value> {
  try {
    // Mostly there is none, and to be told so by an error takes longer than to ask.
    if (statSync(file, { throwIfNoEntry: false }) === undefined) return {};
    const { models } = FileSchema.parse(fromJson(readFileSync(file, "utf8")));
    return Object.fromEntries(
      Object.entries(models).flatMap(([model, record]) => {
        const { data } = schema.safeParse(record);
        return data === undefined ? [] : [[model, data]];
      }),
    );
  } catch {
    return {};
  }
}
