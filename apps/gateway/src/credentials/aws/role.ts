// Takes on a role of AWS with keys that may.
import { awsSigner } from "@clew/providers/signing";
import { type AwsCredential, type Reach, SignInError } from "../credential.ts";
import { askIssuer, objectIn, textIn } from "../issuer.ts";
import { awsKeys } from "./keys.ts";
import type { AwsRole } from "./plan.ts";

export interface RoleOptions {
  /** Default: AWS's address for the region. */
  stsEndpoint: string | undefined;
  /** Where requests go. */
  region: string;
}

export async function keysOfRole(
  role: AwsRole,
  keys: AwsCredential,
  { fetch, now }: Reach,
  options: RoleOptions,
): Promise<AwsCredential> {
  const region = role.region ?? options.region;
  const zone = region.startsWith("cn-") ? ".cn" : "";
  const url = options.stsEndpoint ?? `https://sts.${region}.amazonaws.com${zone}/`;
  const body = new URLSearchParams({
    ...{ Action: "AssumeRole", Version: "2011-06-15" },
    ...{ RoleArn: role.arn, RoleSessionName: role.sessionName },
    ...(role.externalId !== undefined && { ExternalId: role.externalId }),
    ...(role.seconds !== undefined && { DurationSeconds: role.seconds }),
  }).toString();
  const sign = awsSigner({ region, service: "sts", keys: async () => keys, now });
  const request = { method: "POST" as const, url, headers: {}, body };
  const signed = await sign(request, { signal: new AbortController().signal });
  const headers = {
    "content-type": "application/x-www-form-urlencoded",
    accept: "application/json",
    ...signed,
  };
  const { status, body: told } = await askIssuer(fetch, url, { method: "POST", headers, body });
  const response = record(record(told.AssumeRoleResponse).AssumeRoleResult);
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = record(response.Credentials);
  const found = awsKeys(AccessKeyId, SecretAccessKey, SessionToken);
  if (status === 200 && found !== undefined)
    return { ...found, expiresAt: typeof Expiration === "number" ? Expiration * 1000 : null };
  const code = textIn(record(told.Error).Code) ?? String(status);
  throw new SignInError(
    `AWS does not let AWS profile "${role.profile}" take on the role ${role.arn} (${code}); see what its source profile may do, and whom the role trusts`,
  );
}

const record = (value: unknown) => objectIn(JSON.stringify(value ?? {}));
