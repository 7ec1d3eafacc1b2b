// Gets AWS keys the way it was decided.
import { createHash } from "node:crypto";
import { join } from "node:path";
import {
  type AwsCredential,
  type CredentialSource,
  type Reach,
  SignInError,
} from "../credential.ts";
import { askIssuer, objectIn, oddAnswer, textIn } from "../issuer.ts";
import { runProgram } from "../program.ts";
import { awsKeys } from "./keys.ts";
import type { SsoLogin, UsableAwsPlan } from "./plan.ts";
import { holderOf, keysOfRole, keysOfWebIdentity } from "./role.ts";
import { renewedLogin } from "./sso-renewal.ts";

export interface AwsSourceOptions {
  /** The person's home folder. */
  userHome: string;
  /** Where SSO gives out keys. Default: AWS's address for its region. */
  ssoEndpoint: string | undefined;
  /** Where SSO renews a login. Default: AWS's address for its region. */
  ssoOidcEndpoint: string | undefined;
  /** Where roles are taken on. Default: AWS's address for `region`. */
  stsEndpoint: string | undefined;
  /** Where requests go. */
  region: string;
  /** Longest a program may take, ms. */
  commandTimeoutMs: number;
}

export function awsSource(plan: UsableAwsPlan, options: AwsSourceOptions): CredentialSource {
  switch (plan.kind) {
    case "keys": {
      const { from, kind: _kind, ...keys } = plan;
      const credential: AwsCredential = { kind: "aws", expiresAt: null, ...keys };
      return { name: from, account: plan.accessKeyId, obtain: async () => credential };
    }
    case "sso": {
      const { profile, accountId, roleName } = plan.login;
      return {
        name: `AWS profile "${profile}" (SSO)`,
        account: `${accountId}/${roleName}`,
        obtain: (reach) => keysOfLogin(plan.login, reach, options),
      };
    }
    case "role": {
      const by = awsSource(plan.by, options);
      return {
        name: `${holderOf(plan.role)} (a role, by ${by.name})`,
        account: plan.role.arn,
        obtain: async (reach) => {
          const keys = await by.obtain(reach);
          if (keys.kind !== "aws") throw new Error("AWS sources give keys of AWS.");
          return keysOfRole(plan.role, keys, reach, options);
        },
      };
    }
    case "web-identity":
      return {
        name: `${holderOf(plan.role)} (a role, by the file ${plan.tokenFile})`,
        account: plan.role.arn,
        obtain: (reach) => keysOfWebIdentity(plan, reach, options),
      };
    case "program":
      return {
        name: `AWS profile "${plan.profile}" (a program)`,
        account: `profile ${plan.profile}`,
        obtain: async () =>
          keysPrinted(plan.profile, await runProgram(plan.command, options.commandTimeoutMs)),
      };
  }
}

/** The token of the last login buys keys for an hour or so. */
async function keysOfLogin(
  login: SsoLogin,
  reach: Reach,
  { userHome, ssoEndpoint, ssoOidcEndpoint }: AwsSourceOptions,
): Promise<AwsCredential> {
  const { profile, cacheKey, region, accountId, roleName } = login;
  const { fetch, readText } = reach;
  const logIn = `run: aws sso login --profile ${profile}`;
  const name = `${createHash("sha1").update(cacheKey).digest("hex")}.json`;
  const file = join(userHome, ".aws", "sso", "cache", name);
  const cached = objectIn(readText(file) ?? "");
  if (textIn(cached.accessToken) === undefined)
    throw new SignInError(`nobody is logged in to AWS profile "${profile}"; ${logIn}`);
  const token = await renewedLogin({ file, cached, region, endpoint: ssoOidcEndpoint }, reach);
  if (token === undefined)
    throw new SignInError(`the SSO login of AWS profile "${profile}" has ended; ${logIn}`);
  const base = ssoEndpoint ?? `https://portal.sso.${region}.amazonaws.com`;
  const query = new URLSearchParams({ role_name: roleName, account_id: accountId });
  const url = `${base.replace(/\/+$/, "")}/federation/credentials?${query.toString()}`;
  const headers = { "x-amz-sso_bearer_token": token };
  const answer = await askIssuer(fetch, url, { method: "GET", headers });
  const { status, body } = answer;
  if (status === 401)
    throw new SignInError(`AWS no longer takes the SSO login of profile "${profile}"; ${logIn}`);
  const told = objectIn(JSON.stringify(body.roleCredentials ?? {}));
  const keys = awsKeys(told.accessKeyId, told.secretAccessKey, told.sessionToken);
  if (status !== 200 || keys === undefined)
    throw (
      oddAnswer(answer) ??
      new SignInError(
        `AWS gives out no keys for role "${roleName}" in account ${accountId} (${status}); check both in AWS profile "${profile}"`,
      )
    );
  return { ...keys, expiresAt: typeof told.expiration === "number" ? told.expiration : null };
}

function keysPrinted(profile: string, printed: string): AwsCredential {
  const told = objectIn(printed);
  const keys = awsKeys(told.AccessKeyId, told.SecretAccessKey, told.SessionToken);
  if (keys === undefined)
    throw new SignInError(
      `the credential_process of AWS profile "${profile}" printed no keys; run it by hand to see why`,
    );
  const ends = Date.parse(textIn(told.Expiration) ?? "");
  return { ...keys, expiresAt: Number.isNaN(ends) ? null : ends };
}
