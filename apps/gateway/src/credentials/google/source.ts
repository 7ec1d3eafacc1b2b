// Gets an access token of Google the way it was decided.
import { createSign } from "node:crypto";
import {
  type CredentialSource,
  type KeyCredential,
  type Reach,
  SignInError,
} from "../credential.ts";
import { askIssuer, type IssuerAnswer, oddAnswer, textIn } from "../issuer.ts";
import { federatedToken } from "./federation.ts";
import { GOOGLE_TOKENS, type GooglePlan } from "./plan.ts";

export interface GoogleSourceOptions {
  /** Where tokens are given out. Default: what the credentials say, or Google's address. */
  tokenEndpoint: string | undefined;
  /** Host of the server of the machine. */
  metadataHost: string;
}

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const HOUR_S = 3600;

type Usable = Exclude<GooglePlan, { kind: "missing" }>;
/** What is got with one request. */
type Simple = Exclude<Usable, { kind: "federated" }>;

export function googleSource(plan: Usable, options: GoogleSourceOptions): CredentialSource {
  if (plan.kind === "federated")
    return {
      ...named(plan),
      obtain: (reach) => federatedToken(plan, reach, options.tokenEndpoint),
    };
  return {
    ...named(plan),
    obtain: async (reach) => tokenIn(await ask(plan, reach, options), plan, reach.now()),
  };
}

function named(plan: Usable): Pick<CredentialSource, "name" | "account"> {
  switch (plan.kind) {
    case "service-account":
      return { name: `Google service account ${plan.email}`, account: plan.email };
    case "person":
      return { name: `Google login in ${plan.file}`, account: plan.clientId };
    case "federated":
      return { name: `federated Google login in ${plan.file}`, account: plan.federation.audience };
    case "machine":
      return { name: "the Google account of this machine", account: "machine" };
  }
}

function ask(plan: Simple, reach: Reach, options: GoogleSourceOptions): Promise<IssuerAnswer> {
  switch (plan.kind) {
    case "service-account": {
      const url = options.tokenEndpoint ?? plan.tokenUri;
      const assertion = signedClaim(plan, url, Math.floor(reach.now() / 1000));
      const grant_type = "urn:ietf:params:oauth:grant-type:jwt-bearer";
      return post(reach, url, { grant_type, assertion });
    }
    case "person":
      return post(reach, options.tokenEndpoint ?? GOOGLE_TOKENS, {
        grant_type: "refresh_token",
        client_id: plan.clientId,
        client_secret: plan.clientSecret,
        refresh_token: plan.refreshToken,
      });
    case "machine": {
      const url = `http://${options.metadataHost}/computeMetadata/v1/instance/service-accounts/default/token`;
      const headers = { "metadata-flavor": "Google" };
      return askIssuer(reach.fetch, url, { method: "GET", headers });
    }
  }
}

const post = ({ fetch }: Reach, url: string, form: Record<string, string>): Promise<IssuerAnswer> =>
  askIssuer(fetch, url, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(form).toString(),
  });

/** A claim to be the account, by its key, for an hour. */
function signedClaim(
  { email, privateKey, file }: Extract<Usable, { kind: "service-account" }>,
  audience: string,
  nowS: number,
): string {
  const claims = { iss: email, scope: SCOPE, aud: audience, iat: nowS, exp: nowS + HOUR_S };
  const said = [{ alg: "RS256", typ: "JWT" }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  try {
    return `${said}.${createSign("RSA-SHA256").update(said).sign(privateKey, "base64url")}`;
  } catch {
    throw new SignInError(`the private key in ${file} cannot be read; download the file again`);
  }
}

function tokenIn(answer: IssuerAnswer, plan: Simple, now: number): KeyCredential {
  const { status, body } = answer;
  const key = textIn(body.access_token);
  const { expires_in: seconds, error } = body;
  if (status === 200 && key !== undefined) {
    const expiresAt = typeof seconds === "number" ? now + seconds * 1000 : null;
    return { kind: "key", key, expiresAt };
  }
  const odd = oddAnswer(answer);
  if (odd !== undefined) throw odd;
  const what = textIn(error) ?? String(status);
  switch (plan.kind) {
    case "service-account":
      throw new SignInError(
        `Google refuses the service account ${plan.email} (${what}); see whether its key in ${plan.file} still exists, and the clock of this machine`,
      );
    case "person":
      throw new SignInError(
        `Google no longer takes the login in ${plan.file} (${what}); run: gcloud auth application-default login`,
      );
    case "machine":
      throw new SignInError(
        `this machine has no Google account to give (${what}); give it one, or turn google.metadataServer off`,
      );
  }
}
