// Counts in one pass the features of a text that its token count depends on.
import type { Steps } from "../slices.ts";
import { CLASS, CLASS_OF, isFilling } from "./classes.ts";

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

const FEATURE_COUNT = 33;

/** Letters and marks. */
const LONG_INDIC_WORD = 9;
const FIRST_LETTERS = CLASS.letters07;

export interface TextScan {
  /** One count per feature, in the order of FEATURE. */
  features: Float64Array;
  /**
   * Length in UTF-8; no byte-level tokeniser makes more tokens than that. A lone surrogate counts
   * as the three bytes of U+FFFD.
   */
  bytes: number;
}

/** A text that is scanned piece by piece, and what was found so far. */
class Scan implements TextScan {
  readonly features = new Float64Array(FEATURE_COUNT);
  bytes = 0;
  #previousClass = -1;
  #previousCode = -1;
  #run = 0;
  #same = 0;

  /** From where the last piece ended to `to`, or one more; gives where it ended. */
  goOn(text: string, from: number, to: number): number {
    const { features } = this;
    let bytes = this.bytes;
    let previousClass = this.#previousClass;
    let previousCode = this.#previousCode;
    let run = this.#run;
    let same = this.#same;
    let i = from;
    for (; i < to; i++) {
      let code = text.charCodeAt(i);
      bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : 3;
      let kind = CLASS_OF[code]!;
      if ((code & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
        code = 0x10000 + ((code & 0x3ff) << 10) + (text.charCodeAt(++i) & 0x3ff);
        bytes++;
      }
      same = code === previousCode ? same + 1 : 0;
      previousCode = code;
      // Latin letters beyond ASCII belong to the word around them.
      if (kind === CLASS.latin) {
        features[isDearMark(code) ? FEATURE.marks : FEATURE.latinExtended]!++;
        kind = CLASS.lower;
      }
      const starts = kind !== previousClass;
      // A digit beside a capital is the mark of random ids and base64.
      if (
        starts &&
        kind + previousClass === CLASS.digit + CLASS.upper &&
        (kind === CLASS.digit || kind === CLASS.upper)
      ) {
        features[FEATURE.digitBesideCapital]!++;
      }
      const runBefore = run;
      run = starts ? 1 : run + 1;
      // The fourth equal character and on: tokenisers know rules and fillings ("====",
      // "────", "xxxx") as few tokens.
      if (same >= 3 && mergesWhenRepeated(code, kind)) {
        features[
          kind === CLASS.lower || kind === CLASS.upper ? FEATURE.repeatedLetters : FEATURE.rules
        ]!++;
        continue;
      }
      switch (kind) {
        case CLASS.lower:
          if (starts) {
            features[FEATURE.words]!++;
            // The capital before a word belongs to it ("Word", "HTMLElement").
            if (previousClass === CLASS.upper && runBefore === 1) features[FEATURE.capitals]!--;
          } else if (run > 8) features[FEATURE.lettersBeyond8]!++;
          else if (run > 4) features[FEATURE.wordChars5to8]!++;
          break;
        case CLASS.upper:
          if (starts) features[FEATURE.capitals]!++;
          else if (run > 8) features[FEATURE.lettersBeyond8]!++;
          break;
        case CLASS.digit:
          if (run % 3 === 1) features[FEATURE.digitGroups]!++;
          // A blank belongs to the word behind it, and to no number.
          if (starts && previousClass === CLASS.space) features[FEATURE.spacedDigits]!++;
          break;
        case CLASS.space:
          if (run === 2) features[FEATURE.spaceRuns]!++;
          else if (run > 16) features[FEATURE.moreSpaces]!++;
          break;
        case CLASS.newline:
          if (run > 4) features[FEATURE.moreNewlines]!++;
          break;
        case CLASS.punctuation:
          features[
            starts
              ? FEATURE.punctuation
              : run > 4
                ? FEATURE.punctuation5up
                : FEATURE.morePunctuation
          ]!++;
          break;
        case CLASS.han:
          features[FEATURE.han]!++;
          break;
        case CLASS.kana:
          features[FEATURE.kana]!++;
          break;
        case CLASS.hangul:
          features[FEATURE.hangul]!++;
          break;
        case CLASS.cyrillic:
          if (starts) features[FEATURE.cyrillicWords]!++;
          else if (run > 16) features[FEATURE.lettersBeyond8]!++;
          break;
        case CLASS.arabic:
          features[FEATURE.arabic]!++;
          break;
        case CLASS.indic:
          features[
            run > LONG_INDIC_WORD && joinsWords(code) ? FEATURE.letters07 : FEATURE.indic
          ]!++;
          break;
        case CLASS.hebrew:
          features[FEATURE.hebrew]!++;
          break;
        case CLASS.symbol:
          features[FEATURE.symbols]!++;
          break;
        case CLASS.other:
          features[code <= 0xffff ? FEATURE.otherBmp : astralFeature(code)]!++;
          break;
        default:
          features[FEATURE.letters07 + kind - FIRST_LETTERS]!++;
      }
      previousClass = kind;
    }
    this.bytes = bytes;
    this.#previousClass = previousClass;
    this.#previousCode = previousCode;
    this.#run = run;
    this.#same = same;
    return i;
  }
}

/** Scans `text` once; linear, whatever the text. */
export function scanText(text: string): TextScan {
  const scan = new Scan();
  scan.goOn(text, 0, text.length);
  return scan;
}

/** Characters of a piece: about a millisecond. */
const PIECE_CHARS = 256 * 1024;

/** The same in steps. */
export function* scanSteps(text: string): Steps<TextScan> {
  const scan = new Scan();
  for (let at = 0; at < text.length; ) {
    at = scan.goOn(text, at, Math.min(text.length, at + PIECE_CHARS));
    yield;
  }
  return scan;
}

/** The emoji of the first years; tokenisers know few letters, signs and pictures beside them. */
const astralFeature = (code: number) =>
  (code >= 0x1f300 && code < 0x1f540) ||
  (code >= 0x1f600 && code < 0x1f6c0) ||
  (code >= 0x1f900 && code < 0x1f980)
    ? FEATURE.astral
    : FEATURE.astralLetters;

/** A mark beside its letter, or a letter with one that hardly any alphabet has. */
const isDearMark = (code: number) =>
  (code >= 0x300 && code <= 0x36f) || (code >= 0x1e00 && code < 0x1ea0);

/** Devanagari, in which Sanskrit joins words that no tokeniser knows so, and Telugu. */
const joinsWords = (code: number) => code < 0x980 || (code >= 0xc00 && code < 0xc80);

function mergesWhenRepeated(code: number, kind: number): boolean {
  if (kind === CLASS.symbol) return isFilling(code);
  return code === 0x09 || (code > 0x20 && code < 0x7f && code !== 0x5c && kind !== CLASS.digit);
}
