// What a store needs of the place where large bodies are kept.

/** Bytes by the agent whose they are and the SHA-256 of them. */
export interface BlobName {
  /** Whose they are. */
  agentId: string;
  /** SHA-256, in hex. */
  hash: string;
}

/**
 * Keeps bytes under the name that they have by themselves. What cannot be done is told by a
 * STORAGE_FAILED: one sentence, with what to do.
 */
export interface Blobs {
  /** For people: where it is, without a secret. */
  readonly place: string;
  /** Durable when it resolves; the same bytes put again change nothing. */
  put(name: BlobName, bytes: Uint8Array): Promise<void>;
  /** All, or those from one place up to before another; null: they are not there. */
  get(name: BlobName, range?: readonly [from: number, to: number]): Promise<Uint8Array | null>;
  /** Hashes of an agent in order, some at a time, behind one (null = the first); none: all told. */
  list(agentId: string, after: string | null): Promise<string[]>;
  /** What is not there is no error. */
  drop(agentId: string, hashes: readonly string[]): Promise<void>;
}
