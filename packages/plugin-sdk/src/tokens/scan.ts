// Counts in one pass the features of a text that its token count depends on.
import type { Steps } from "../slices.ts";
import { CLASS, CLASS_OF, isFilling } from "./classes.ts";
import { FEATURE, FEATURE_COUNT } from "./features.ts";
import { addPlaces, FIRST_PLACE, NEXT_PLACE, PLACE_COUNT, RUN_AT, SHIFT } from "./places.ts";

const NO_UNIT = 0x10000;
/** Letters and marks. */
const LONG_INDIC_WORD = 9;

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
class Scan {
  readonly #features = new Float64Array(FEATURE_COUNT);
  /** How often each place was come to. */
  readonly #times = new Uint32Array(PLACE_COUNT);
  #bytes = 0;
  #place = FIRST_PLACE;
  #previousCode = NO_UNIT;
  #same = 0;

  /** From where the last piece ended to `to`, or one more; gives where it ended. */
  goOn(text: string, from: number, to: number): number {
    const features = this.#features;
    const times = this.#times;
    let place = this.#place;
    let previousCode = this.#previousCode;
    let same = this.#same;
    let moreBytes = 0;
    let i = from;
    for (; i < to; i++) {
      const code = text.charCodeAt(i);
      const kind = CLASS_OF[code]!;
      place = NEXT_PLACE[(place << SHIFT) | kind]!;
      // One more where both are equal, else 0: branches that nobody can foretell cost most.
      same = (same + 1) & (((code ^ previousCode) - 1) >> 31);
      previousCode = code;
      // Beyond ASCII, or the fourth of a kind: most texts have little of it.
      if (((0x7f - code) | (2 - same)) < 0) {
        if (code >= 0x80) {
          moreBytes += code < 0x800 ? 1 : 2;
          if (kind === CLASS.latin)
            features[isDearMark(code) ? FEATURE.marks : FEATURE.latinExtended]!++;
          else if (kind === CLASS.indic) {
            const isLong = RUN_AT[place]! > LONG_INDIC_WORD && joinsWords(code);
            features[isLong ? FEATURE.letters07 : FEATURE.indic]!++;
          } else if (kind === CLASS.other) {
            const isPair =
              (code & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00;
            features[isPair ? astralFeature(text.codePointAt(i)!) : FEATURE.otherBmp]!++;
            // Two units and the two bytes above: four.
            if (isPair) i++;
          }
        }
        // The fourth equal character and on: tokenisers know rules and fillings ("====",
        // "────", "xxxx") as few tokens.
        if (same >= 3 && mergesWhenRepeated(code, kind)) {
          const isLetter = kind === CLASS.lower || kind === CLASS.upper;
          features[isLetter ? FEATURE.repeatedLetters : FEATURE.rules]!++;
          continue;
        }
      }
      times[place]!++;
    }
    this.#bytes += i - from + moreBytes;
    this.#place = place;
    this.#previousCode = previousCode;
    this.#same = same;
    return i;
  }

  /** What the whole text comes to. */
  end(): TextScan {
    addPlaces(this.#features, this.#times);
    return { features: this.#features, bytes: this.#bytes };
  }
}

/** Scans `text` once; linear, whatever the text. */
export function scanText(text: string): TextScan {
  const scan = new Scan();
  scan.goOn(text, 0, text.length);
  return scan.end();
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
  return scan.end();
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
