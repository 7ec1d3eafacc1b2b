// Names an account without telling its key.
import { createHash } from "node:crypto";

/**
 * Fingerprint of the account behind a key, for `ModelRef.account`: the same key gives the same
 * twelve hexadecimal digits, which are of no use for finding it. Where keys are renewed while the
 * account stays, give the account's own name instead of the key.
 */
export function accountFingerprint({
  provider,
  secret,
}: {
  /** As in `ModelRef.provider`: one key at two providers is two accounts. */
  provider: string;
  /** The key, or what names the account. */
  secret: string;
}): string {
  return createHash("sha256").update(`${provider}\n${secret}`).digest("hex").slice(0, 12);
}
