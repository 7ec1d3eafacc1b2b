// Tells by numbers which three characters in a row stand in a text, whatever their case.

/** Every key is smaller. Trigrams may share one: whoever finds a key reads the text itself. */
export const KEYS = 1 << 17;

const KEY_SHIFT = 32 - 17;
/** Spreads what differs little over all keys. */
const SPREAD = 0x9e3779b1;

/**
 * Writes the key of every three UTF-16 units in a row, as often as they stand there. Gives their
 * number, which is smaller than that of the units.
 */
export function writeKeys(text: string, into: Uint32Array): number {
  if (text.length < 3) return 0;
  let first = folded(text.charCodeAt(0));
  let second = folded(text.charCodeAt(1));
  for (let at = 2; at < text.length; at++) {
    const third = folded(text.charCodeAt(at));
    into[at - 2] = Math.imul((first << 14) ^ (second << 7) ^ third, SPREAD) >>> KEY_SHIFT;
    first = second;
    second = third;
  }
  return text.length - 2;
}

/** Folded units by unit; 0 = not known yet. */
const folds = new Uint16Array(1 << 16);

const folded = (unit: number): number => folds[unit] || learnFold(unit);

/** The same for a letter in both cases and for its variants, such as s and ſ, σ and ς. */
function learnFold(unit: number): number {
  // Cases of letters beyond the first 65,536 differ in their second halves only.
  if (unit >= 0xdc00 && unit <= 0xdfff) return 0xdc00;
  const letter = String.fromCharCode(unit);
  const upper = letter.toUpperCase();
  const lower = (upper.length === 1 ? upper : letter).toLowerCase();
  const fold = lower.length === 1 ? lower.charCodeAt(0) : unit;
  folds[unit] = fold;
  return fold;
}
