// A registry on loopback from which npm installs in tests.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export interface TestRegistry {
  /** Packs a folder as its package.json says and offers it; the last one is "latest". */
  publish(folder: string): void;
  /** Paths npm asked for. */
  requests: string[];
}

/** npm of this process uses it until the test ends. */
export async function startRegistry(scratch: string): Promise<TestRegistry> {
  const packages = new Map<string, { latest: string; versions: Record<string, object> }>();
  const archives = new Map<string, Buffer>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "");
    requests.push(path);
    const archive = archives.get(path);
    if (archive !== undefined) return response.end(archive);
    const found = packages.get(path.slice(1));
    response.writeHead(found === undefined ? 404 : 200, { "content-type": "application/json" });
    const { latest, versions } = found ?? {};
    return response.end(
      JSON.stringify(
        found === undefined
          ? { error: "Not found" }
          : { name: path.slice(1), "dist-tags": { latest }, versions },
      ),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  useRegistry(url, scratch);
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  return {
    requests,
    publish(folder) {
      const archive = readFileSync(packFolder(folder, scratch));
      const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
        name: string;
        version: string;
      };
      const path = `/archives/${manifest.name.replace("/", "-")}-${manifest.version}.tgz`;
      archives.set(path, archive);
      const dist = {
        tarball: `${url}${path}`,
        integrity: `sha512-${createHash("sha512").update(archive).digest("base64")}`,
      };
      const versions = {
        ...packages.get(manifest.name)?.versions,
        [manifest.version]: { ...manifest, dist },
      };
      packages.set(manifest.name, { latest: manifest.version, versions });
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
