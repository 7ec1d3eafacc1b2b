// Says where a character stands in its run, by one look-up, and what is counted there.
import { CLASS } from "./classes.ts";
import { FEATURE } from "./features.ts";

/** A character among those before it, as far as they bear on what is counted. */
interface Place {
  /** See CLASS. -1 = before the first character. */
  readonly kind: number;
  /** Which of its run it is, from 1. */
  readonly run: number;
  /** Of a run's first character: what stood before it. NOTHING: nothing that matters. */
  readonly behind: number;
}

const NOTHING = -1;
const START: Place = { kind: -1, run: 0, behind: NOTHING };

/**
 * Runs that are longer say nothing more. Both bounds leave the same when divided by three, for
 * digits are counted in groups.
 */
const LONGEST: Readonly<Record<number, number>> = {
  [CLASS.lower]: 9,
  [CLASS.upper]: 9,
  [CLASS.digit]: 6,
  [CLASS.space]: 17,
  [CLASS.newline]: 5,
  [CLASS.punctuation]: 5,
  [CLASS.cyrillic]: 17,
  [CLASS.indic]: 10,
};

function next(place: Place, of: number): Place {
  // Latin letters beyond ASCII belong to the word around them.
  const kind = of === CLASS.latin ? CLASS.lower : of;
  if (place.kind === kind) return { kind, run: longer(place), behind: NOTHING };
  const isBorder =
    kind === CLASS.lower
      ? // The capital before a word belongs to it ("Word", "HTMLElement").
        place.kind === CLASS.upper && place.run === 1
      : kind === CLASS.upper
        ? place.kind === CLASS.digit
        : kind === CLASS.digit && (place.kind === CLASS.upper || place.kind === CLASS.space);
  return { kind, run: 1, behind: isBorder ? place.kind : NOTHING };
}

function longer({ kind, run }: Place): number {
  const longest = LONGEST[kind] ?? 1;
  if (run < longest) return run + 1;
  return kind === CLASS.digit ? run - 2 : run;
}

/** What is counted at a place, whichever character of its class stands there. */
function countedAt({ kind, run, behind }: Place): readonly (readonly [number, number])[] {
  const one = (feature: number, isThere = true) => (isThere ? [[feature, 1] as const] : []);
  switch (kind) {
    case CLASS.lower:
      if (run === 1)
        return [
          [FEATURE.words, 1],
          ...(behind === CLASS.upper ? [[FEATURE.capitals, -1] as const] : []),
        ];
      return run > 8 ? one(FEATURE.lettersBeyond8) : one(FEATURE.wordChars5to8, run > 4);
    case CLASS.upper:
      if (run > 1) return one(FEATURE.lettersBeyond8, run > 8);
      // A digit beside a capital is the mark of random ids and base64.
      return [[FEATURE.capitals, 1], ...one(FEATURE.digitBesideCapital, behind === CLASS.digit)];
    case CLASS.digit:
      return [
        ...one(FEATURE.digitGroups, run % 3 === 1),
        ...one(FEATURE.digitBesideCapital, behind === CLASS.upper),
        // A blank belongs to the word behind it, and to no number.
        ...one(FEATURE.spacedDigits, behind === CLASS.space),
      ];
    case CLASS.space:
      return run === 2 ? one(FEATURE.spaceRuns) : one(FEATURE.moreSpaces, run > 16);
    case CLASS.newline:
      return one(FEATURE.moreNewlines, run > 4);
    case CLASS.punctuation:
      if (run === 1) return one(FEATURE.punctuation);
      return one(run > 4 ? FEATURE.punctuation5up : FEATURE.morePunctuation);
    case CLASS.cyrillic:
      return run === 1 ? one(FEATURE.cyrillicWords) : one(FEATURE.lettersBeyond8, run > 16);
    case CLASS.han:
      return one(FEATURE.han);
    case CLASS.kana:
      return one(FEATURE.kana);
    case CLASS.hangul:
      return one(FEATURE.hangul);
    case CLASS.arabic:
      return one(FEATURE.arabic);
    case CLASS.hebrew:
      return one(FEATURE.hebrew);
    case CLASS.symbol:
      return one(FEATURE.symbols);
    default:
      return kind < CLASS.letters07 ? [] : one(FEATURE.letters07 + kind - CLASS.letters07);
  }
}

const KINDS = Object.keys(CLASS).length;

/** Of a place's number: shifted by so much and with a class, it is where the next place stands. */
export const SHIFT: number = Math.ceil(Math.log2(KINDS));
/** The number of the place before the first character. */
export const FIRST_PLACE = 0;

/** All places that any text leads to. */
const PLACES: readonly Place[] = (() => {
  const places = [START];
  for (let at = 0; at < places.length; at++)
    for (let kind = 0; kind < KINDS; kind++) {
      const place = next(places[at]!, kind);
      if (numberIn(places, place) < 0) places.push(place);
    }
  return places;
})();

function numberIn(places: readonly Place[], { kind, run, behind }: Place): number {
  return places.findIndex(
    (each) => each.kind === kind && each.run === run && each.behind === behind,
  );
}

/** How many places there are. */
export const PLACE_COUNT: number = PLACES.length;

/** The number of the next place, by `(place << SHIFT) | class`. */
export const NEXT_PLACE: Uint8Array = (() => {
  const table = new Uint8Array(PLACE_COUNT << SHIFT);
  for (const [at, place] of PLACES.entries())
    for (let kind = 0; kind < KINDS; kind++)
      table[(at << SHIFT) | kind] = numberIn(PLACES, next(place, kind));
  return table;
})();

/** Which of its run a character at a place is; of longer ones the longest that matters. */
export const RUN_AT: Uint8Array = Uint8Array.from(PLACES, ({ run }) => run);

/** What is counted where: of each three a place, a feature and how much. */
const COUNTED: Int8Array = Int8Array.from(
  PLACES.flatMap((place, at) => countedAt(place).flatMap((counted) => [at, ...counted])),
);

/** Adds to `features` what is counted at places that were come to so many times. */
export function addPlaces(features: Float64Array, times: Uint32Array): void {
  for (let at = 0; at < COUNTED.length; at += 3)
    features[COUNTED[at + 1]!]! += times[COUNTED[at]!]! * COUNTED[at + 2]!;
}
