// Knows what is to be read of a secret, letter by letter, byte by byte.
import { type LetterReader, letterReader, READ } from "./letter-writings.ts";

/** Secrets of which each letter is one of several, e.g. of two cases. */
export type SecretLetters = readonly (readonly string[])[];

/** A place is a letter and where its reading stands. */
export type Place = number;

export interface SecretReader {
  /** No writing of a secret is longer, bytes. */
  readonly longest: number;
  /** Where a secret may stand whose first byte this is. */
  begins(byte: number): readonly Place[];
  /** Undefined: the byte does not lead on from there. */
  behind(place: Place, byte: number): Behind | undefined;
  /** Nothing is read yet. */
  readonly nothing: State;
  step(state: State, byte: number): Step;
}

/** All that may be read at a time. */
export interface State {
  readonly places: readonly Place[];
  /** By byte, as far as it was met. */
  readonly steps: (Step | undefined)[];
}

export interface Behind {
  places: readonly Place[];
  /** True: a secret ends with this byte. */
  ends: boolean;
}

export interface Step {
  state: State;
  /** True: a secret ends with this byte. */
  ends: boolean;
}

const PLACES_OF_LETTER = 2 ** 16;
/** Escapes within escapes make no more of a letter, bytes. */
const LONGEST_LETTER = 64;

export function secretReader(secrets: readonly SecretLetters[]): SecretReader {
  const letters = secrets.flatMap((secret) => secret.map(letterReader));
  const isLast = secrets.flatMap((secret) => secret.map((_, at) => at === secret.length - 1));
  const startsOf = (at: number, { starts }: LetterReader) =>
    starts.map((place) => at * PLACES_OF_LETTER + place);
  const begins: Place[][] = Array.from({ length: 256 }, () => []);
  const behind = (place: Place, byte: number): Behind | undefined => {
    const at = Math.floor(place / PLACES_OF_LETTER);
    const { bytes, to } = letters[at]!;
    const [one, other] = bytes[place % PLACES_OF_LETTER]!;
    if (byte !== one && byte !== other) return undefined;
    const next = to[place % PLACES_OF_LETTER]!;
    const within = next.flatMap((on) => (on === READ ? [] : [at * PLACES_OF_LETTER + on]));
    if (!next.includes(READ)) return { places: within, ends: false };
    if (isLast[at]) return { places: within, ends: true };
    return { places: [...within, ...startsOf(at + 1, letters[at + 1]!)], ends: false };
  };
  for (const [at, letter] of letters.entries()) {
    if (at > 0 && !isLast[at - 1]) continue;
    for (const place of startsOf(at, letter))
      for (const byte of new Set(letter.bytes[place % PLACES_OF_LETTER])) begins[byte]!.push(place);
  }
  return {
    longest: Math.max(...secrets.map(({ length }) => length)) * LONGEST_LETTER,
    begins: (byte) => begins[byte]!,
    behind,
    nothing: { places: [], steps: [] },
    step: createSteps((places, byte) => [...places, ...begins[byte]!], behind),
  };
}

/** Few are ever met; of more than these some are made again. */
const MOST_STATES = 1024;

/** Remembers where each byte leads, so that most bytes cost one look. */
function createSteps(
  readable: (places: readonly Place[], byte: number) => readonly Place[],
  behind: SecretReader["behind"],
): SecretReader["step"] {
  const states = new Map<string, State>();
  const stateOf = (places: readonly Place[]): State => {
    const name = places.join();
    const known = states.get(name);
    if (known !== undefined) return known;
    if (states.size >= MOST_STATES) {
      for (const { steps } of states.values()) steps.length = 0;
      states.clear();
    }
    const state = { places, steps: [] };
    states.set(name, state);
    return state;
  };
  return (from, byte) => {
    const known = from.steps[byte];
    if (known !== undefined) return known;
    const reads = readable(from.places, byte).flatMap((place) => behind(place, byte) ?? []);
    const places = [...new Set(reads.flatMap((read) => read.places))].sort((a, b) => a - b);
    const step = { state: stateOf(places), ends: reads.some(({ ends }) => ends) };
    from.steps[byte] = step;
    return step;
  };
}
