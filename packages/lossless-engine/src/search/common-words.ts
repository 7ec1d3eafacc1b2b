// Which words of a question tell nothing of what it asks about.

/** English only: in other languages that most messages hold a word says as much. */
const COMMON: ReadonlySet<string> = new Set(
  `a about after again all also am an and any are as at be been before being but by can could did do does doing down for from get got had has
  have having he her here hers him his how i if in into is it its just me might mine more most much my no nor not of off on once only or other
  our ours out over own please shall she should so some such than that the their theirs them then there these they this those to too under until
  up upon us very was we were what when where which while who whom whose why will with would yes you your yours ever kind sort`.split(
    /\s+/,
  ),
);

/** `word` in lower case. */
export const isCommon = (word: string): boolean => COMMON.has(word);
