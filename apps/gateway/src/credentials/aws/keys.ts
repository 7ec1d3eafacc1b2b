// Reads keys of AWS out of what a server or a program told.
import type { AwsCredential } from "../credential.ts";
import { textIn } from "../issuer.ts";

/** Undefined when one of the two is missing. */
export function awsKeys(
  accessKeyId: unknown,
  secretAccessKey: unknown,
  sessionToken: unknown,
): Omit<AwsCredential, "expiresAt"> | undefined {
  const [id, secret, session] = [accessKeyId, secretAccessKey, sessionToken].map(textIn);
  if (id === undefined || secret === undefined) return undefined;
  return {
    kind: "aws",
    accessKeyId: id,
    secretAccessKey: secret,
    ...(session !== undefined && { sessionToken: session }),
  };
}
