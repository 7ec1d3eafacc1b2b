// Names what is counted of a text.

/** What is counted; the number is the position of its weight. */
export const FEATURE = {
  words: 0,
  wordChars5to8: 1,
  lettersBeyond8: 2,
  capitals: 3,
  digitGroups: 4,
  spaceRuns: 5,
  moreSpaces: 6,
  moreNewlines: 7,
  punctuation: 8,
  morePunctuation: 9,
  punctuation5up: 10,
  han: 11,
  kana: 12,
  hangul: 13,
  cyrillicWords: 14,
  arabic: 15,
  hebrew: 16,
  indic: 17,
  latinExtended: 18,
  symbols: 19,
  otherBmp: 20,
  astral: 21,
  repeatedLetters: 22,
  rules: 23,
  digitBesideCapital: 24,
  marks: 25,
  // What tokenisers know few words of, by how many tokens they make of a character.
  letters07: 26,
  letters11: 27,
  letters15: 28,
  letters22: 29,
  letters31: 30,
  astralLetters: 31,
  spacedDigits: 32,
} as const;

/** How many there are. */
export const FEATURE_COUNT: number = Object.keys(FEATURE).length;
