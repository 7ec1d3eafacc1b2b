// Why a prompt could not be read from the cache although one before it was.

/** A prompt, as a provider keeps it to compare the next one with. */
export interface Fingerprint {
  /** What must be equal, in the order in which it is looked at: name and content. */
  fields: readonly (readonly [name: string, content: string])[];
  /** What may grow at its end. */
  pieces: readonly { content: string; tokens: number }[];
}

export interface Divergence {
  /** Name of a field, or "pieces". */
  where: string;
  /** Tokens of the prompt before that come after the divergence. */
  missedTokens: number;
}

/** Undefined: the prompt begins as the one before it. */
export function divergence(before: Fingerprint, now: Fingerprint): Divergence | undefined {
  const current = new Map(now.fields);
  const tokensFrom = (start: number) =>
    before.pieces.slice(start).reduce((sum, { tokens }) => sum + tokens, 0);
  const changed = before.fields.find(([name, content]) => current.get(name) !== content);
  if (changed !== undefined) return { where: changed[0], missedTokens: tokensFrom(0) };
  const start = before.pieces.findIndex(({ content }, at) => now.pieces[at]?.content !== content);
  return start < 0 ? undefined : { where: "pieces", missedTokens: tokensFrom(start) };
}
