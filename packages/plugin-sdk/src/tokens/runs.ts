// Where a text may be cut so that no tokeniser takes quadratic time.

/**
 * Characters without a certain token boundary before a run is cut. Cuts change counts by less
 * than 0.1 % on ordinary text.
 */
export const RUN_LIMIT = 256;
/** Characters per piece where boundaries abound: keeps the tokeniser's working memory small. */
const PIECE_LIMIT = 16_384;

/**
 * Cuts `text` into pieces to encode one by one; joined they are `text`. Within a piece no more than
 * RUN_LIMIT characters lack a boundary that every tokeniser of the GPT family keeps (a digit; an
 * ASCII letter before another ASCII character). Never inside a surrogate pair.
 */
export function* cutRuns(text: string): Generator<string> {
  let start = 0;
  let boundary = 0;
  let letterBefore = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const letter = isAsciiLetter(code);
    if (code >= 0x30 && code <= 0x39) boundary = i;
    else if (letterBefore && !letter && code < 0x80) boundary = i;
    // "it's" is one piece to a tokeniser, so an apostrophe is no place to cut
    // a text that needs no cut.
    if (boundary === i && letterBefore && code !== 0x27 && i - start >= PIECE_LIMIT) {
      yield text.slice(start, i);
      start = i;
    } else if (i - boundary >= RUN_LIMIT) {
      const cut = cutBetween(text, boundary + RUN_LIMIT / 2, i);
      yield text.slice(start, cut);
      start = cut;
      boundary = cut;
    }
    letterBefore = letter;
  }
  if (start < text.length) yield text.slice(start);
}

/** After the last line end or CJK stop in [from, to), else at `to`. */
function cutBetween(text: string, from: number, to: number): number {
  for (let i = to - 1; i >= from; i--) if (STOPS.has(text.charCodeAt(i))) return i + 1;
  const splitsPair =
    (text.charCodeAt(to - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(to) & 0xfc00) === 0xdc00;
  return splitsPair ? to - 1 : to;
}

// Line feed, CJK comma and full stop, full-width ! , : ; ?
const STOPS = new Set([0x0a, 0x3001, 0x3002, 0xff01, 0xff0c, 0xff1a, 0xff1b, 0xff1f]);

const isAsciiLetter = (code: number) =>
  (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a);
