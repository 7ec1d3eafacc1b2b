// Knows in how many ways a letter is written in JSON, in addresses and in HTML.

/** Reads one letter, byte by byte, in any of its writings. */
export interface LetterReader {
  /** Where it may stand before the first byte. */
  readonly starts: readonly number[];
  /** The bytes that lead on from a place: one, or two where the case of a letter is free. */
  readonly bytes: readonly (readonly [number, number])[];
  /** The places behind that byte; `READ`: the letter is read. */
  readonly to: readonly (readonly number[])[];
}

export const READ = -1;

/** Escapes within escapes: what writes an escape may itself be written by another one. */
const MOST_WITHIN = 2;

const READERS = new Map<string, LetterReader>();
const MOST_KNOWN = 1024;

/** Any of `letters`, e.g. both cases of one. */
export function letterReader(letters: readonly string[]): LetterReader {
  const name = letters.join("");
  const known = READERS.get(name);
  if (known !== undefined) return known;
  if (READERS.size >= MOST_KNOWN) READERS.clear();
  const places = createPlaces();
  const start = oneOf(letters.map((letter) => written(letter, MOST_WITHIN)))(READ, places);
  const reader = places.reader(start);
  READERS.set(name, reader);
  return reader;
}

interface Places {
  step(byte: number, other: number, to: number): number;
  fork(to: readonly number[]): number;
  /** A fork back to what is made of it. */
  loop(make: (back: number) => number, to: number): { back: number; first: number };
  reader(start: number): LetterReader;
}

/** Places are made from the end: given where it leads, each writing tells where it begins. */
type Writing = (to: number, places: Places) => number;

function createPlaces(): Places {
  const all: ({ bytes: readonly [number, number]; to: number } | { forks: number[] })[] = [];
  const add = (place: (typeof all)[number]) => all.push(place) - 1;
  const collect = (from: number, found: Set<number>, seen: Set<number>) => {
    const place = all[from];
    if (place === undefined || "bytes" in place) return found.add(from);
    if (seen.has(from)) return found;
    seen.add(from);
    for (const to of place.forks) collect(to, found, seen);
    return found;
  };
  const known = new Map<number, readonly number[]>();
  const behind = (from: number): readonly number[] => {
    const found = known.get(from) ?? [...collect(from, new Set(), new Set())];
    known.set(from, found);
    return found;
  };
  return {
    step: (byte, other, to) => add({ bytes: [byte, other], to }),
    fork: (to) => add({ forks: [...to] }),
    loop(make, to) {
      const forks = [to];
      const back = add({ forks });
      const first = make(back);
      forks.push(first);
      return { back, first };
    },
    reader: (start) => ({
      starts: behind(start),
      bytes: all.map((place) => ("bytes" in place ? place.bytes : [-1, -1])),
      to: all.map((place) => ("to" in place ? behind(place.to) : [])),
    }),
  };
}

const oneOf =
  (writings: readonly Writing[]): Writing =>
  (to, places) =>
    places.fork(writings.map((writing) => writing(to, places)));

const inOrder =
  (...writings: readonly Writing[]): Writing =>
  (to, places) =>
    writings.reduceRight((next, writing) => writing(next, places), to);

const maybe =
  (writing: Writing): Writing =>
  (to, places) =>
    places.fork([writing(to, places), to]);

const often =
  (writing: Writing): Writing =>
  (to, places) =>
    places.loop((back) => writing(back, places), to).back;

const onceOrMore =
  (writing: Writing): Writing =>
  (to, places) =>
    places.loop((back) => writing(back, places), to).first;

/** In this case alone. */
const exactly =
  (text: string): Writing =>
  (to, places) =>
    new TextEncoder().encode(text).reduceRight((next, byte) => places.step(byte, byte, next), to);

const inAnyCase =
  (text: string): Writing =>
  (to, places) => {
    const lower = new TextEncoder().encode(text.toLowerCase());
    const upper = new TextEncoder().encode(text.toUpperCase());
    return lower.reduceRight((next, byte, at) => places.step(byte, upper[at]!, next), to);
  };

function written(letter: string, within: number): Writing {
  if (within === 0) return exactly(letter);
  const sign = (one: string) => written(one, within - 1);
  return oneOf([
    exactly(letter),
    ...inJson(letter, sign),
    inAddress(letter, sign),
    ...inHtml(letter, sign),
  ]);
}

type Sign = (letter: string) => Writing;

const hexOf = (value: number, length = 0) => inAnyCase(value.toString(16).padStart(length, "0"));
const zeros = often(exactly("0"));

/** JSON within JSON has several strokes; a stroke before a letter or a digit would mean another. */
function inJson(letter: string, sign: Sign): Writing[] {
  const strokes = onceOrMore(sign("\\"));
  const units = [...letter].flatMap((point) => point.split(""));
  const byUnits = units.map((unit) => inOrder(strokes, exactly("u"), hexOf(unit.charCodeAt(0), 4)));
  const code = letter.codePointAt(0)!;
  return [
    inOrder(...byUnits),
    inOrder(strokes, exactly("u{"), zeros, hexOf(code), exactly("}")),
    ...(code < 0x100 ? [inOrder(strokes, inAnyCase("x"), hexOf(code, 2))] : []),
    ...(/^\w$/.test(letter) ? [] : [inOrder(strokes, exactly(letter))]),
  ];
}

/** An address within an address has its "%" written, too. */
function inAddress(letter: string, sign: Sign): Writing {
  const bytes = [...new TextEncoder().encode(letter)].map((byte) =>
    inOrder(sign("%"), often(exactly("25")), hexOf(byte, 2)),
  );
  return letter === " " ? oneOf([inOrder(...bytes), exactly("+")]) : inOrder(...bytes);
}

/** HTML within HTML has its "&" written, too; the ";" may be missing behind a number. */
function inHtml(letter: string, sign: Sign): Writing[] {
  const code = letter.codePointAt(0)!;
  const and = inOrder(sign("&"), often(inOrder(exactly("amp"), sign(";"))));
  const names = (NAMES_IN_HTML[letter] ?? "").split(" ").filter(Boolean);
  const byName = names.map((name) => inOrder(exactly(name), maybe(sign(";"))));
  const number = oneOf([
    inOrder(zeros, exactly(String(code))),
    inOrder(inAnyCase("x"), zeros, hexOf(code)),
  ]);
  const byNumber = inOrder(sign("#"), number, maybe(sign(";")));
  return [inOrder(and, oneOf([...byName, byNumber]))];
}

const NAMES_IN_HTML: Readonly<Record<string, string>> = {
  ...{ "&": "amp AMP", "<": "lt LT", ">": "gt GT", '"': "quot QUOT", "'": "apos", "+": "plus" },
  ...{ "=": "equals", "/": "sol", "\\": "bsol", _: "lowbar UnderBar", ".": "period", ":": "colon" },
  ...{ ",": "comma", ";": "semi", "!": "excl", "?": "quest", "#": "num", $: "dollar" },
  ...{ "%": "percnt", "(": "lpar", ")": "rpar", "*": "ast midast", "@": "commat" },
  ...{ "[": "lsqb lbrack", "]": "rsqb rbrack", "^": "Hat", "`": "grave DiacriticalGrave" },
  ...{ "{": "lcub lbrace", "}": "rcub rbrace", "|": "verbar vert VerticalLine" },
};
