// Opens the place for large bodies that the settings name.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { Blobs } from "@clew/store-postgres";
import type { Environment } from "../config/environment.ts";
import type { Config } from "../config/schema.ts";
import { awsFactsOf } from "../credentials/addresses.ts";
import { awsRegion, planAws } from "../credentials/aws/plan.ts";
import { awsSource } from "../credentials/aws/source.ts";
import { keepCredential } from "../credentials/keep.ts";
import { folderBlobs } from "./folder.ts";
import { type BlobsPlan, planBlobs } from "./plan-blobs.ts";
import type { S3Keys } from "./s3.ts";

type Facts = Pick<Environment, "home" | "variable" | "userHome" | "readText">;

/** The plan with what this machine says of AWS. */
export const planBlobsHere = (config: Config, environment: Facts): BlobsPlan =>
  planBlobs(config, environment, awsRegion(awsFactsOf(undefined, environment)));

/**
 * Of a database: what several of them keep in one place is apart. Undefined: nothing is kept
 * elsewhere. Throws CONFIG_INVALID, and asks no network.
 */
export async function openBlobs(
  config: Config,
  environment: Facts,
): Promise<((clusterId: string) => Blobs) | undefined> {
  const plan = planBlobsHere(config, environment);
  switch (plan.kind) {
    case "none":
      return undefined;
    case "refused":
      throw new ContextEngineError("CONFIG_INVALID", plan.problems.join(" "));
    case "folder":
      return (clusterId) =>
        folderBlobs({ folder: plan.folder, prefix: `${plan.prefix}${clusterId}/` });
    case "s3": {
      // Only here: nothing else needs what signs.
      const { s3Blobs } = await import("./s3.ts");
      const keys = keysFor(plan, environment);
      return (clusterId) => s3Blobs({ ...plan, prefix: `${plan.prefix}${clusterId}/`, keys });
    }
  }
}

/** Asked before each request. Throws STORAGE_FAILED where this machine has none. */
function keysFor(
  { keys, region, bucket }: Extract<BlobsPlan, { kind: "s3" }>,
  environment: Facts,
): () => Promise<S3Keys> {
  if (keys !== undefined) return async () => keys;
  const { userHome, readText, variable } = environment;
  const plan = planAws(awsFactsOf(undefined, environment));
  if (plan.kind === "missing")
    throw new ContextEngineError(
      "CONFIG_INVALID",
      `There are no keys for the bucket "${bucket}" of storage.blobs: ${plan.why}; or set storage.blobs.accessKeyId and secretAccessKey.`,
    );
  const source = awsSource(plan, {
    ...{ userHome, region, commandTimeoutMs: 30_000 },
    ssoEndpoint: variable("AWS_ENDPOINT_URL_SSO"),
    ssoOidcEndpoint: variable("AWS_ENDPOINT_URL_SSO_OIDC"),
    stsEndpoint: variable("AWS_ENDPOINT_URL_STS"),
  });
  const kept = keepCredential(source, { fetch, now: Date.now, readText });
  return async () => {
    const credential = await kept.get().catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw new ContextEngineError(
        "STORAGE_FAILED",
        `The keys for the bucket "${bucket}" of storage.blobs cannot be had: ${why}.`,
        { cause: error },
      );
    });
    if (credential.kind !== "aws") throw new Error("AWS sources give keys of AWS.");
    return credential;
  };
}
