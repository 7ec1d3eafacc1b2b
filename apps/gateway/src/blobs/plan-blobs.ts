// Decides from the settings where large bodies are kept.
import { resolve } from "node:path";
import { type Environment, expandVariables } from "../config/environment.ts";
import type { Config } from "../config/schema.ts";

export type BlobsPlan =
  | { kind: "none" }
  | { kind: "folder"; folder: string; prefix: string }
  | {
      kind: "s3";
      url: string;
      bucket: string;
      region: string;
      prefix: string;
      /** Undefined: the credentials of this machine. */
      keys: { accessKeyId: string; secretAccessKey: string } | undefined;
    }
  /** One sentence for each. */
  | { kind: "refused"; problems: readonly string[] };

/** Pure. `region` is that of this machine's AWS credentials; undefined: nobody says. */
export function planBlobs(
  { storage: { blobs } }: Pick<Config, "storage">,
  environment: Pick<Environment, "variable"> & Partial<Pick<Environment, "home">>,
  region?: string,
): BlobsPlan {
  const { folder, bucket } = blobs;
  const prefix = blobs.prefix.replace(/^\/+|\/+$/g, "");
  const below = prefix === "" ? "" : `${prefix}/`;
  const of = (name: string) => `storage.blobs.${name}`;
  const onlyS3 = (["url", "region", "accessKeyId", "secretAccessKey"] as const).filter(
    (name) => blobs[name] !== undefined,
  );
  if (folder !== undefined) {
    const odd = [...(bucket === undefined ? [] : ["bucket"]), ...onlyS3];
    if (odd.length > 0)
      return refused(
        `storage.blobs names a folder and also ${odd.join(" and ")}; keep the folder, or the bucket.`,
      );
    return { kind: "folder", folder: resolve(environment.home ?? ".", folder), prefix: below };
  }
  if (bucket === undefined)
    return onlyS3.length === 0
      ? { kind: "none" }
      : refused(
          `${of(onlyS3[0]!)} is set and no bucket is named; set storage.blobs.bucket, or take it away.`,
        );
  const problems: string[] = [];
  const expanded = (name: "accessKeyId" | "secretAccessKey"): string | undefined => {
    const text = blobs[name];
    if (text === undefined) return undefined;
    const found = expandVariables(text, environment);
    if ("text" in found) return found.text;
    problems.push(
      `${of(name)} names ${found.missing.join(" and ")}, which is not set; set it where the gateway is started, for a service in service.env of the home.`,
    );
    return undefined;
  };
  const [accessKeyId, secretAccessKey] = [expanded("accessKeyId"), expanded("secretAccessKey")];
  if ((blobs.accessKeyId === undefined) !== (blobs.secretAccessKey === undefined))
    problems.push(
      "Only one of storage.blobs.accessKeyId and storage.blobs.secretAccessKey is set; set both, or neither to use the AWS credentials of this machine.",
    );
  if (problems.length > 0) return { kind: "refused", problems };
  const own = blobs.region ?? region ?? "us-east-1";
  return {
    ...{ kind: "s3", bucket, region: own, prefix: below },
    url: (blobs.url ?? `https://s3.${own}.amazonaws.com`).replace(/\/+$/, ""),
    keys:
      accessKeyId === undefined || secretAccessKey === undefined
        ? undefined
        : { accessKeyId, secretAccessKey },
  };
}

const refused = (problem: string): BlobsPlan => ({ kind: "refused", problems: [problem] });
