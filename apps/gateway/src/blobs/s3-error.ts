// Says in a sentence what an answer of S3-compatible storage means, and what to do.
import { ContextEngineError } from "@clew/plugin-sdk/core";

/** Where objects are, for people. */
export interface S3Place {
  /** Scheme and host. */
  url: string;
  bucket: string;
  region: string;
}

/** What was to be done, and the right that it needs. */
export const DOES = {
  PUT: { verb: "store", right: "s3:PutObject" },
  GET: { verb: "read", right: "s3:GetObject" },
  LIST: { verb: "list", right: "s3:ListBucket" },
  DELETE: { verb: "delete", right: "s3:DeleteObject" },
} as const;
export type S3Action = keyof typeof DOES;

/** Pure. Worth another attempt: it is busy, or failed by itself. */
export const mayPass = (status: number): boolean =>
  status >= 500 || status === 429 || status === 408;

/** Pure. The code in the answer's text; "" = it has none. */
export const codeIn = (text: string): string =>
  /<Code>([\w.-]{1,80})<\/Code>/.exec(text)?.[1] ?? "";

/** Pure. Of an answer that is no success. */
export function refusal(
  { url, bucket, region }: S3Place,
  action: S3Action,
  { status, code }: { status: number; code: string },
): ContextEngineError {
  const { verb, right } = DOES[action];
  const said = `${status}${code === "" ? "" : ` ${code}`}`;
  const place = `the bucket "${bucket}" at ${url}`;
  if (code === "NoSuchBucket")
    return failed(`There is no bucket "${bucket}" at ${url}; make it, or correct storage.blobs.`);
  if (code === "RequestTimeTooSkewed")
    return failed(`The clock of this machine is too far from that of ${url} (${said}); set it.`);
  if (code === "SignatureDoesNotMatch" || code === "InvalidAccessKeyId")
    return failed(
      `The keys for ${place} are wrong (${said}); correct storage.blobs.accessKeyId and secretAccessKey, or the AWS credentials of this machine.`,
    );
  if (status === 301 || code === "AuthorizationHeaderMalformed")
    return failed(
      `The bucket "${bucket}" is not in the region "${region}" that ${url} was asked in (${said}); correct storage.blobs.region and url.`,
    );
  if (status === 401 || status === 403)
    return failed(
      `The keys for ${place} may not ${verb} objects (${said}); grant them ${right}, or name others in storage.blobs.`,
    );
  return failed(
    `The blob storage ${place} did not ${verb} an object (${said}); look at it, it may pass.`,
  );
}

/** Pure. Of a request without an answer. */
export function silence({ url, bucket }: S3Place, error: unknown): ContextEngineError {
  const found = causeOf(error);
  return new ContextEngineError(
    "STORAGE_FAILED",
    `The blob storage at ${url}, with the bucket "${bucket}", does not answer${found === "" ? "" : ` (${found})`}; start it, or correct storage.blobs.`,
    { cause: error },
  );
}

function causeOf(error: unknown): string {
  const { cause = error, name } = error as { cause?: unknown; name?: string };
  if (name === "TimeoutError") return "in time";
  return (cause as { code?: string }).code ?? "";
}

const failed = (sentence: string) => new ContextEngineError("STORAGE_FAILED", sentence);
