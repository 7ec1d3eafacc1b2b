// Signs requests the way AWS wants it.
import { AwsV4Signer } from "aws4fetch";
import type { RequestSigner } from "./shared/sign.ts";

/** Keys of an AWS account. */
export interface AwsKeys {
  /** Names the keys; no secret. */
  accessKeyId: string;
  /** The secret that signs. */
  secretAccessKey: string;
  /** Belongs to keys that end. Absent: these do not. */
  sessionToken?: string;
}

/** What a signature is made with. */
export interface AwsSignerOptions {
  /** Region of the service, e.g. "eu-west-1". */
  region: string;
  /** Name of the service in signatures. Default: "bedrock". */
  service?: string;
  /** Asked before each try, so that keys may be renewed. */
  keys(): Promise<AwsKeys>;
  /** ms since the epoch. Default: the wall clock. */
  now?: () => number;
}

/**
 * A signer for `streamModel`, by AWS's Signature Version 4.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { awsSigner } from "@clew/providers/signing";
 *
 * const sign = awsSigner({
 *   region: "eu-west-1",
 *   keys: async () => ({ accessKeyId: "AKIAEXAMPLE", secretAccessKey: "secret" }),
 * });
 * const request = { method: "POST" as const, url: "http://127.0.0.1:1/", headers: {}, body: "{}" };
 * const { authorization } = await sign(request, { signal: new AbortController().signal });
 * assert.match(authorization ?? "", /^AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/);
 * ```
 */
export function awsSigner(options: AwsSignerOptions): RequestSigner {
  const { region, service = "bedrock", keys, now = Date.now } = options;
  return async ({ method, url, headers, body }) => {
    const { accessKeyId, secretAccessKey, sessionToken } = await keys();
    const signer = new AwsV4Signer({
      method,
      url,
      // The others may be changed on the way by whoever passes the request on.
      headers: Object.entries(headers).filter(([name]) => name.startsWith("x-amz-")),
      body,
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== undefined && { sessionToken }),
      region,
      service,
      datetime: new Date(now()).toISOString().replace(/[:-]|\.\d{3}/g, ""),
    });
    return Object.fromEntries((await signer.sign()).headers);
  };
}
