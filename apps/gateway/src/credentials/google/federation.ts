// Trades a token that somebody else gave out for one of Google's.
import { type KeyCredential, type Reach, SignInError } from "../credential.ts";
import { askIssuer, objectIn, oddAnswer, textIn } from "../issuer.ts";

/** What a file of federated credentials tells. */
export interface Federation {
  audience: string;
  /** Kind of the token that is traded in. */
  subjectType: string;
  tokenUrl: string;
  /** Of the service account that is acted for. Absent: none is. */
  impersonationUrl?: string;
  subject: Subject;
}

/** Where the other's token is. */
export interface Subject {
  from: { file: string } | { url: string; headers: Readonly<Record<string, string>> };
  /** Its name in a JSON answer. Absent: all of the text is the token. */
  field?: string;
}

/** Undefined for one that is incomplete, or whose token a program has to make. */
export function planFederation(told: Readonly<Record<string, unknown>>): Federation | undefined {
  const source = objectIn(JSON.stringify(told.credential_source ?? {}));
  const format = objectIn(JSON.stringify(source.format ?? {}));
  const [audience, subjectType, tokenUrl] = [
    told.audience,
    told.subject_token_type,
    told.token_url,
  ].map(textIn);
  const from = subjectFrom(source);
  const field = format.type === "json" ? textIn(format.subject_token_field_name) : undefined;
  const isWhole = format.type !== "json" || field !== undefined;
  if (!audience || !subjectType || !tokenUrl || from === undefined || !isWhole) return undefined;
  const impersonationUrl = textIn(told.service_account_impersonation_url);
  // Whoever changed the file must not be sent tokens.
  if (![tokenUrl, impersonationUrl].every((url) => url === undefined || isGoogles(url)))
    return undefined;
  return {
    ...{ audience, subjectType, tokenUrl },
    ...(impersonationUrl !== undefined && { impersonationUrl }),
    subject: { from, ...(field !== undefined && { field }) },
  };
}

function subjectFrom(source: Readonly<Record<string, unknown>>): Subject["from"] | undefined {
  const [file, url] = [source.file, source.url].map(textIn);
  if (file !== undefined) return { file };
  // AWS's own servers are asked in another way.
  if (url === undefined || source.environment_id !== undefined) return undefined;
  const headers = Object.entries(objectIn(JSON.stringify(source.headers ?? {}))).flatMap(
    ([name, value]) => (typeof value === "string" ? [[name, value] as const] : []),
  );
  return { url, headers: Object.fromEntries(headers) };
}

const isGoogles = (url: string): boolean => {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: "", hostname: "" };
  return protocol === "https:" && hostname.endsWith(".googleapis.com");
};

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";

/** `tokenEndpoint` stands in for Google's addresses. */
export async function federatedToken(
  { federation, file }: { federation: Federation; file: string },
  reach: Reach,
  tokenEndpoint: string | undefined,
): Promise<KeyCredential> {
  const { audience, subjectType, tokenUrl, impersonationUrl } = federation;
  const form = {
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    ...{ audience, scope: SCOPE, requested_token_type: ACCESS_TOKEN },
    ...{ subject_token: await subjectToken(federation, file, reach) },
    subject_token_type: subjectType,
  };
  const traded = await askIssuer(reach.fetch, tokenEndpoint ?? tokenUrl, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(form).toString(),
  });
  const key = textIn(traded.body.access_token);
  if (traded.status !== 200 || key === undefined)
    throw (
      oddAnswer(traded) ??
      refusal(file, "does not take the token", textIn(traded.body.error) ?? traded.status)
    );
  const { expires_in: seconds } = traded.body;
  const expiresAt = typeof seconds === "number" ? reach.now() + seconds * 1000 : null;
  if (impersonationUrl === undefined) return { kind: "key", key, expiresAt };
  const url =
    tokenEndpoint === undefined
      ? impersonationUrl
      : `${new URL(tokenEndpoint).origin}${new URL(impersonationUrl).pathname}`;
  const acted = await askIssuer(reach.fetch, url, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ scope: [SCOPE] }),
  });
  const token = textIn(acted.body.accessToken);
  if (acted.status !== 200 || token === undefined)
    throw oddAnswer(acted) ?? refusal(file, "gives no token of the service account", acted.status);
  const ends = Date.parse(textIn(acted.body.expireTime) ?? "");
  return { kind: "key", key: token, expiresAt: Number.isNaN(ends) ? null : ends };
}

const refusal = (file: string, what: string, code: unknown) =>
  new SignInError(
    `Google ${what} that ${file} speaks of (${String(code)}); see whether its pool, provider and service account still exist`,
  );

async function subjectToken(
  { subject: { from, field } }: Federation,
  file: string,
  { fetch, readText }: Reach,
): Promise<string> {
  let text: string | undefined;
  if ("file" in from) text = readText(from.file);
  else {
    const { status, text: said } = await askIssuer(fetch, from.url, {
      method: "GET",
      headers: { ...from.headers },
    });
    text = status === 200 ? said : undefined;
  }
  const token = field === undefined ? text?.trim() : textIn(objectIn(text ?? "")[field]);
  if (token) return token;
  const where = "file" in from ? from.file : new URL(from.url).origin;
  throw new SignInError(
    `there is no token at ${where}, where ${file} says it is; run what puts one there`,
  );
}
