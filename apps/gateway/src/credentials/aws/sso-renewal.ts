// Renews an SSO login that has ended, as AWS's own program would.
import type { Reach } from "../credential.ts";
import { askIssuer, textIn } from "../issuer.ts";

export interface CachedLogin {
  /** Where it is kept. */
  file: string;
  /** What that file holds. */
  cached: Readonly<Record<string, unknown>>;
  region: string;
  /** Default: AWS's address for the region. */
  endpoint: string | undefined;
}

/** Tokens that end sooner are renewed before they are used; ms. */
const AHEAD_MS = 5 * 60_000;

/** Its token; undefined when it has ended and cannot be renewed. */
export async function renewedLogin(
  { file, cached, region, endpoint }: CachedLogin,
  { fetch, now, keepText }: Reach,
): Promise<string | undefined> {
  const ends = timeOf(cached.expiresAt);
  const token = textIn(cached.accessToken);
  if (now() < ends - AHEAD_MS) return token;
  const still = now() < ends ? token : undefined;
  const [refreshToken, clientId, clientSecret] = [
    cached.refreshToken,
    cached.clientId,
    cached.clientSecret,
  ].map(textIn);
  const isRegistered = now() < timeOf(cached.registrationExpiresAt);
  // What a login is renewed with is used up by it: the next one must be kept.
  if (keepText === undefined || !isRegistered) return still;
  if (!refreshToken || !clientId || !clientSecret) return still;
  const { status, body } = await askIssuer(
    fetch,
    `${(endpoint ?? `https://oidc.${region}.amazonaws.com`).replace(/\/+$/, "")}/token`,
    {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ clientId, clientSecret, grantType: "refresh_token", refreshToken }),
    },
  );
  const { accessToken, expiresIn, refreshToken: next } = body;
  const renewed = textIn(accessToken);
  if (status !== 200 || renewed === undefined || typeof expiresIn !== "number") return still;
  const expiresAt = new Date(now() + expiresIn * 1000).toISOString().replace(/\.\d{3}Z$/, "Z");
  const kept = { ...cached, accessToken, expiresAt, refreshToken: textIn(next) ?? refreshToken };
  keepText(file, JSON.stringify(kept));
  return renewed;
}

/** Older programs of AWS wrote the zone as a word. Never, for what is no time. */
const timeOf = (value: unknown): number => {
  const at = Date.parse((textIn(value) ?? "").replace(/UTC$/, "Z"));
  return Number.isNaN(at) ? Number.NEGATIVE_INFINITY : at;
};
