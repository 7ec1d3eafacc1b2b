// A registry on loopback from which npm installs in tests.
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { startLoopbackRegistry } from "./registry.ts";

export interface TestRegistry {
  /** Packs a folder and offers it; the last one is "latest". */
  publish(folder: string): void;
  /** Paths npm asked for. */
  requests: string[];
}

/** npm of this process uses it until the test ends. */
export async function startRegistry(scratch: string): Promise<TestRegistry> {
  const registry = await startLoopbackRegistry();
  onTestFinished(() => registry.close());
  useRegistry(registry.url, scratch);
  return {
    requests: registry.requests,
    publish(folder) {
      const archive = archiveOf(folder, scratch);
      registry.offer(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")), archive);
    },
  };
}

/** Points npm at `url` and gives it a cache of its own until the test ends. */
export function useRegistry(url: string, scratch: string): void {
  const settings = {
    npm_config_registry: url,
    npm_config_cache: join(scratch, "npm-cache"),
    npm_config_userconfig: join(scratch, "npmrc"),
  };
  const before = Object.fromEntries(Object.keys(settings).map((name) => [name, process.env[name]]));
  Object.assign(process.env, settings);
  onTestFinished(() => {
    for (const [name, value] of Object.entries(before))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });
}

/** A tarball of the whole folder, as `npm pack` makes one; that takes ten times as long. */
function archiveOf(folder: string, scratch: string): Buffer {
  const staging = mkdtempSync(join(scratch, "pack-"));
  cpSync(folder, join(staging, "package"), { recursive: true });
  const file = join(staging, "archive.tgz");
  execFileSync("tar", ["-czf", file, "-C", staging, "package"]);
  return readFileSync(file);
}

/** The archive `npm pack` makes of a folder. */
export function packFolder(folder: string, into: string): string {
  const args = ["pack", "--ignore-scripts", "--silent", "--json", "--pack-destination", into];
  const packed: unknown = JSON.parse(
    execFileSync("npm", args, {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }),
  );
  const [first] = Object.values(packed as object) as { filename: string }[];
  return join(into, first!.filename.replace(/^@/, "").replace("/", "-"));
}
