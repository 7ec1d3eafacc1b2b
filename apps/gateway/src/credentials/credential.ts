// What a provider is signed in to with, and where it comes from.

/** A key or token, for the header in which its provider wants it. */
export interface KeyCredential {
  kind: "key";
  key: string;
  /** ms since the epoch; null = it does not say. */
  expiresAt: number | null;
}

/** Keys that sign requests to AWS. */
export interface AwsCredential {
  kind: "aws";
  accessKeyId: string;
  secretAccessKey: string;
  /** Of keys that end. */
  sessionToken?: string;
  /** ms since the epoch; null = it does not say. */
  expiresAt: number | null;
}

export type Credential = KeyCredential | AwsCredential;

/** What a source may use to reach the world. */
export interface Reach {
  fetch: typeof globalThis.fetch;
  /** ms since the epoch. */
  now(): number;
  /** The text of a small file; undefined when it cannot be read. */
  readText(file: string): string | undefined;
  /** Replaces a small file, for its owner's eyes. Absent: nothing is written, nor renewed. */
  keepText?(file: string, text: string): void;
}

/** A place credentials come from. */
export interface CredentialSource {
  /** For people, without a secret; completes "signs in with …". */
  readonly name: string;
  /** Names the account; no secret either. */
  readonly account: string;
  /** Anew each time. Throws a `SignInError`. */
  obtain(reach: Reach): Promise<Credential>;
}

/** Why there is no credential: what is wrong and what to do, without a secret. */
export class SignInError extends Error {
  override readonly name = "SignInError";
}
