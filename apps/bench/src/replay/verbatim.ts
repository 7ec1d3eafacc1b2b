// Which characters of a text stand in another one, in runs of at least 120.

/** What counts as a quotation and not as a mention. */
export const VERBATIM_CHARS = 120;

const FACTOR = 31;
/** FACTOR to the power of a run's length, for taking its first character out again. */
const LEADING = Array.from({ length: VERBATIM_CHARS }).reduce<number>(
  (power) => Math.imul(power, FACTOR),
  1,
);
const SIEVE_BITS = 18;

/**
 * Tells whether the characters from `start` to `end` of `text` lie within 120 that `source` holds
 * in one piece. Linear in both texts.
 */
export function verbatimIn(text: string, source: string): (start: number, end: number) => boolean {
  const covered = startsOfRuns(text, source);
  // Runs that begin before each place.
  const before = new Uint32Array(covered.length + 1);
  for (const [at, isStart] of covered.entries()) before[at + 1] = before[at]! + isStart;
  const last = covered.length - 1;
  return (start, end) => {
    const from = Math.max(0, end - VERBATIM_CHARS);
    const to = Math.min(start, last);
    return from <= to && before[to + 1]! > before[from]!;
  };
}

/** 1 at each place of `text` from which 120 characters stand in `source`. */
function startsOfRuns(text: string, source: string): Uint8Array {
  const count = Math.max(0, text.length - VERBATIM_CHARS + 1);
  const found = new Uint8Array(count);
  if (count === 0 || source.length < VERBATIM_CHARS) return found;
  const places = new Map<number, number[]>();
  // Most of the source is like nothing in the text: one bit settles that.
  const sieve = new Uint8Array(1 << SIEVE_BITS);
  eachRun(text, (hash, at) => {
    const before = places.get(hash);
    if (before === undefined) places.set(hash, [at]);
    else before.push(at);
    sieve[hash >>> (32 - SIEVE_BITS)] = 1;
  });
  eachRun(source, (hash, at) => {
    if (sieve[hash >>> (32 - SIEVE_BITS)] === 0) return;
    const candidates = places.get(hash);
    if (candidates === undefined) return;
    const run = source.slice(at, at + VERBATIM_CHARS);
    const left = candidates.filter((place) => !text.startsWith(run, place));
    for (const place of candidates) if (!left.includes(place)) found[place] = 1;
    if (left.length === 0) places.delete(hash);
    else places.set(hash, left);
  });
  return found;
}

/** The hash of every run of 120 characters, by the one before. */
function eachRun(text: string, see: (hash: number, at: number) => void): void {
  let hash = 0;
  for (let at = 0; at < text.length; at++) {
    hash = (Math.imul(hash, FACTOR) + text.charCodeAt(at)) | 0;
    if (at >= VERBATIM_CHARS)
      hash = (hash - Math.imul(LEADING, text.charCodeAt(at - VERBATIM_CHARS))) | 0;
    // The low bits of such a hash tell little: they are mixed before they are compared.
    if (at >= VERBATIM_CHARS - 1) see(Math.imul(hash, 0x9e3779b1), at - VERBATIM_CHARS + 1);
  }
}
