// Keeps a credential while it holds, and gets the next one in time.
import { type Credential, type CredentialSource, type Reach, SignInError } from "./credential.ts";

export interface KeptCredential {
  readonly source: CredentialSource;
  /** One that holds for a while; asks its source at most once at a time. */
  get(): Promise<Credential>;
}

/** A credential that ends sooner is replaced before it is used; ms. */
const AHEAD_MS = 5 * 60_000;
/** Of what lives shorter than that, so much of its life is used. */
const USED_SHARE = 0.5;

export function keepCredential(source: CredentialSource, reach: Reach): KeptCredential {
  let kept: { credential: Credential; obtainedAt: number } | undefined;
  let asking: Promise<Credential> | undefined;
  const ask = async () => {
    const credential = await source.obtain(reach);
    if (!holds(credential, reach.now())) throw endedAlready(source, credential);
    kept = { credential, obtainedAt: reach.now() };
    return credential;
  };
  const renew = async () => {
    const before = kept?.credential;
    try {
      return await ask();
    } catch (error) {
      // One that still holds is better than none.
      if (before !== undefined && before === kept?.credential && holds(before, reach.now()))
        return before;
      throw error;
    }
  };
  return {
    source,
    get() {
      if (kept !== undefined && isFresh(kept.credential, kept.obtainedAt, reach.now()))
        return Promise.resolve(kept.credential);
      asking ??= renew().finally(() => {
        asking = undefined;
      });
      return asking;
    },
  };
}

/** Its provider would only refuse it, and say less. */
const endedAlready = ({ name }: CredentialSource, { expiresAt }: Credential): SignInError =>
  new SignInError(
    `${name} gave credentials that ended at ${timeOf(expiresAt)}; renew them there, or correct the clock of this machine`,
  );

const timeOf = (at: number | null): string => new Date(at ?? 0).toISOString();

const holds = ({ expiresAt }: Credential, now: number): boolean =>
  expiresAt === null || now < expiresAt;

function isFresh({ expiresAt }: Credential, obtainedAt: number, now: number): boolean {
  if (expiresAt === null) return true;
  const ahead = Math.min(AHEAD_MS, (expiresAt - obtainedAt) * USED_SHARE);
  return now < expiresAt - ahead;
}
