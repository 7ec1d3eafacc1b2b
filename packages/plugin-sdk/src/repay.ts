// Whether the calls that can be expected repay what a compaction costs.

/** Prices of a token, in those of one that is read without a cache. */
const READ = 0.1;
const WRITE = 1.25;
/** A model that summarises reads once what is replaced; without a model this is a margin. */
const SUMMARISE = 1;

/**
 * A compaction writes what is left anew where it would have been read from a cache, and a model
 * reads what goes; from then on every call reads less. How long a session will go on is not known:
 * the fair guess is as many calls as it has had.
 */
export function isRepaid({
  before,
  after,
  calls,
}: {
  /** Tokens of what a compaction can shrink, as it is and as it would be. */
  before: number;
  after: number;
  /** Model calls of the session so far. */
  calls: number;
}): boolean {
  const freed = Math.max(0, before - after);
  return calls * READ * freed >= (WRITE - READ) * after + SUMMARISE * freed;
}
