// A package registry on loopback that npm publishes to and installs from.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

interface PackageManifest {
  name: string;
  version: string;
  [field: string]: unknown;
}

export interface LoopbackRegistry {
  url: string;
  /** Paths that were asked for. */
  requests: string[];
  /** What was published, as "name@version", in order. */
  published: string[];
  /** Offers a package; its newest offer is "latest". */
  offer(manifest: PackageManifest, archive: Buffer): void;
  close(): Promise<void>;
}

/** `upstream` is asked for every package but ours; without it, nothing else exists. */
export async function startLoopbackRegistry({
  upstream,
}: {
  upstream?: string;
} = {}): Promise<LoopbackRegistry> {
  const packages = new Map<string, Record<string, PackageManifest>>();
  const archives = new Map<string, Buffer>();
  const requests: string[] = [];
  const published: string[] = [];

  const offer = (manifest: PackageManifest, archive: Buffer) => {
    const { name, version } = manifest;
    const path = `/${name}/-/${name.replace(/^.*\//, "")}-${version}.tgz`;
    const integrity = `sha512-${createHash("sha512").update(archive).digest("base64")}`;
    archives.set(path, archive);
    const dist = { tarball: `${url}${path}`, integrity };
    packages.set(name, { ...packages.get(name), [version]: { ...manifest, dist } });
    published.push(`${name}@${version}`);
  };

  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(request.url ?? "");
    requests.push(path);
    const answer = (status: number, body: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

    if (request.method === "PUT") {
      const { versions, _attachments } = JSON.parse(await textOf(request)) as {
        versions: Record<string, PackageManifest>;
        _attachments: Record<string, { data: string }>;
      };
      const [manifest] = Object.values(versions);
      const [archive] = Object.values(_attachments);
      const { name, version } = manifest!;
      if (packages.get(name)?.[version] !== undefined)
        return answer(403, { error: `${name}@${version} was published before` });
      offer(manifest!, Buffer.from(archive!.data, "base64"));
      return answer(201, { ok: true });
    }
    const archive = archives.get(path);
    if (archive !== undefined) return response.end(archive);
    const name = path.slice(1);
    const versions = packages.get(name);
    if (versions !== undefined)
      return answer(200, { name, "dist-tags": { latest: Object.keys(versions).at(-1) }, versions });
    if (upstream === undefined || name.startsWith("@clew/"))
      return answer(404, { error: "Not found" });
    return response
      .writeHead(307, { location: `${upstream.replace(/\/$/, "")}${request.url}` })
      .end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    published,
    offer,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}
