// Takes on a role of AWS, with keys that may or with a token.
import { awsSigner } from "@clew/providers/signing";
import { type AwsCredential, type Reach, SignInError } from "../credential.ts";
import { askIssuer, objectIn, oddAnswer, textIn } from "../issuer.ts";
import { awsKeys } from "./keys.ts";
import type { AwsRole } from "./plan.ts";

export interface RoleOptions {
  /** Default: AWS's address for the region. */
  stsEndpoint: string | undefined;
  /** Where requests go. */
  region: string;
}

/** Keys for a role, by keys that may take it on. */
export async function keysOfRole(
  role: AwsRole,
  keys: AwsCredential,
  reach: Reach,
  options: RoleOptions,
): Promise<AwsCredential> {
  const form = {
    Action: "AssumeRole",
    ...(role.externalId !== undefined && { ExternalId: role.externalId }),
  };
  const { now } = reach;
  return askSts(role, reach, options, {
    form,
    async signed(request, region) {
      const sign = awsSigner({ region, service: "sts", keys: async () => keys, now });
      return sign(request, { signal: new AbortController().signal });
    },
    advice: "see what its source profile may do, and whom the role trusts",
  });
}

/** Keys for a role, by a token that somebody else renews in its file; the request is not signed. */
export async function keysOfWebIdentity(
  { role, tokenFile }: { role: AwsRole; tokenFile: string },
  reach: Reach,
  options: RoleOptions,
): Promise<AwsCredential> {
  const token = reach.readText(tokenFile)?.trim() ?? "";
  if (token === "")
    throw new SignInError(
      `the file ${tokenFile}, which should hold the token for the role ${role.arn}, is not there or empty; see what mounts it`,
    );
  return askSts(role, reach, options, {
    form: { Action: "AssumeRoleWithWebIdentity", WebIdentityToken: token },
    signed: async () => ({}),
    advice: "see whom the role trusts, and whether the token is the one it wants",
  });
}

interface StsQuestion {
  form: { Action: string } & Record<string, string>;
  signed(
    request: { method: "POST"; url: string; headers: Record<string, string>; body: string },
    region: string,
  ): Promise<Record<string, string>>;
  /** Completes the sentence of a refusal. */
  advice: string;
}

async function askSts(
  role: AwsRole,
  { fetch }: Reach,
  options: RoleOptions,
  { form, signed, advice }: StsQuestion,
): Promise<AwsCredential> {
  const region = role.region ?? options.region;
  const zone = region.startsWith("cn-") ? ".cn" : "";
  const url = options.stsEndpoint ?? `https://sts.${region}.amazonaws.com${zone}/`;
  const { Action: action } = form;
  const body = new URLSearchParams({
    ...{ ...form, Version: "2011-06-15" },
    ...{ RoleArn: role.arn, RoleSessionName: role.sessionName },
    ...(role.seconds !== undefined && { DurationSeconds: role.seconds }),
  }).toString();
  const headers = {
    "content-type": "application/x-www-form-urlencoded",
    accept: "application/json",
    ...(await signed({ method: "POST", url, headers: {}, body }, region)),
  };
  const answer = await askIssuer(fetch, url, { method: "POST", headers, body });
  const { status, body: told } = answer;
  const response = record(record(told[`${action}Response`])[`${action}Result`]);
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = record(response.Credentials);
  const found = awsKeys(AccessKeyId, SecretAccessKey, SessionToken);
  if (status === 200 && found !== undefined)
    return { ...found, expiresAt: typeof Expiration === "number" ? Expiration * 1000 : null };
  const code = textIn(record(told.Error).Code);
  const odd = code === undefined ? oddAnswer(answer) : undefined;
  if (odd !== undefined) throw odd;
  throw new SignInError(
    `AWS does not let ${holderOf(role)} take on the role ${role.arn} (${code ?? status}); ${advice}`,
  );
}

/** Who takes it on, for people. */
export const holderOf = ({ profile }: AwsRole): string =>
  profile === undefined ? "the token of the environment" : `AWS profile "${profile}"`;

const record = (value: unknown) => objectIn(JSON.stringify(value ?? {}));
