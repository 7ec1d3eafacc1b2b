// The file `gateway.json`, which says which process serves a home, and where.
import { randomUUID } from "node:crypto";
import {
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { isCopy, PlaceSchema, placeOf } from "../locks/file-place.ts";
import { fromJson, toJson } from "../own-json.ts";

const GatewayFileSchema = z.object({
  port: z.number().int().min(1).max(65_535),
  pid: z.number().int().positive(),
  /** When the process started, where that can be told: a reused pid is another process. */
  started: z.string().min(1).nullable(),
  /** Name of the machine; only there does the pid mean anything. */
  host: z.string().min(1),
  secret: z.string().regex(/^[0-9a-f]{64}$/),
  /** Its folder is the home, by the hash that the gateway answers to `/api/health`. */
  place: PlaceSchema,
});

export type GatewayFile = z.infer<typeof GatewayFileSchema>;

export type FoundGatewayFile =
  /** The process it names may be gone. */
  | { kind: "found"; file: GatewayFile }
  /** It came here with a copy of another home, and says nothing about this one. */
  | { kind: "copied" }
  | { kind: "missing" }
  | { kind: "unreadable" };

export const gatewayFile = (home: string) => join(home, "gateway.json");

/** Only the account that runs the gateway may read it, from its first byte on. */
export function writeGatewayFile(home: string, content: Omit<GatewayFile, "place">): void {
  const draft = `${gatewayFile(home)}.draft-${randomUUID()}`;
  try {
    const descriptor = openSync(draft, "wx", 0o600);
    try {
      const place = placeOf(draft, fstatSync(descriptor, { bigint: true }));
      writeSync(descriptor, toJson({ ...content, place } satisfies GatewayFile));
    } finally {
      closeSync(descriptor);
    }
    renameSync(draft, gatewayFile(home));
  } finally {
    rmSync(draft, { force: true });
  }
}

export function findGatewayFile(home: string): FoundGatewayFile {
  let descriptor: number;
  try {
    descriptor = openSync(gatewayFile(home), "r");
  } catch (error) {
    return { kind: (error as NodeJS.ErrnoException).code === "ENOENT" ? "missing" : "unreadable" };
  }
  try {
    const file = GatewayFileSchema.parse(fromJson(readFileSync(descriptor, "utf8")));
    const here = placeOf(gatewayFile(home), fstatSync(descriptor, { bigint: true }));
    return isCopy(file.place, here) ? { kind: "copied" } : { kind: "found", file };
  } catch {
    return { kind: "unreadable" };
  } finally {
    closeSync(descriptor);
  }
}

/** Null when there is none of this home, or none that can be read. */
export function readGatewayFile(home: string): GatewayFile | null {
  const found = findGatewayFile(home);
  return found.kind === "found" ? found.file : null;
}

/** Leaves the file of another gateway alone. */
export function removeGatewayFile(home: string, secret: string): void {
  if (readGatewayFile(home)?.secret === secret) rmSync(gatewayFile(home), { force: true });
}
