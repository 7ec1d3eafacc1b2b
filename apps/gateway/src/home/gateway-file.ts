// The file `gateway.json`, which says which process serves a home, and where.
import { randomUUID } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const GatewayFileSchema = z.object({
  port: z.number().int().min(1).max(65_535),
  pid: z.number().int().positive(),
  /** When the process started, as `processStart` tells it: a reused pid is another process. */
  started: z.string().min(1),
  /** Name of the machine; only there does the pid mean anything. */
  host: z.string().min(1),
  secret: z.string().regex(/^[0-9a-f]{64}$/),
});
export type GatewayFile = z.infer<typeof GatewayFileSchema>;

/** Only the account that runs the gateway may read it, from its first byte on. */
export function writeGatewayFile(home: string, content: GatewayFile): void {
  const draft = `${gatewayFile(home)}.draft-${randomUUID()}`;
  try {
    writeFileSync(draft, JSON.stringify(content), { flag: "wx", mode: 0o600 });
    renameSync(draft, gatewayFile(home));
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Null when there is none, or none that can be read. The process it names may be gone. */
export function readGatewayFile(home: string): GatewayFile | null {
  try {
    return GatewayFileSchema.parse(JSON.parse(readFileSync(gatewayFile(home), "utf8")));
  } catch {
    return null;
  }
}

/** Leaves the file of another gateway alone. */
export function removeGatewayFile(home: string, secret: string): void {
  if (readGatewayFile(home)?.secret === secret) rmSync(gatewayFile(home), { force: true });
}

const gatewayFile = (home: string) => join(home, "gateway.json");
